"""to_cute and from_cute, Strided.of and std::mdspan's mappings: their definitions at random layouts."""

import itertools
import random

import numpy as np
import pytest

from lego_emit import (
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    Linear,
    OrderBy,
    RegP,
    Row,
    Strided,
    TileBy,
    catalogue,
    cute,
    hardware,
    symbols,
)
from lego_emit.errors import LayoutError
from lego_emit.trace.numbered import Numbered
from lego_emit.trace.same import same_map

pytestmark = pytest.mark.slow

M, N, P = symbols("M N P")


def everywhere(a, b):
    assert tuple(a.dims) == tuple(b.dims)
    for index in itertools.product(*map(range, a.dims)):
        assert a.apply(*index) == b.apply(*index)


def random_perm(draw, sizes):
    return RegP(sizes, draw.sample(range(len(sizes)), len(sizes)))


def random_block(draw):
    m, n, p, q = (draw.choice([1, 2, 3, 4, 6]) for _ in range(4))
    kind = draw.randrange(6)
    if kind == 0:
        return TileBy([m, n], [p, q]).OrderBy(random_perm(draw, [m * p, n * q]))
    if kind == 1:
        return GroupBy([m * n, p * q]).OrderBy(random_perm(draw, [m, n, p, q]))
    if kind == 2:
        return GroupBy([m * n * p]).OrderBy(random_perm(draw, [m, n, p]))
    if kind == 3:
        return OrderBy(random_perm(draw, [m, n]), random_perm(draw, [p, q]))
    if kind == 4:
        return random_perm(draw, [m, n, p]).inverse()
    return Strided((m, n), (n * p, p)) @ random_perm(draw, [m, n])


def test_to_cute():
    draw = random.Random(1)
    for _ in range(400):
        a = random_block(draw)
        found = cute.to_cute(a)
        assert isinstance(found, Strided)
        everywhere(a, found)
        assert a.to_cute() == found


def test_to_cute_of_what_is_not_strided_shows_where():
    draw = random.Random(2)
    refused = 0
    for _ in range(200):
        sizes = [draw.choice([2, 3, 4]) for _ in range(3)]
        outer = random_perm(draw, draw.sample([sizes[0] * sizes[1], sizes[2]], 2))
        a = outer @ random_perm(draw, sizes)
        try:
            everywhere(a, cute.to_cute(a))
        except LayoutError as error:
            refused += 1
            assert "it is not strided: at (" in str(error)
    assert refused > 20


