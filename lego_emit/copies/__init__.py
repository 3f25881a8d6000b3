"""Copies of whole arrays from one memory layout to another: copy, pack and unpack in unit.py."""
