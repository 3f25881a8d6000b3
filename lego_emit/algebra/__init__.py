"""Layouts as a user writes them, and their evaluation on integers and arrays: the reference."""
