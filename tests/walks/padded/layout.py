"""A padded matrix: what is masked is -1 in a walk, too."""

from lego_emit import ExpandBy, GroupBy, Row

layout = ExpandBy([5, 7], [8, 8], GroupBy([8, 8]).OrderBy(Row(8, 8)))
walk = "logical"
