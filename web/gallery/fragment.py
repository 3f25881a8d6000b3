"""A tensor core's fragment: which lane and register hold an element."""

from lego_emit import hardware

accumulator = hardware.mma("c")
