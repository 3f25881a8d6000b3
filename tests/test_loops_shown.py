"""fori_loop shown on index functions that are in use: Hilbert, Morton, HEALPix NESTED and PMTiles.

Each is written from its description, for a run-time order, and each is a plain function that runs on integers.
"""

import re
from itertools import pairwise, product
from typing import Any, NamedTuple

import pytest
from marks import rest_deep

from lego_emit import Lookup, fori_loop, generate

LANGUAGES = ("c", "rust", "fortran", "julia", "javascript")
LOOP = re.compile(r"\b(for|while) \(")


# -- Hilbert in two dimensions: each quadrant has a smaller curve, turned so that the ends meet ----


def hilbert(n, x, y):
    def step(k, state):
        x, y, place = state
        half = 1 << n - 1 - k
        right, up = x >= half, y >= half
        x, y = x % half, y % half
        if up:
            return x, y, place * 4 + 1 + right
        if right:
            return half - 1 - y, half - 1 - x, place * 4 + 3
        return y, x, place * 4

    return fori_loop(0, n, step, (x, y, 0))[2]


def hilbert_inv(n, place):
    def step(k, state):
        x, y = state
        half, quadrant = 1 << k, place >> 2 * k & 3
        if quadrant == 0:
            return y, x
        if quadrant == 1:
            return x, y + half
        if quadrant == 2:
            return x + half, y + half
        return 2 * half - 1 - y, half - 1 - x

    return fori_loop(0, n, step, (0, 0))


# -- Hilbert in three dimensions: the eight corners in the order of the Gray code, from a corner along an axis

ENTRY = Lookup([8], [0, 0, 0, 3, 3, 6, 6, 5], many=True)  # the corner where each eighth is entered
ALONG = Lookup([8], [0, 1, 1, 2, 2, 1, 1, 0], many=True)  # the axis along which it is crossed


class Walk(NamedTuple):
    place: int
    entry: int
    axis: int


def rotated(corner, by):
    return (corner << by | corner >> 3 - by) & 7


def turned(s, eighth):
    """Where an eighth is entered, and the axis along which it is crossed."""
    return s.entry ^ rotated(ENTRY[eighth], s.axis + 1), (s.axis + ALONG[eighth] + 1) % 3


def within_cube(k, s):
    return [s.entry >= 0, s.entry < 8, s.axis >= 0, s.axis < 3]


def hilbert3(n, x, y, z):
    def step(k, s):
        bit = n - 1 - k
        corner = x >> bit & 1 | (y >> bit & 1) << 1 | (z >> bit & 1) << 2
        gray = rotated(corner ^ s.entry, 2 - s.axis)
        eighth = gray ^ gray >> 1 ^ gray >> 2
        return Walk(s.place * 8 + eighth, *turned(s, eighth))

    return fori_loop(0, n, step, Walk(0, 0, 0), invariant=within_cube).place


class Place(NamedTuple):
    x: int
    y: int
    z: int
    entry: int
    axis: int


def hilbert3_inv(n, place):
    def step(k, s):
        bit = n - 1 - k
        eighth = place >> 3 * bit & 7
        corner = rotated(eighth ^ eighth >> 1, s.axis + 1) ^ s.entry
        point = (c | (corner >> i & 1) << bit for i, c in enumerate(s[:3]))
        return Place(*point, *turned(s, eighth))

    return fori_loop(0, n, step, Place(0, 0, 0, 0, 0), invariant=within_cube)[:3]


# -- Morton: bit k of coordinate i is bit count * k + i --------------------------------------------


def interleaved(n, *parts):
    def step(k, code):
        for i, part in enumerate(parts):
            code |= (part >> k & 1) << len(parts) * k + i
        return code

    return fori_loop(0, n, step, 0)


def apart(n, code, count):
    def step(k, parts):
        return tuple(part | (code >> count * k + i & 1) << k for i, part in enumerate(parts))

    return fori_loop(0, n, step, (0,) * count)


def morton(n, x, y):
    return interleaved(n, x, y)


def morton_inv(n, code):
    return apart(n, code, 2)


def morton3(n, x, y, z):
    return interleaved(n, x, y, z)


def morton3_inv(n, code):
    return apart(n, code, 3)


def unequal(a, b, x, y):
    """Of 2^a by 2^b: below bit k of x are k bits of x and at most b of y; below that of y, k and k + 1."""
    code = fori_loop(0, a, lambda k, code: code | (x >> k & 1) << k + min(k, b), 0)
    return fori_loop(0, b, lambda k, code: code | (y >> k & 1) << k + min(k + 1, a), code)


def unequal_inv(a, b, code):
    return (
        fori_loop(0, a, lambda k, x: x | (code >> k + min(k, b) & 1) << k, 0),
        fori_loop(0, b, lambda k, y: y | (code >> k + min(k + 1, a) & 1) << k, 0),
    )


# -- HEALPix NESTED: twelve faces of nside by nside pixels, nside = 2^order, each in Morton order --


def healpix(order, face, x, y):
    return face * 4**order + interleaved(order, x, y)


def healpix_inv(order, pixel):
    return (pixel >> 2 * order, *apart(order, pixel, 2))


# -- PMTiles: the tiles of all lower zooms, then those of this one along its Hilbert curve ---------


def below(z):
    return (4**z - 1) // 3


def tile_id(z, x, y):
    return below(z) + hilbert(z, x, y)


