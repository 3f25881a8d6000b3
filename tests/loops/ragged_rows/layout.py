"""Ragged blocks whose ends are an array, such as the rows of a sparse matrix: (block, k) of a position."""

from lego_emit import Ragged

kernel = Ragged("ends").functions_of("ragged")["ragged_inv"]

domain = {"flat": 9}
sizes = {"blocks": 6, "ends[0]": 2, "ends[1]": 2, "ends[2]": 5, "ends[3]": 6, "ends[4]": 6}
sizes |= {"ends[5]": 9}
