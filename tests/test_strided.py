"""Strided and Swizzled: their values, their functions, what is emitted, what is refused."""

import itertools
import random

import numpy as np
import pytest

from lego_emit import GroupBy, cute, generate, symbols
from lego_emit.algebra.block import Block
from lego_emit.algebra.strided import Strided, Swizzle, Swizzled
from lego_emit.check.exhaustive import fixed
from lego_emit.errors import IndexRangeError, InverseError, LayoutError
from lego_emit.trace.same import same_map


def random_shape(draw, depth=2, most=4):
    if depth and draw.random() < 0.5:
        return tuple(random_shape(draw, depth - 1) for _ in range(draw.randint(1, 3)))
    return draw.randint(1, most)


def random_strides(draw, shape, least=-6, most=24):
    if isinstance(shape, tuple):
        return tuple(random_strides(draw, part, least, most) for part in shape)
    return draw.choice([0, 1, 2, 3, draw.randint(least, most)])


def leaves(tree):
    return [x for part in tree for x in leaves(part)] if isinstance(tree, tuple) else [tree]


def position(shape, stride, k):
    """The definition of a flat colexicographic index: below the size each leaf has its digit."""
    total, sizes, strides = 0, leaves(shape), leaves(stride)
    for place, (n, d) in enumerate(zip(sizes, strides, strict=True)):
        last = place == len(sizes) - 1
        total += (k if last else k % n) * d
        k //= n
    return total


def everywhere(a, unit, numbers=None):
    """The emitted functions at every index against the reference."""
    numbers = numbers or {}
    block = fixed(a, numbers) if numbers else a
    index = np.unravel_index(np.arange(block.size), block.dims)
    forward = unit.functions[0]
    for at in zip(*index, strict=True):
        values = {**numbers, **dict(zip("ijklmn", map(int, at), strict=False))}
        wanted = int(block.apply(*map(int, at)))
        given = {p.name: values[p.name] for p in forward.params}
        assert forward.evaluate(given) == {"flat": wanted}, (a, at)
        if len(unit.functions) > 1:
            back = unit.functions[1]
            given = {p.name: {**numbers, "flat": wanted}[p.name] for p in back.params}
            assert tuple(back.evaluate(given).values()) == at


@pytest.mark.slow
def test_flat_and_hierarchical_coordinates():
    draw = random.Random(1)
    for _ in range(600):
        shape = random_shape(draw)
        stride, offset = random_strides(draw, shape), draw.choice([0, 0, 5])
        a = Strided(shape, stride, offset)
        wanted = [offset + position(shape, stride, k) for k in range(a.size + 7)]
        assert [a(k) for k in range(a.size + 7)] == wanted
        assert a(np.arange(a.size + 7)).tolist() == wanted
        colex = itertools.product(*(range(n) for n in reversed(a.dims)))
        assert [a.apply(*at[::-1]) for at in colex] == wanted[: a.size]
        if a.rank > 1:
            colex = itertools.product(*(range(n) for n in reversed(a.dims)))
            assert [a(*at[::-1]) for at in colex] == wanted[: a.size]
        nested = [c[::-1] for c in itertools.product(*(range(n) for n in leaves(shape)[::-1]))]
        if isinstance(shape, tuple):
            for k, at in list(enumerate(nested))[:50]:
                assert a(put(shape, list(at))) == wanted[k]


def put(shape, flat):
    return tuple(put(part, flat) for part in shape) if isinstance(shape, tuple) else flat.pop(0)


@pytest.mark.slow
def test_inverse_exactly_where_it_is_a_compact_bijection():
    draw = random.Random(2)
    found = 0
    for _ in range(1500):
        shape = random_shape(draw, 2, 3)
        if draw.random() < 0.5:
            flat = leaves(shape)
            order = draw.sample(range(len(flat)), len(flat))
            a = cute.make_ordered_layout(shape, put(shape, order))
        else:
            a = Strided(shape, random_strides(draw, shape, 0, 9), draw.choice([0, 0, 0, 1]))
        positions = [a(k) for k in range(a.size)]
        assert a.has_inverse == (sorted(positions) == list(range(a.size))), a
        if not a.has_inverse:
            with pytest.raises(InverseError):
                a.inv(0)
            continue
        found += 1
        for at in np.ndindex(*a.dims):
            assert a.inv(a.apply(*at)) == at
        flat = np.arange(a.size)
        assert a.apply(*a.inv(flat)).tolist() == flat.tolist()
    assert found > 500


