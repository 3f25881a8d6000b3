"""Layouts on arrays: indices that are arrays or tracers, and arrays that are moved into a layout's memory.

No library of arrays is imported here: what an array can do is asked of it, or of its own library.
"""
