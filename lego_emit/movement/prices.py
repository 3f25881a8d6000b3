"""What a warp's instructions cost: the numbers by which plans are chosen.

In cycles of a multiprocessor that has many warps at work: 32 lanes shuffle, or 32 banks are served, in
one, and 64 lanes select (CUDA C++ Programming Guide, arithmetic instructions).
"""

from .plan import MEMORY, SHUFFLES

WAYS = (SHUFFLES, MEMORY)
WAVEFRONT, SHUFFLE, SELECT = 1.0, 1.0, 0.5
WAIT = 16.0  # a warp waits at a barrier, for its own stores at least
FULLEST = 3.5  # wavefronts of a load of 32 words at random: what the fullest bank has on average