@pytest.mark.slow
def test_negative_strides_are_inverted_and_bounded():
    draw = random.Random(5)
    for _ in range(400):
        shape = random_shape(draw, 2, 3)
        flat = leaves(shape)
        strides, running = [0] * len(flat), 1
        for k in draw.sample(range(len(flat)), len(flat)):
            strides[k] = draw.choice([1, -1]) * running
            running *= flat[k] * draw.choice([1, 1, 1, 2])
        lift = sum((n - 1) * -d for n, d in zip(flat, strides, strict=True) if d < 0)
        a = Strided(shape, put(shape, strides), lift + draw.choice([0, 0, 0, 1, -1]))
        positions = [a(k) for k in range(a.size)]
        assert a.has_inverse == (sorted(positions) == list(range(a.size))), a
        assert a.is_bounded == (min(positions) >= 0), a
        assert a.physical_size == max(positions) + 1
        if a.has_inverse:
            for at in np.ndindex(*a.dims):
                assert a.inv(a.apply(*at)) == at
            if draw.random() < 0.2:
                everywhere(a, generate(a, "cpp"))


def test_negative_strides_of_symbols():
    flipped = Strided((M, N), (-N, 1), (M - 1) * N)
    assert flipped.has_inverse and flipped.is_bounded and flipped.cosize.same(M * N)
    below = Strided((M, N), (-N, 1))
    assert not below.is_bounded and not below.has_inverse
    with pytest.raises(LayoutError, match="not known to lie"):
        GroupBy([1000]) @ below
    assert not Strided((4, 6), (6, 1), P).is_bounded
    assert same_map(GroupBy([M * N]) @ flipped, flipped)
    with pytest.raises(LayoutError, match="negative strides"):
        cute.from_cute(Strided(6, -1, 5))


def test_text_and_repr_lead_back():
    draw = random.Random(3)
    for _ in range(300):
        shape = random_shape(draw)
        a = Strided(shape, random_strides(draw, shape))
        assert cute.layout(str(a)) == a
        assert eval(repr(a)) == a
        assert hash(eval(repr(a))) == hash(a)
    assert str(cute.layout("((4,8),2):((32,1),16)")) == "((4,8),2):((32,1),16)"
    assert str(Strided((8,), (1,))) == "(8):(1)"
    assert cute.layout("(_4,_8)") == Strided((4, 8), (1, 4))
    swizzled = cute.layout("S<3,4,3> o 0 o (8,64):(64,1)")
    assert str(swizzled) == "S<3,4,3> o 0 o (8,64):(64,1)"
    assert eval(repr(swizzled)) == swizzled
    assert Strided((2, 3), (1, 2)) != Strided(6, 1)
    assert Strided(((2,), 3), ((1,), 2)) != Strided((2, (3,)), (1, (2,)))


def test_sizes():
    a = cute.layout("((4,8),2):((32,1),16)")
    assert (a.shape, a.stride) == (((4, 8), 2), ((32, 1), 16))
    assert (a.size, a.cosize, a.dims, a.rank) == (64, 120, (32, 2), 2)
    M, N = symbols("M N")
    assert Strided((M, N), (N, 1)).cosize.same(M * N)


def test_slices_keep_modes():
    a = cute.layout("((4,8),2):((32,1),16)")
    assert a(None, 1) == Strided((4, 8), (32, 1), 16)
    assert a((2, None), 1) == Strided(8, 1, 80)
    assert a((2, None), None) == Strided((8, 2), (1, 16), 64)
    assert cute.slice_(((None, 3), 0), a) == Strided(4, 32, 3)


@pytest.mark.parametrize(
    "a",
    [
        Strided(((4, 8), 2), ((32, 1), 16)),
        Strided((6, 5), (8, 1)),
        Strided((6, 5), (-5, 1), 25),
        Strided((3, 4, 5), (0, 1, 4)),
        Strided(((2, 3), (4, 2)), ((1, 8), (2, 24))),
        Strided((4, (3, 2)), (6, (1, 3))),
        Strided(8, 3),
        Strided((1, 1), (7, 9)),
        Swizzled(Swizzle(3, 0, 3), Strided((8, 8), (8, 1))),
        Swizzled(Swizzle(2, 1, 3), Strided((8, 8), (8, 1), 64)),
        Swizzled(Swizzle(2, 0, -3), Strided((8, 16), (1, 8))),
        Swizzled(Swizzle(3, 3, 3), Strided((8, 12), (8, 64))),
    ],
    ids=str,
)
def test_emitted_with_numbers(a):
    unit = generate(a, "cpp")
    assert len(unit.functions) == 1 + a.has_inverse
    everywhere(a, unit)
    a.check()


M, N, P, B = symbols("M N P B")


