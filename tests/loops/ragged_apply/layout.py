"""Ragged blocks whose ends are numbers: the position of an element of a block, with places up to the longest one."""

from lego_emit import Ragged

kernel = Ragged([1, 4, 4, 9, 12, 13, 20, 22, 30, 31, 33]).functions_of("ragged")["ragged_apply"]

domain = {"block": 11, "k": 8}
