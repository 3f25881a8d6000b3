"""A tensor of any rank: the position of the element with a row-major number."""

from lego_emit import AnyRank

kernel = AnyRank(unrolled=2).functions_of("any_rank")["any_rank_at"]

domain = {"flat": 24}
sizes = {"rank": 3, "shape[0]": 2, "shape[1]": 3, "shape[2]": 4}
sizes |= {"strides[0]": 1, "strides[1]": 8, "strides[2]": 2}
