"""What a warp's instructions cost: the numbers by which plans are chosen.

In cycles of a multiprocessor that has many warps at work: 32 lanes shuffle, or 32 banks are served, in
one, and 64 lanes select (CUDA C++ Programming Guide, arithmetic instructions). What waiting and
packing and extraction cost was measured on an H100 (benchmarks/movement/convert).
"""

from ..plans.plan import MEMORY, SHUFFLES

WAYS = (SHUFFLES, MEMORY)
WAVEFRONT, SHUFFLE, SELECT, OPERATION = 1.0, 1.0, 0.5, 0.5
WAIT, WAIT_WARP = 16.0, 6.0  # at a barrier of a block; of a warp, for its own stores
PACK = 0.5  # an element of 2 bytes goes into a word and out of it; of 1 byte, three times that
EXTRACT = 2.25  # an element that a number of the thread's picks out of a word
FULLEST = 3.5  # wavefronts of a load of 32 words at random: what the fullest bank has on average


def packing(elements: int, element_bytes: int) -> float:
    """Of elements that go into words or out of them."""
    return PACK * elements * max(0, 4 // element_bytes - 1)


def waiting(block: bool) -> float:
    """At a barrier of a block, or of a warp."""
    return WAIT if block else WAIT_WARP
