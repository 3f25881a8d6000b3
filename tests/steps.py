"""What takes long, counted in calls: the same on every machine, however busy it is."""

import sys
from contextlib import contextmanager


@contextmanager
def at_most(calls, what=""):
    """A block in which Python functions and built-in ones are called so often at most. Raises
    AssertionError at the first call beyond that."""
    left = calls

    def profile(frame, event, arg):
        nonlocal left
        left -= event in ("call", "c_call")
        if left < 0:
            sys.setprofile(before)
            raise AssertionError(f"more than {calls:,} calls: {what}")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)
