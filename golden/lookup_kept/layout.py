"""A table whose formula is known, and that stays a table."""

from lego_emit import Lookup

layout = Lookup([4, 6], [i + 4 * j for i in range(4) for j in range(6)], as_table=True)