@pytest.mark.parametrize(
    "a, wanted",
    [
        (GroupBy([M, N]).OrderBy(Row(M, N)), "(M,N):(N,1)"),
        (GroupBy([M, N]).OrderBy(Col(M, N)), "(M,N):(1,M)"),
        (GroupBy([M * N]).OrderBy(Col(M, N)), "((N,M)):((M,1))"),
        (GroupBy([M, N * P]).OrderBy(RegP([M, N, P], [1, 0, 2])), "(M,(P,N)):(P,(1,M*P))"),
        (TileBy([M, N], [8, 4]).OrderBy(Row(8 * M, 4 * N)), "(M,N,8,4):(32*N,4,4*N,1)"),
        (TileBy([M // 8, N // 4], [8, 4]).OrderBy(Row(M, N)), "(M // 8,N // 4,8,4):(8*N,4,N,1)"),
        (GroupBy([M]).OrderBy(Col(M // 8, 8)), "((8,M // 8)):((M // 8,1))"),
        (GroupBy([M]).OrderBy(Col(M // P, P)), "((P,M // P)):((M // P,1))"),
        (
            GroupBy([M, N]).OrderBy(RegP([M // P, P, N], [1, 0, 2])),
            "((P,M // P),N):((N*(M // P),N),1)",
        ),
        (
            GroupBy([M, N]).OrderBy(RegP([M, N // P, P], [1, 0, 2])),
            "(M,(P,N // P)):(P,(1,M*P))",
        ),
        (Row(M, N).inverse(), "M*N:1"),
        (GroupBy([M, N]).OrderBy(Strided((M, N), (P, 1))), "(M,N):(P,1)"),
        (GroupBy([2**20, 2**10]).OrderBy(Col(2**20, 2**10)), "(1048576,1024):(1,1048576)"),
        (Strided(12, 1, 5) @ Row(3, 4), "(3,4):(4,1) + 5"),
        (hardware.ldmatrix(), None),
    ],
)
def test_to_cute_of_symbols_and_many_indices(a, wanted):
    if wanted is None:
        with pytest.raises(LayoutError, match="strides give one position"):
            cute.to_cute(a)
        return
    found = cute.to_cute(a)
    assert str(found) == wanted
    assert same_map(a, found)
    if not a.is_concrete:
        numbers = {"M": 24, "N": 96, "P": 6}
        everywhere(*(b.with_sizes(Numbered(b, numbers)) for b in (a, found)))


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: cute.to_cute(ExpandBy([5], [8], GroupBy([8]))), "masks"),
        (lambda: cute.to_cute(3), "not a layout"),
        (
            lambda: cute.to_cute(cute.composition(cute.Swizzle(2, 0, 2), (4, 4))),
            "at (1, 1) 4 and 6",
        ),
        (lambda: cute.to_cute(GroupBy([M]).OrderBy(GenP([M], lambda i: M - 1 - i ^ 1))), "proven"),
        (lambda: cute.from_cute("(4,6):(8,1)"), "OrderBy takes a Strided itself"),
        (lambda: cute.from_cute("4:0"), "not a bijection"),
        (lambda: Strided.of(3), "no shape and strides"),
        (lambda: Strided.of(np.zeros((2, 0))), "at least 1"),
        (lambda: Strided.of(np.zeros(3, [("a", "i1"), ("b", "i4")])["b"]), "5 bytes"),
        (lambda: cute.layout_stride((4, 4), (1, 2)), "indices may meet"),
        (lambda: cute.layout_stride((4, 4), (0, 1)), "stride 0 is 0"),
        (lambda: cute.layout_stride((4, 4), (1,)), "2 extents and 1 strides"),
        (lambda: cute.layout_left(((4, 2), 3)), "one level"),
        (lambda: cute.layout_left_padded((4, 2), -1), "negative"),
    ],
)
def test_refused(make, says):
    with pytest.raises(LayoutError) as error:
        make()
    assert says in str(error.value)


def test_from_cute():
    draw = random.Random(3)
    for _ in range(300):
        sizes = [draw.choice([1, 2, 3, 4]) for _ in range(4)]
        strides, running = [0] * 4, 1
        for k in draw.sample(range(4), 4):
            strides[k], running = running, running * sizes[k]
        nested = draw.choice([lambda a, b, c, d: ((a, b), (c, d)), lambda a, *r: (a, (*r,))])
        a = Strided(nested(*sizes), nested(*strides))
        found = cute.from_cute(a)
        everywhere(found, a)
        assert cute.to_cute(found).has_inverse
        everywhere(cute.to_cute(found), a)
    assert str(cute.to_cute(cute.from_cute(Strided((M, N), (1, M))))) == "(M,N):(1,M)"


def test_linear_is_strided_where_it_is():
    a = Linear({"x": [(2,), (4,)], "y": [(1,)]}, out={"p": 8})
    assert str(cute.to_cute(a)) == "(4,2):(2,1)"


class Tensor:
    """As PyTorch's: strides in elements, from a method."""

    shape = (3, 4)

    def stride(self):
        return (1, 3)


def test_of_arrays():
    a = np.arange(2 * 3 * 4, dtype="int16").reshape(2, 3, 4)
    for view in (a, a.transpose(2, 0, 1), a[:, ::2], a[:, :, None], a[1, 2], a[1, 1, 1]):
        layout = Strided.of(view)
        flat = view[(0,) * view.ndim]
        for index in itertools.product(*map(range, view.shape)):
            assert view[index] - flat == layout.apply(*(index or (0,)))
    assert str(Strided.of(np.broadcast_to(a[0, 0], (5, 4)))) == "(5,4):(0,1)"
    assert str(Strided.of(a[:, ::-1])) == "(2,3,4):(12,-4,1)"
    assert str(Strided.of(Tensor())) == "(3,4):(1,3)"
    assert str(Strided.of(memoryview(a))) == "(2,3,4):(12,4,1)"


def test_mdspan():
    """Each stride as [mdspan.layout] defines it."""
    draw = random.Random(4)
    for _ in range(200):
        n = [draw.randint(1, 6) for _ in range(draw.randint(1, 4))]
        p = draw.randint(0, 5)
        left = -(-n[0] // p) * p if p else n[0]
        right = -(-n[-1] // p) * p if p else n[-1]
        rank = len(n)
        found = {
            cute.layout_left(n): [np.prod(n[:r]) for r in range(rank)],
            cute.layout_right(n): [np.prod(n[r + 1 :]) for r in range(rank)],
        }
        assert all(a.stride == tuple(map(int, d)) for a, d in found.items())
        padded = [1, *(left * np.prod(n[1:r]) for r in range(1, rank))]
        assert cute.layout_left_padded(n, p).stride == tuple(map(int, padded))
        padded = [*(np.prod(n[r + 1 : -1]) * right for r in range(rank - 1)), 1]
        assert cute.layout_right_padded(n, p).stride == tuple(map(int, padded))
    assert cute.layout_stride((4, 3), (3, 12)) == Strided((4, 3), (3, 12))
    assert str(cute.layout_right_padded((M, 8 * N), 4)) == "(M,8*N):(8*N,1)"


def test_what_is_not_strided_is_refused_without_its_table(monkeypatch):
    from lego_emit.algebra import genp_tables

    monkeypatch.setattr(genp_tables, "_table", None)
    layout = catalogue["hilbert.2D"](256, 256)
    with pytest.raises(LayoutError, match=r"not strided: at \(0, 3\) 5 and "):
        cute.to_cute(layout)
