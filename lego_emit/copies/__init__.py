"""Copies of whole arrays from one memory layout to another: copy, pack and unpack."""

from .unit import Copy, copy, pack, unpack

__all__ = ["Copy", "copy", "pack", "unpack"]
