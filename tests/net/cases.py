"""All random cases, as one strategy."""

from . import functions, layouts, loops
from .choose import strategy


def case(c):
    found = layouts.case(c) if c.chance(1, 2) else functions.case(c)
    # Asked last: all other cases are what they were before there were loops.
    return loops.case(c) if c.chance(1, 10) else found


cases = strategy(case)
