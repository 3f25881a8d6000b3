"""NCHW stored as NHWC: the channels run fastest in memory."""

from lego_emit import GroupBy, RegP

N, C, H, W = 2, 3, 4, 5

channels_last = GroupBy([N, C, H, W]).OrderBy(RegP([N, C, H, W], [0, 2, 3, 1]))
