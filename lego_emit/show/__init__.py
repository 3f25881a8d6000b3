"""Layouts as sheets of numbers and as pictures."""