def tile_id_inv(tile):
    """A leading quadrant 0 only swaps x and y: that of order 16 is that of order z, swapped 16 - z times."""
    z = fori_loop(0, 15, lambda k, z: z + 1, 0, while_=lambda k, z: below(z + 1) <= tile)
    x, y = hilbert_inv(16, tile - below(z))
    return (z, y, x) if z % 2 else (z, x, y)


# -- the cases -------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A function, its inverse, the greatest order, the ends of what they take, and how many loops each has."""

    there: Any
    back: Any
    most: dict[str, int]
    ranges: dict[str, str]
    loops: tuple[int, int]


SQUARE, CUBE = {c: "2**n" for c in "xy"}, {c: "2**n" for c in "xyz"}
FACES = {"face": "12", "x": "2**order", "y": "2**order"}
SIDES = {"x": "2**a", "y": "2**b"}
CASES = [
    Case(hilbert, hilbert_inv, {"n": 15}, SQUARE | {"place": "4**n"}, (1, 1)),
    Case(hilbert3, hilbert3_inv, {"n": 10}, CUBE | {"place": "8**n"}, (1, 1)),
    Case(morton, morton_inv, {"n": 15}, SQUARE | {"code": "4**n"}, (1, 1)),
    Case(morton3, morton3_inv, {"n": 10}, CUBE | {"code": "8**n"}, (1, 1)),
    Case(unequal, unequal_inv, {"a": 15, "b": 15}, SIDES | {"code": "2**(a + b)"}, (2, 2)),
    Case(healpix, healpix_inv, {"order": 13}, FACES | {"pixel": "12*4**order"}, (1, 1)),
]  # fmt: skip
NAMES = [case.there.__name__ for case in CASES]


def emitted(case, language):
    assume = [c for name, most in case.most.items() for c in (f"{name} >= 0", f"{name} <= {most}")]
    ranges = {name: (0, end) for name, end in case.ranges.items()}
    return generate([case.there, case.back], language, assume=assume, ranges=ranges)


def tiles(language, zooms=16):
    ranges = {c: (0, "2**z") for c in "xy"} | {"tile": (0, below(zooms))}
    assume = ["0 <= z", f"z < {zooms}"]
    return generate([tile_id, tile_id_inv], language, assume=assume, ranges=ranges)


# -- on integers -----------------------------------------------------------------------------------


def points(case, order):
    """All that the function takes at an order."""
    known, (*ends, _) = dict(zip(case.most, order, strict=True)), case.ranges.values()
    return [*product(*(range(eval(end, known)) for end in ends))]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_bijections(case):
    for order in product(range(4), repeat=len(case.most)):
        found = {case.there(*order, *point): point for point in points(case, order)}
        assert sorted(found) == [*range(len(points(case, order)))]
        assert all(case.back(*order, code) == point for code, point in found.items())


@pytest.mark.parametrize("inverse, count", [(hilbert_inv, 4), (hilbert3_inv, 8)])
def test_neighbors_on_the_curve_differ_by_one_step(inverse, count):
    for n in (1, 2, 3):
        for one, other in pairwise(inverse(n, place) for place in range(count**n)):
            assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) == 1


def test_known_values():
    assert [unequal(1, 3, 0, y) for y in range(8)] == [0, 2, 4, 6, 8, 10, 12, 14]
    assert [unequal(3, 1, x, 0) for x in range(8)] == [0, 1, 4, 5, 8, 9, 12, 13]
    assert healpix_inv(1, 47) == (11, 1, 1)
    assert [tile_id_inv(tile)[1:] for tile in range(1, 5)] == [(0, 0), (0, 1), (1, 1), (1, 0)]
    assert tile_id(12, 3423, 1763) == 19078479


def test_tile_ids_are_a_bijection():
    found = [tile_id_inv(tile) for tile in range(below(5))]
    assert found == sorted(found, key=lambda t: t[0])
    assert set(found) == {(z, x, y) for z in range(5) for x, y in product(range(2**z), repeat=2)}
    assert all(tile_id(*t) == tile for tile, t in enumerate(found))


# -- emitted ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_verified_over_all_arguments(case, language, toolchain_of):
    toolchain_of(language)
    unit = emitted(case, language)
    for order in [(0,), (3,)] if len(case.most) == 1 else [(0, 2), (3, 1)]:
        assert unit.verify(sizes=dict(zip(case.most, order, strict=True)), claim="injective")


@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_tile_ids_are_verified(language, toolchain_of):
    toolchain_of(language)
    unit = tiles(language, 4)
    for z in (0, 3):
        assert unit.verify(sizes={"z": z}, claim="injective")


# -- the text --------------------------------------------------------------------------------------


def bodies(unit):
    """The C functions, by name."""
    functions = re.finditer(r"^static inline \w+ (\w+)\((?s:.*?)^\}", unit.source, re.MULTILINE)
    return {m[1]: m[0] for m in functions}


@pytest.mark.slow
@pytest.mark.parametrize("unit, loops", [
    *((lambda case=case: emitted(case, "c"), case.loops) for case in CASES),
    (lambda: tiles("c"), (1, 2)),
], ids=[*NAMES, "tile_id"])  # fmt: skip
def test_the_text_is_short_and_the_type_narrow(unit, loops):
    unit = unit()
    found = bodies(unit)
    for function, count in zip(unit.functions, loops, strict=True):
        assert len(LOOP.findall(found[function.name])) == count
        assert function.index_type == "int32"
    assert len(LOOP.findall(unit.source)) == sum(loops)
    assert max(text.count("\n") + 1 for text in found.values()) <= 40
