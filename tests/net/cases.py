"""All random cases, as one strategy."""

from . import functions, layouts
from .choose import strategy


def case(c):
    return layouts.case(c) if c.chance(1, 2) else functions.case(c)


cases = strategy(case)
