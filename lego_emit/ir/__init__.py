"""Typed straight-line programs, the relations that a header says, and prices of operations."""
