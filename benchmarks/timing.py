"""Medians of several warm runs, within a time limit. Standard library only."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import Any

MOST_RUNS = 9
ENOUGH_SECONDS = 0.5


class TooLong(Exception):
    """The time limit has passed."""


def measured(
    run: Callable[[Any], Any], prepare: Callable[[], Any] = lambda: None, limit: float = 20
) -> tuple[Any, float]:
    """(result, median milliseconds) of run(prepare()): one run to warm up, then several, each
    after a prepare() that is not timed and that empties caches of whole results.

    Raises TooLong when one run takes more than limit seconds.
    """
    result, first = _timed(run, prepare, limit)
    if first > ENOUGH_SECONDS:
        return result, 1000 * first
    times: list[float] = []
    while len(times) < MOST_RUNS and (len(times) < 3 or sum(times) < ENOUGH_SECONDS):
        times.append(_timed(run, prepare, limit)[1])
    return result, 1000 * median(times)


def _timed(run: Callable[[Any], Any], prepare: Callable[[], Any], limit: float):
    context = prepare()
    with within(limit):
        start = perf_counter()
        result = run(context)
        return result, perf_counter() - start


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TooLong when the block runs longer."""

    def stop(signum, frame):
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
