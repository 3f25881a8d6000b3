"""Cases from bytes, and the smallest case that shows a finding, both by hypothesis."""

import random
import time
import warnings

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.database import InMemoryExampleDatabase

from .cases import cases
from .judge import judge

BYTES = 8192  # more than a case takes
DEEP = ("twice", "step", "explain", "check")  # kinds that only a deep judgement finds


def _options(**more):
    return settings(deadline=None, suppress_health_check=list(HealthCheck), **more)


_made = []


@_options(database=None)
@given(cases)
def _make(case):
    _made.append(case)


def case_of(seed, number):
    """The case of this number under this seed; None where its bytes do not suffice."""
    _made.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _make.hypothesis.fuzz_one_input(_bytes(seed, number))
    return _made[-1] if _made else None


def _bytes(seed, number):
    return random.Random(f"{seed}:{number}").randbytes(BYTES)


class Shown(Exception):
    """The case shows the finding."""


def smallest(seed, number, key, seconds, better):
    """Calls better(case, finding) with ever smaller cases that show a finding like the one of a
    case."""
    begun, size = time.monotonic(), None
    deep = key.split()[0] in DEEP

    @_options(database=InMemoryExampleDatabase(), phases=[Phase.reuse, Phase.shrink])
    @given(cases)
    def again(case):
        nonlocal size
        if time.monotonic() - begun > seconds:
            return
        found = [f for f in judge(case, deep=deep).findings if f.key == key]
        if not found:
            return
        length = len(case.toml())
        if size is None or length < size:
            size = length
            better(case, found[0])
        raise Shown

    try:
        again.hypothesis.fuzz_one_input(_bytes(seed, number))
    except Shown:
        pass
    else:
        return
    try:
        again()
    except BaseException:  # what hypothesis tells of it is not needed
        pass
