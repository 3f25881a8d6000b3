"""The coordinates of a place in Morton order, of a run-time number of bits: two states."""

from typing import NamedTuple

from lego_emit import fori_loop


class Coordinates(NamedTuple):
    x: int
    y: int


def deinterleave(bits, z) -> Coordinates:
    """The coordinates of a place in Morton order."""

    def step(k, at):
        return Coordinates(at.x | (z >> 2 * k & 1) << k, at.y | (z >> 2 * k + 1 & 1) << k)

    return fori_loop(0, bits, step, Coordinates(0, 0))


assume = ["0 <= bits", "bits < 16", "0 <= z", "z < 4**bits"]
sizes = {"bits": 4}
domain = {"z": 256}
