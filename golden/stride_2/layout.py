"""Section III-D: an injective map, i to 2i, which has no inverse."""

from lego_emit import GenP, GroupBy


def every_second(i):
    return 2 * i


layout = GroupBy([10]).OrderBy(GenP([10], every_second))