@pytest.mark.parametrize(
    "a",
    [
        Strided((M, N), (P, 1)),
        Strided((M, N), (N + 1, 1)),
        Strided((M, N), (1, M)),
        Strided((M, N), (N, 1)),
        Strided((M, N), (0, 1)),
        Strided((M, N), (-N, 1), (M - 1) * N),
        Strided(((B, M), N), ((1, B * N), B)),
        Strided((M, 4 * N), (4 * N, 1), P),
        Strided((M, N), (-1, -M - 1), M * N + N),
        Strided((M, N), (-N, -1), M * N - 1),
        Strided(((B, M), N), ((-1, B * N), B), B - 1),
    ],
    ids=str,
)
@pytest.mark.quick(4)
def test_emitted_with_symbols(a):
    unit = generate(a, "cpp")
    used = sorted(a_symbols(a))
    for m, n, p, b in [(3, 4, 7, 2), (1, 5, 1, 3), (4, 1, 9, 1)]:
        numbers = {k: v for k, v in {"M": m, "N": n, "P": p, "B": b}.items() if k in used}
        if len(unit.functions) > 1:
            assert fixed(a, numbers).has_inverse
        everywhere(a, unit, numbers)


def a_symbols(a):
    from lego_emit.check.exhaustive import symbols_of

    return symbols_of(a)


def test_inverse_of_symbols_where_it_is_structural():
    assert Strided((M, N), (N, 1)).has_inverse
    assert Strided(((B, M), N), ((1, B * N), B)).has_inverse
    assert not Strided((M, N), (P, 1)).has_inverse
    assert Swizzled(Swizzle(3, 0, 3), Strided((M, 64), (64, 1))).has_inverse
    assert not Swizzled(Swizzle(3, 0, 3), Strided((M, 4), (4, 1))).has_inverse


def test_sympy_sizes():
    import sympy

    m, n = sympy.symbols("M N")
    a = Strided((m, n), (n, 1))
    assert a.has_inverse
    everywhere(a, generate(a, "cpp"), {"M": 3, "N": 4})
    everywhere(
        Strided((m, n), (n + 2, 1)), generate(Strided((m, n), (n + 2, 1)), "cpp"), {"M": 3, "N": 4}
    )


@pytest.mark.slow
def test_swizzle_is_cutes_definition():
    draw = random.Random(4)
    for _ in range(300):
        b, m = draw.randint(0, 3), draw.randint(0, 4)
        s = draw.choice([-1, 1]) * draw.randint(b, b + 3)
        swizzle = Swizzle(b, m, s)
        ones = (1 << b) - 1
        for x in range(0, 4096, 7):
            y = x & (ones << (m + max(s, 0)))
            wanted = x ^ (y >> s if s >= 0 else y << -s)
            assert swizzle(x) == wanted
            assert swizzle(wanted) == x
        block = Swizzled(swizzle, Strided((16, 256), (256, 1)))
        assert block.apply(3, np.arange(256)).tolist() == [swizzle(768 + j) for j in range(256)]
        positions = sorted(block.apply(*np.unravel_index(np.arange(4096), (16, 256))).tolist())
        assert block.has_inverse <= (positions == list(range(4096)))


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: Strided((4, 2), (1, (2, 3))), "mode 1 is 2 in the shape and (2,3) in the stride"),
        (lambda: Strided((4, (2, 2)), (1, (2, 4, 8))), "mode 1 is (2,2)"),
        (lambda: Strided(4, (1,)), "not congruent"),
        (lambda: Strided((4, 0), (1, 4)), "at least 1"),
        (lambda: Strided((4, 2.0), (1, 4)), "//"),
        (lambda: Strided((4, ()), (1, ())), "empty"),
        (lambda: Strided(4, 1, (1, 2)), "one number"),
        (lambda: Swizzle(3, 0, 2), "overlap"),
        (lambda: Swizzle(3, -1, 4), "M is -1"),
        (lambda: cute.layout("(4,2:(1,2)"), "not closed"),
        (lambda: cute.layout("(4,2):(1,2):3"), "SHAPE:STRIDE"),
        (lambda: cute.layout("S<3,4> o 0 o 8:1"), "not a swizzle"),
        (lambda: cute.layout(""), "empty"),
        (lambda: cute.layout("(4,x.y)"), "not a size or stride"),
    ],
)
def test_refused(make, says):
    with pytest.raises(LayoutError) as error:
        make()
    assert says in str(error.value)


def test_coordinates_refused():
    a = cute.layout("((4,8),2):((32,1),16)")
    for wrong in [(1, 2, 3), ((1, 2, 3), 0), ((1, (2, 3)), 0), (1, (0, 0)), (-1,), (1.5, 0)]:
        with pytest.raises(IndexRangeError):
            a(*wrong)
    with pytest.raises(IndexRangeError):
        a.apply(32, 0)


def test_it_is_a_block():
    a = Strided((4, 6), (6, 1))
    assert isinstance(a, Block)
    assert a[1, :].tolist() == [6, 7, 8, 9, 10, 11]
    assert "bijection" in a.check()
    assert "many-to-one" in Strided((4, 6), (0, 1)).check()
    assert "injective" in Strided((4, 6), (8, 1)).check()
