"""A tensor of any rank: the index of the element with a row-major number."""

from lego_emit import AnyRank

kernel = AnyRank(unrolled=2).functions_of("any_rank")["any_rank_inv"]

domain = {"flat": 48}
sizes = {"rank": 5, "shape[0]": 2, "shape[1]": 3, "shape[2]": 1, "shape[3]": 4, "shape[4]": 2}
