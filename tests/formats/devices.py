"""Formats of devices, curves and distributions: name -> (sizes, the offset of an index)."""

DEFINITIONS = {}
