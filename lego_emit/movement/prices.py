"""What a warp's instructions cost: the numbers by which plans are chosen.

In cycles of a multiprocessor that has many warps at work: 32 lanes shuffle, or 32 banks are served, in
one, and 64 lanes select, shift or permute bytes (CUDA C++ Programming Guide, arithmetic instructions). What
waiting costs, and that memory and arithmetic overlap, was measured on an H100 (benchmarks/movement/convert).
"""

from ..plans.plan import MEMORY, SHUFFLES

WAYS = (SHUFFLES, MEMORY)
WAVEFRONT, SHUFFLE, SELECT, OPERATION = 1.0, 1.0, 0.5, 0.5
WAIT, WAIT_WARP = 4.0, 0.5  # at a barrier of a block; of a warp, for its own stores
PACK = 0.375  # an element of 1 or 2 bytes into a word, or out of it: three operations for four
EXTRACT = 1.25  # an element that a number of the thread's picks out of words
HIDDEN = 0.75  # of the shorter one of two pipes
DRAWS = 32  # of indices at random, by which a load's conflicts are judged


def packing(elements: int, element_bytes: int, together: int) -> float:
    """Of elements that go into words, or come out of them, so many of them in a vector."""
    return PACK * elements * (element_bytes < 4 and together > 1)


def overlapped(one: float, other: float) -> float:
    """Of two pipes at work."""
    return max(one, other) + (1 - HIDDEN) * min(one, other)


def waiting(block: bool) -> float:
    """At a barrier of a block, or of a warp."""
    return WAIT if block else WAIT_WARP
