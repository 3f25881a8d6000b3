"""A tensor of any rank: the position of an index."""

from lego_emit import AnyRank

kernel = AnyRank(unrolled=2).functions_of("any_rank")["any_rank_apply"]

domain = {"index[0]": 2, "index[1]": 3, "index[2]": 4}
sizes = {"rank": 3, "shape[0]": 2, "shape[1]": 3, "shape[2]": 4}
sizes |= {"strides[0]": 1, "strides[1]": 8, "strides[2]": 2}
