"""The digits of an H3 index: three bits each, resolution 1 first, the last one lowest."""

from lego_emit import Packed, Row

layout = Packed(Row(15), 3, word=64, order="msb", offset=19, words="value")
