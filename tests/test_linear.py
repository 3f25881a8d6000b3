"""Layouts over F2: the laws of their algebra at random, the paper's examples, what is emitted."""

import random
import re
from itertools import combinations, product

import numpy as np
import pytest

from lego_emit import Col, GroupBy, LegoError, Linear, cute, generate, isqrt
from lego_emit.algebra import f2
from lego_emit.errors import (
    InverseError,
    LayoutError,
    TargetError,
    ToolchainError,
    TraceError,
    WidthError,
)
from lego_emit.ir.cost import OPS
from lego_emit.run import registry

# Fig. 1a and Table 1 of the paper: 2x2 registers, 4x8 threads, 2x1 warps over 16x16.
FIGURE = Linear(
    {
        "register": [(0, 1), (1, 0)],
        "lane": [(0, 2), (0, 4), (0, 8), (2, 0), (4, 0)],
        "warp": [(8, 0)],
    },
    out={"i": 16, "j": 16},
)


def drawn(rng, ins=None, outs=None, offset=False):
    """A random layout."""
    outs = outs or {f"d{k}": rng.randint(0, 3) for k in range(rng.randint(1, 3))}
    ins = ins or {f"x{k}": rng.randint(0, 3) for k in range(rng.randint(1, 3))}
    units = rng.random() < 0.5

    def image():
        values = [rng.randrange(1 << b) for b in outs.values()]
        return tuple(v & -v if units and rng.random() < 0.8 else v for v in values)

    bases = {n: [image() for _ in range(b)] for n, b in ins.items()}
    start = {n: rng.randrange(1 << b) for n, b in outs.items()} if offset else None
    return Linear(bases, {n: 1 << b for n, b in outs.items()}, start)


def invertible(rng, offset=False):
    """A random bijection of a few bits."""
    while True:
        bits = rng.randint(1, 5)
        cut, other = rng.randint(0, bits), rng.randint(0, bits)
        made = drawn(rng, {"x": cut, "y": bits - cut}, {"a": other, "b": bits - other}, offset)
        if made.is_invertible():
            return made


def points(layout):
    """All inputs."""
    return product(*map(range, layout.dims))


def identity(dims):
    """The identity on named dimensions."""
    return Linear.of(lambda *x: x, dims, dims)


# -- the paper's examples --------------------------------------------------------------------------


def test_table_1():
    for (i, j), (r, t, w) in {
        (0, 0): (0, 0, 0), (0, 1): (1, 0, 0), (0, 2): (0, 1, 0), (0, 3): (1, 1, 0),
        (1, 0): (2, 0, 0), (1, 1): (3, 0, 0), (2, 2): (0, 9, 0), (2, 3): (1, 9, 0),
        (3, 2): (2, 9, 0), (3, 3): (3, 9, 0),
    }.items():  # fmt: skip
        assert FIGURE(register=r, lane=t, warp=w) == (i, j)
        assert FIGURE.inv(i=i, j=j) == FIGURE.inv(i, j) == (r, t, w)
    assert FIGURE.contiguity("register") == 2
    assert FIGURE.is_invertible() and FIGURE.rank == 8


def test_the_example_of_the_readme():
    A = Linear(
        {"register": [(0, 1), (8, 0)], "lane": [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]},
        out={"dim0": 16, "dim1": 8},
    )
    assert A(register=1, lane=9) == A(1, 9) == A(1, lane=9) == (2, 3)
    assert A.in_dims == {"register": 4, "lane": 32}
    assert A.out_dims == {"dim0": 16, "dim1": 8}
    assert A.bases["register"] == [(0, 1), (8, 0)]
    assert eval(repr(A)) == A and hash(eval(repr(A))) == hash(A)


def test_a_slice_is_surjective_and_broadcasts():
    sliced = FIGURE.sublayout(FIGURE.in_dims, ["j"])
    assert sliced.is_surjective() and not sliced.is_injective()
    assert sliced.broadcast() == {"register": 2, "lane": 24, "warp": 1}
    assert sliced.free_variables() == {"register": 2, "lane": 24, "warp": 1}
    assert sliced.pseudoinvert()(13) == FIGURE.inv(0, 13)


def test_minimal_among_several():
    # A = <1, 2>, B = <3, 4>: the set differences of section 5.4 fail, subspaces do not
    assert f2.intersection([1, 2], [3, 4]) == [3]
    assert f2.complement([3], [1, 2]) == [1]
    twice = Linear({"x": [1, 2, 3]}, {"y": 4})
    assert twice.pseudoinvert()(3) == (3,) or twice.pseudoinvert().columns == (1, 2)


# -- laws, at random -------------------------------------------------------------------------------


@pytest.mark.slow
def test_composition():
    rng = random.Random(1)
    for _ in range(400):
        A = drawn(rng, offset=True)
        B = drawn(rng, dict(A.outs), offset=True)
        C = A.compose(B)
        for x in points(A):
            assert C(*x) == B(*A(*x))


def test_inverses():
    rng = random.Random(2)
    for _ in range(300):
        A = invertible(rng, offset=True)
        back = A.invert()
        assert back.in_dims == A.out_dims and back.out_dims == A.in_dims
        assert A.compose(back) == identity(A.in_dims)
        assert back.compose(A) == identity(A.out_dims)
        for x in points(A):
            assert A.inv(*A(*x)) == x


@pytest.mark.slow
def test_the_right_inverse_has_the_fewest_ones():
    rng, tried = random.Random(3), 0
    while tried < 400:
        A = drawn(rng, {"x": rng.randint(0, 4), "y": rng.randint(0, 4)}, {"a": 2, "b": 2}, True)
        if not A.is_surjective():
            continue
        tried += 1
        right = A.pseudoinvert()
        assert right.compose(A) == identity(A.out_dims)
        flat = A.linear.flatten_ins("x").flatten_outs("y")
        for k, column in enumerate(right.columns):
            holders = [x for x in range(flat.size) if flat(x) == (1 << k,)]
            assert column in holders
            assert column.bit_count() == min(x.bit_count() for x in holders)


def test_the_fewest_ones_of_a_large_kernel():
    rng = random.Random(17)
    for number in range(8):
        columns = [rng.randrange(1, 64) for _ in range(20 if number else 30)]
        echelon = f2.Echelon(columns)
        for r in range(6):
            found = echelon.minimal(1 << r)
            assert found is not None and f2.times(columns, found) == 1 << r
            for few in range(found.bit_count()):
                assert all(f2.times(columns, x) != 1 << r for x in _of_weight(few, len(columns)))


def _of_weight(ones, bits):
    return (sum(1 << k for k in chosen) for chosen in combinations(range(bits), ones))


@pytest.mark.slow
def test_products_and_left_division():
    rng = random.Random(4)
    for _ in range(400):
        A, B = drawn(rng, offset=True), drawn(rng, offset=True)
        P = A * B
        low, high = A.out_dims, B.out_dims
        for _ in range(8):
            a = {n: rng.randrange(size) for n, size in A.in_dims.items()}
            b = {n: rng.randrange(size) for n, size in B.in_dims.items()}
            both = {n: a.get(n, 0) + b.get(n, 0) * A.in_dims.get(n, 1) for n in P.in_dims}
            x, y = dict(zip(low, A(**a))), dict(zip(high, B(**b)))  # noqa: B905
            wanted = tuple(x.get(n, 0) + y.get(n, 0) * low.get(n, 1) for n in P.out_dims)
            assert P(**both) == wanted
        C = P.divide_left(A)
        assert A * C == P
        assert {n: s for n, s in C.in_dims.items() if s > 1} == {
            n: s for n, s in B.in_dims.items() if s > 1
        }


@pytest.mark.slow
def test_invert_and_compose():
    rng, tried = random.Random(5), 0
    while tried < 300:
        outs = {"a": 2, "b": 1}
        B = drawn(rng, {"x": rng.randint(0, 3), "y": rng.randint(1, 3)}, outs, True)
        A = drawn(rng, {"x": rng.randint(0, 3), "z": rng.randint(0, 2)}, outs, True)
        if not B.is_surjective():
            continue
        tried += 1
        C = A.invert_and_compose(B)
        assert C.in_dims == A.in_dims and C.out_dims == B.in_dims
        for x in points(A):
            assert B(*C(*x)) == A(*x)
        same = B.invert_and_compose(B)
        assert same.linear == identity(B.in_dims)  # what both have alike stays


def test_invert_and_compose_with_an_affine_layout_of_larger_outputs():
    A = Linear({"x": [(1, 0)]}, {"a": 2, "b": 2}, {"b": 1})
    B = Linear({"y": [(1, 0), (2, 0), (0, 1)]}, {"a": 4, "b": 2}, {"a": 2})
    C = A.invert_and_compose(B)
    assert [B(*C(x)) for x in range(2)] == [A(x) for x in range(2)]


@pytest.mark.slow
def test_shapes():
    rng = random.Random(6)
    for _ in range(300):
        A = drawn(rng, offset=True)
        total = sum(b for _, b in A.ins)
        cut = rng.randint(0, total)
        B = A.reshape_ins({"p": 1 << cut, "q": 1 << total - cut})
        flat = A.flatten_ins("x").flatten_outs("y")
        assert B.reshape_ins(A.in_dims) == A
        assert flat.reshape_outs(A.out_dims).reshape_ins(A.in_dims) == A
        for x in range(flat.size):
            index, rest = [], x
            for size in A.dims:
                index.append(rest % size)
                rest //= size
            value = A(*index)
            place = sum(v << k for v, k in zip(value, _starts(A.outs), strict=True))
            assert flat(x) == (place,) and B(x % (1 << cut), x >> cut) == value
        ins, outs = [*A.in_dims], [*A.out_dims]
        rng.shuffle(ins)
        rng.shuffle(outs)
        T = A.transpose_ins(ins).transpose_outs(outs)
        index = {n: rng.randrange(size) for n, size in A.in_dims.items()}
        assert dict(zip(outs, T(**index))) == dict(zip(A.out_dims, A(**index)))  # noqa: B905
        assert T.transpose_ins(A.in_dims).transpose_outs(A.out_dims) == A


def _starts(dims):
    return [sum(b for _, b in dims[:k]) for k in range(len(dims))]


def test_sublayouts_and_quotients():
    rng = random.Random(7)
    for _ in range(300):
        A = drawn(rng)
        kept = [n for n in A.in_dims if rng.random() < 0.6] or [A.coordinates[0]]
        wanted = [n for n in A.out_dims if rng.random() < 0.6] or [A.results[0]]
        S = A.sublayout(kept, wanted)
        index = {n: rng.randrange(A.in_dims[n]) for n in kept}
        whole = dict(zip(A.results, A(**{**dict.fromkeys(A.in_dims, 0), **index}), strict=True))
        assert S(**index) == tuple(whole[n] for n in wanted)
        Q = Linear.identity1D(8, "block", "block") * A
        assert Q.quotient(["block"]) == A


def test_no_text_is_made_for_an_error_that_does_not_come(monkeypatch):
    def refuse(self):
        raise AssertionError("a text was made")

    other = Linear.identity1D(2, "block", "block")
    monkeypatch.setattr(Linear, "__repr__", refuse)
    A = FIGURE.sublayout(["register", "lane"], ["j", "i"])
    A = A.transpose_ins(["lane", "register"]).transpose_outs(["j", "i"])
    A = A.resize_in("lane", 64).resize_out("j", 32).reshape_outs({"k": 512})
    assert (other * A).quotient(["block"]) == A
    assert A.compose(Linear.identity1D(512, "k", "k")) == A
    assert (other * A).divide_left(other).in_dims == {"block": 1, **A.in_dims}
    assert FIGURE.invert_and_compose(FIGURE).in_dims == FIGURE.in_dims


def test_resizing():
    A = Linear({"x": [1, 2, 4]}, {"y": 8})
    assert A.resize_in("x", 2).bases == {"x": [(1,)]}
    assert A.resize_in("x", 16).bases == {"x": [(1,), (2,), (4,), (0,)]}
    assert A.resize_out("y", 4).bases == {"x": [(1,), (2,), (0,)]}
    assert A.resize_out("y", 32).out_dims == {"y": 32}


@pytest.mark.slow
def test_rank_and_kernel():
    rng = random.Random(8)
    for _ in range(300):
        A = drawn(rng)
        zeros = [x for x in points(A) if not any(A(*x))]
        basis = A.kernel()
        assert len(zeros) == 1 << len(basis) and all(x in zeros for x in basis)
        assert A.rank + len(basis) == len(A.columns)
        images = {A(*x) for x in points(A)}
        assert len(images) == 1 << A.rank
        assert A.is_injective() == (len(images) == A.size)
        assert A.is_surjective() == (len(images) == A.physical_size)


def test_arrays_are_taken():
    rng = random.Random(9)
    for _ in range(50):
        A = drawn(rng, offset=True)
        index = np.unravel_index(np.arange(A.size), A.dims)
        got = [np.broadcast_to(v, A.size).tolist() for v in A(*index)]
        assert [*zip(*got, strict=True)] == [A(*map(int, x)) for x in zip(*index, strict=True)]


# -- construction ----------------------------------------------------------------------------------


def test_constructors():
    assert Linear.identity1D(8, "x", "y")(5) == (5,)
    assert Linear.strided1D(4, 8, "x", "y").bases == {"x": [(8,), (16,)]}
    assert Linear.zeros1D(4, "x", "y", 2).bases == {"x": [(0,), (0,)]}
    A = Linear.from_matrix([[1, 0, 1], [0, 1, 1]], {"x": 8}, {"y": 4})
    assert A.bases == {"x": [(1,), (2,), (3,)]}
    assert Linear.from_matrix(A.matrix, A.in_dims, A.out_dims) == A
    assert Linear({"x": [3, 4]}, ["y"]).out_dims == {"y": 8}


def test_a_function_that_is_linear():
    swizzle = Linear.of(lambda i, j: 64 * i + (j ^ i % 8 * 8), {"i": 64, "j": 64}, ["offset"])
    assert swizzle.is_invertible() and swizzle(3, 5) == (3 * 64 + (5 ^ 24),)
    assert Linear.of(lambda x: {"a": x & 3, "b": x >> 2 ^ 1}, {"x": 16}).offset == {
        "out0": 0,
        "out1": 1,
    }
    layout = GroupBy([8, 8]).OrderBy(Col(8, 8))
    made = Linear.of(layout)
    assert all(made(i, j) == (layout.apply(i, j),) for i in range(8) for j in range(8))


def test_a_layout_keeps_its_sizes():
    rng = random.Random(14)
    for _ in range(100):
        A = drawn(rng, offset=True)
        assert Linear.of(A) == A
    assert Linear.of(cute.layout("(2,2):(0,4)")).out_dims == {"offset": 8}


def test_slices():
    A = FIGURE
    rows, columns = A[1, ::2, :]
    assert rows.shape == columns.shape == (16, 2)
    assert (rows[5, 1], columns[5, 1]) == A(1, 10, 1) == A[1, 10, 1]


def test_a_function_that_is_not_linear():
    with pytest.raises(LayoutError) as told:
        Linear.of(lambda x: 3 * x, {"x": 8})
    assert "(x=1) gives 3, (x=2) gives 6, (x=3) gives 9" in str(told.value)
    rng = random.Random(10)
    for _ in range(50):
        table = [rng.randrange(16) for _ in range(16)]
        affine = all(
            table[0] ^ table[x] ^ table[y] ^ table[x ^ y] == 0 for x in range(16) for y in range(16)
        )
        if not affine:
            with pytest.raises(LayoutError, match="not linear over F2"):
                Linear.of(lambda x, t=table: t[x], {"x": 16})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Linear({"x": [3]}, {"y": 2}), "bit 0 of x goes to 3 in y, outside 0..1"),
        (lambda: Linear({"x": [1]}, {"y": 3}), "no power of two"),
        (lambda: Linear({"x": [(1, 2)]}, {"y": 4}), "goes to (1, 2)"),
        (lambda: Linear({}, {"y": 4}), "one for each input"),
        (lambda: Linear({"x y": [1]}, {"y": 4}), "not a name"),
        (lambda: Linear({"x": [1]}, {"y": 2}, {"z": 1}), "not an output"),
        (lambda: Linear({"x": [1]}, {"y": 2}).invert_and_compose(FIGURE), "names do not match"),
        (lambda: Linear({"x": [1, 1]}, {"y": 2}).invert(), "2 inputs go to each output"),
        (lambda: Linear({"x": [1]}, {"y": 4}).pseudoinvert(), "reaches 2 of 4 outputs"),
        (lambda: FIGURE.compose(FIGURE), "names do not match"),
        (lambda: FIGURE.divide_left(Linear({"lane": [(0, 1)]}, ["i", "j"])), "divisor's part"),
        (lambda: FIGURE.divide_left(Linear({"register": [(1, 0)]}, ["i", "j"])), "goes elsewhere"),
        (lambda: FIGURE.divide_left(Linear.identity1D(64, "lane", "j")), "more than"),
        (lambda: FIGURE.quotient(["lane"]), "no output"),
        (lambda: FIGURE.sublayout(["thread"], ["i"]), "no input"),
        (lambda: FIGURE.reshape_ins({"x": 128}), "256 are wanted"),
        (lambda: FIGURE.transpose_outs(["i"]), "names do not match"),
        (lambda: FIGURE(register=0, lane=0), "no value for warp"),
        (lambda: FIGURE(register=0, lane=32, warp=0), ": lane is 32, outside 0..31"),
        (lambda: FIGURE(0, 1.5, 0), ": lane is 1.5, a float"),
        (lambda: FIGURE.inv(i=99, j=0), ": i is 99, outside 0..15"),
        (lambda: generate(lambda x: FIGURE(9, x, 0), "cpp"), ": register is 9, never in 0..3"),
        (lambda: Linear.of(lambda x: x, {"x": 6}), "no power of two"),
        (lambda: Linear.of(lambda x: x / 2, {"x": 4}), "no integer at x=0: 0.0"),
        (lambda: Linear.of(lambda x: (x,) * (1 + x % 2), {"x": 4}, ["y"]), "2 results at x=1"),
        (lambda: Linear.of(lambda x: (x,) * (1 + x % 2), {"x": 4}), "2 results at x=1"),
        (lambda: Linear.of(lambda x, y: x, {"x": 4}), "does not take the 1 inputs"),
        (lambda: Linear.of(3, {"x": 4}), "give a function or a layout"),
        (lambda: Linear.of(lambda x: x, ["x"]), "not a dict of sizes"),
        (lambda: Linear({"x": [1]}, 5), "5 is not a list of names"),
        (lambda: Linear({"x": [1]}, {"y": 2}, 1), "give numbers by output"),
        (lambda: Linear.from_matrix([[1, 0.5]], {"x": 4}, {"y": 2}), "0.5 is neither 0 nor 1"),
        (lambda: Linear.from_matrix([1, 0], {"x": 4}, {"y": 2}), "given 2 of [1]"),
        (lambda: Linear.identity1D(4, "x y", "y"), "'x y' is not a name"),
        (lambda: Linear.zeros1D(4, "x", None), "None is not a name"),
        (lambda: FIGURE.compose(3), "3 is not a Linear"),
        (lambda: FIGURE.divide_left(None), "None is not a Linear"),
        (lambda: FIGURE.invert_and_compose(3), "3 is not a Linear"),
        (lambda: FIGURE * 3, "no such product"),
        (lambda: FIGURE.quotient(3), "3 is not a list of names"),
        (lambda: Linear.identity1D(4, "x", "x").quotient("x"), "nothing is left"),
        (lambda: FIGURE.sublayout(["lane"], []), "at least one input and one output"),
        (lambda: FIGURE.transpose_ins(None), "None is not a list of names"),
        (lambda: FIGURE.reshape_ins(256), "256 is not a dict of sizes"),
        (lambda: FIGURE.reshape_outs(["x", "y"]), "not a dict of sizes"),
    ],
)
def test_bad_input(call, said):
    with pytest.raises(LegoError) as told:
        call()
    assert said in str(told.value)


def test_no_inverse():
    with pytest.raises(InverseError, match="pseudoinvert"):
        Linear({"x": [1, 1]}, {"y": 2}).inv(0)


# -- what is emitted -------------------------------------------------------------------------------


def bound(layout):
    """One shift, mask and xor for each distance that bits are moved by."""
    total = 0
    for name in layout.results:
        distances = sum(len(moved) for moved in layout._distances(name))
        total += max(0, 3 * distances - 1) + bool(layout.offset[name] and distances)
    return total


def evaluated(function, index):
    """A function of the program at arrays of indices."""
    from lego_emit.ir.nodes import evaluated as value

    found = []
    for point in zip(*index, strict=True):
        env = dict(zip((p.name for p in function.params), map(int, point), strict=True))
        known: dict[int, int] = {}
        for name, node in function.body:
            env[name] = value(node, env, known)
        found.append(tuple(value(node, env, known) for _, node in function.outputs))
    return found


@pytest.mark.slow
def test_emission():
    rng = random.Random(11)
    for _ in range(60):
        A = drawn(rng, offset=rng.random() < 0.3)
        unit = generate(A, "cuda", name="f")
        index = np.unravel_index(np.arange(A.size), A.dims)
        apply, *inv = unit.functions
        assert [n for n, _ in apply.outputs] == [*A.results]
        assert evaluated(apply, index) == [A(*map(int, x)) for x in zip(*index, strict=True)]
        assert apply.op_count <= bound(A)
        assert len(inv) == A.is_invertible()
        if inv:
            back = A.invert()
            assert evaluated(inv[0], A(*index)) == [*zip(*map(np.ndarray.tolist, index))]  # noqa: B905
            assert inv[0].op_count <= bound(back)


@pytest.mark.slow
def test_the_paper_s_layout_in_c():
    text = generate(FIGURE, "cpp", name="f").source
    assert "f_apply(" in text and "f_inv(" in text
    assert generate(FIGURE, "cpp", name="f").verify()


def test_check_and_explain():
    assert FIGURE.check() == "256 indices: a bijection onto 0..255, inv undoes apply"
    assert "many-to-one" in Linear({"x": [(1, 0), (1, 0)]}, {"a": 2, "b": 2}).check()
    assert "added over F2" in generate(FIGURE, "cpp", name="f").explain()
    assert "matrix over F2" in generate(chosen, "cpp", ranges={"x": (0, 64)}).explain()


WEIGHTS = [9, 18, 36, 1, 2, 4]


def multiplied(x):
    r = 0
    for b, w in enumerate(WEIGHTS):
        r ^= (x >> b & 1) * w
    return r


def chosen(x):
    r = 0
    for b, w in enumerate(WEIGHTS):
        r ^= w if x >> b & 1 else 0
    return r


def by_rows(x):
    return ((x & 7) * 9) ^ (x >> 3)


@pytest.mark.parametrize("spelled", [multiplied, chosen, by_rows])
def test_every_spelling_costs_the_same(spelled):
    unit = generate(spelled, "cuda", ranges={"x": (0, 64)})
    assert unit.functions[0].op_count <= 4
    assert evaluated(unit.functions[0], [range(64)]) == [(multiplied(x),) for x in range(64)]


TABLE = [multiplied(x) for x in range(64)]


def looked_up(x):
    return TABLE[x]


def listed(x):
    r = 0
    for b, w in enumerate(WEIGHTS):
        r ^= [0, w][x >> b & 1]
    return r


def parity(x):
    rows = [sum((w >> r & 1) << b for b, w in enumerate(WEIGHTS)) for r in range(6)]
    return sum((bin(x & row).count("1") % 2) << r for r, row in enumerate(rows))


def by_text(x):
    r = 0
    for w, digit in zip(WEIGHTS, reversed(f"{x:06b}"), strict=True):
        r ^= w * int(digit)
    return r


def quietly(x):
    try:
        return TABLE[x]
    except Exception:
        return 0


def by_root(x):
    return (isqrt(x * x) == x) * by_rows(x)


@pytest.mark.parametrize("spelled", [looked_up, listed, parity, by_text, quietly, by_root])
def test_spellings_that_need_the_value(spelled):
    (function,) = generate(spelled, "cuda", ranges={"x": (0, 64)}).functions
    assert function.op_count <= 4
    assert evaluated(function, [range(64)]) == [(TABLE[x],) for x in range(64)]


def test_a_value_is_needed_that_is_not_linear():
    with pytest.raises(
        TraceError, match=r"squared \(line \d+ of test_linear\.py\).*Python needs its value"
    ):

        def squared(x):
            return [y * y for y in range(8)][x]

        generate(squared, "cuda", ranges={"x": (0, 8)})


@pytest.mark.parametrize(
    ("spelled", "size", "most"),
    [
        (lambda x: -x & 1, 2, 0),
        (lambda x: 1 if x else 0, 2, 0),
        (lambda x: 8 if x else 0, 2, 1),
        (lambda x: 9 if x else 12, 2, 2),
        (lambda x: 1 if x >= 128 else 0, 256, 1),
        (lambda x: min(x, 1) * 4, 2, 1),
    ],
)
def test_small_forms(spelled, size, most):
    (function,) = generate(spelled, "cuda", name="f", ranges={"x": (0, size)}).functions
    assert function.op_count <= most
    assert evaluated(function, [range(size)]) == [(spelled(x),) for x in range(size)]


def test_several_dense_outputs_share_the_bits_of_inputs():
    rng = random.Random(16)
    for _ in range(6):
        outs = {"a": 5, "b": 6, "c": 5}
        A = drawn(rng, {"i": 4, "j": 2}, outs)
        A = Linear(
            {n: [tuple(v | 1 for v in w) for w in ws] for n, ws in A.bases.items()}, A.out_dims
        )
        (function, *_) = generate(A, "cuda", name="f").functions
        assert (
            function.op_count <= 2 * 6 + 2 * 6 * 3
        )  # a shift, a mask; a product, a sum for each output
        assert evaluated(function, [*zip(*points(A), strict=True)]) == [A(*x) for x in points(A)]


@pytest.mark.slow
def test_sixteen_bits_in_every_spelling():
    rng = random.Random(12)
    images = [1 << k * 5 % 16 ^ (rng.random() < 0.2) for k in range(16)]

    def summed(x):
        r = 5
        for b, w in enumerate(images):
            r ^= (x >> b & 1) * w
        return r

    def branched(x):
        r = 5
        for b, w in enumerate(images):
            if x >> b & 1:
                r ^= w
        return r

    most = bound(Linear({"x": images}, {"y": 65536}, {"y": 5}))
    for spelled in (summed, branched):
        unit = generate(spelled, "cuda", ranges={"x": (0, 65536)})
        assert unit.functions[0].op_count <= most
        some = rng.sample(range(65536), 50)
        assert evaluated(unit.functions[0], [some]) == [(summed(x),) for x in some]


@pytest.mark.deep
def test_many_paths_that_are_not_linear():
    def branched(x):
        r = 0
        for b in range(12):
            if x >> b & 1:
                r = 3 * r + b
        return r

    def counted(x):
        return len([b for b in range(12) if x >> b & 1])

    (function,) = generate(branched, "cuda", ranges={"x": (0, 4096)}).functions
    some = [*range(0, 4096, 91)]
    assert evaluated(function, [some]) == [(branched(x),) for x in some]
    assert function.op_count <= 12 * 6
    with pytest.raises(TraceError, match="more than 256 paths"):
        generate(counted, "cuda", ranges={"x": (0, 4096)})


def test_two_symbols_of_few_bits():
    def index(i, j):
        return max(i, j) - min(i, j) if i == 9 else (i ^ j) + 16 * (j & 1 ^ 1)

    unit = generate(index, "cuda", ranges={"i": (0, 8), "j": (0, 16)}, cost=OPS)
    assert unit.functions[0].op_count <= 5
    for i, j in product(range(8), range(16)):
        assert evaluated(unit.functions[0], [[i], [j]]) == [(index(i, j),)]


@pytest.mark.slow
def test_random_maps_in_every_spelling():
    rng = random.Random(13)
    for number in range(40):
        bits, size = rng.randint(2, 16), rng.randint(1, 16)
        dense = rng.random() < 0.4
        images = [rng.getrandbits(size) for _ in range(bits)]
        images = images if dense else [1 << rng.randrange(size) for _ in range(bits)]

        def summed(x, images=images):
            r = 0
            for b, w in enumerate(images):
                r ^= (x >> b & 1) * w
            return r

        def masked(x, images=images):
            r = 0
            for b, w in enumerate(images):
                r ^= -(x // 2**b % 2) & w
            return r

        layout = Linear({"x": images}, {"y": 1 << size})
        spelled = (summed, masked)[number % 2]
        (function,) = generate(spelled, "cuda", ranges={"x": (0, 1 << bits)}).functions
        assert function.op_count <= bound(layout)
        some = [rng.randrange(1 << bits) for _ in range(20)]
        assert evaluated(function, [some]) == [layout(x) for x in some]


# -- in words ---------------------------------------------------------------------------------------


def test_explain_a_permutation_of_bits():
    text = Linear({"a": [2, 1, 4], "b": [8]}, {"x": 16}).explain()
    assert text.startswith("a 8, b 2 -> x 16: a bijection\n")
    assert "  a.1 -> x=1\n" in text
    assert "         a        b\n".replace(" ", "") in text.replace(" ", "")
    assert text.endswith("  (0 1)  a.0 -> x.1, a.1 -> x.0\n  (2) (3)  a.2 -> x.2, b.0 -> x.3\n")


def test_explain_what_is_no_permutation():
    made = Linear({"a": [(1, 0), (1, 0)], "b": [(0, 0)]}, {"x": 2, "y": 2}, {"y": 1})
    text = made.explain()
    assert "reaches 2 of 4 outputs, each of 4 inputs and affine" in text
    assert "offset: y=1" in text
    assert "kernel: a=3; b=1" in text
    assert "earlier bits'): a.1, b.0" in text
    assert "no difference): b.0" in text
    assert "cycles" not in text
    assert "none" in Linear({"x": []}, {"y": 1}).explain()


def test_explain_is_the_matrix_and_its_cycles():
    rng = random.Random(12)
    for _ in range(300):
        made = drawn(rng) if rng.random() < 0.5 else invertible(rng)
        text = made.explain()
        rows = text.partition("matrix")[2].partition("\n\n")[0].splitlines()[3:]
        found = [[int(c == "1") for c in row.split()[1:]] for row in rows]
        assert found == (made.matrix if made.columns else [])
        cycles = text.partition("cycles:\n")[2].splitlines()
        permutes = made.is_invertible() and all(sum(row) == 1 for row in made.matrix)
        assert bool(cycles) == (permutes and bool(made.columns))
        to = {}
        for line in cycles:
            for cycle in re.findall(r"\(([\d ]+)\)", line):
                numbers = [*map(int, cycle.split())]
                to |= dict(zip(numbers, [*numbers[1:], numbers[0]], strict=True))
        assert not cycles or [1 << to[k] for k in range(len(to))] == [*made.columns]


def shuffled_bits(bits, offset=0, seed=0):
    """A bijection of a word that joins bits."""
    rng = random.Random(seed)
    columns = [1 << k for k in range(bits)]
    for _ in range(20):
        to, by = rng.sample(range(bits), 2)
        columns[to] ^= columns[by]
    rng.shuffle(columns)
    return Linear({"x": columns}, out={"y": 1 << bits}, offset={"y": offset})


TRANSPOSED = Linear({"x": [1 << k % 8 * 8 + k // 8 for k in range(64)]}, out={"y": 2**64})
INTERLEAVED = Linear(
    {"a": [1 << 2 * k for k in range(32)], "b": [2 << 2 * k for k in range(32)]}, out={"z": 2**64}
)
WIDE = [TRANSPOSED, shuffled_bits(64, offset=2**64 - 2), INTERLEAVED, shuffled_bits(63)]


@pytest.mark.deep
@pytest.mark.parametrize(
    "target", ["c", "cpp", "rust", "julia", "javascript", "python", "fortran", "numpy"]
)
def test_words_of_64_bits(target):
    """So many words cannot be counted: single bits, ends and random ones are compared with
    Definition 4.1, and each comes back."""
    found = registry.toolchain(target)
    try:
        found.find()
    except ToolchainError as error:
        pytest.skip(str(error))
    rng = random.Random(1)
    for layout in WIDE:
        whole = 2 ** sum(bits for _, bits in layout.ins) == 2**64
        if whole and target in ("fortran", "numpy"):
            with pytest.raises(TargetError, match="no uint64"):
                generate(layout, target, index_type="uint64")
            continue
        unit = generate(layout, target, name="f", index_type="uint64" if whole else "int64")
        (run,) = found.compile([unit])
        for function, own in zip(unit.functions, (layout, layout.invert()), strict=True):
            most = [2**bits - 1 for _, bits in own.ins]
            points = [
                most,
                [0] * len(most),
                *([rng.randint(0, m) for m in most] for _ in range(200)),
            ]
            points += [[1 << bit & m for m in most] for bit in range(64)]
            index = np.array(points, np.uint64).T
            results = run[function.name](*index)
            results = results if isinstance(results, tuple) else (results,)
            got = [np.asarray(r).astype(np.int64).view(np.uint64).tolist() for r in results]
            wanted = [np.atleast_1d(own.reference_apply(tuple(p))).tolist() for p in points]
            assert [list(row) for row in zip(*got, strict=True)] == wanted


@pytest.mark.slow
def test_what_no_index_type_holds_is_refused():
    unsigned, wider = "choose index_type='uint64'", "choose a wider index_type"
    for target, index_type, way_out in [
        ("cpp", "auto", unsigned),
        ("javascript", "auto", wider),
        ("javascript", "int64", unsigned),
        ("c", "int64", unsigned),
    ]:
        with pytest.raises(WidthError, match=way_out):
            generate(TRANSPOSED, target, index_type=index_type)
    with pytest.raises(WidthError):
        generate(shuffled_bits(65), "c", index_type="uint64")
    assert [f.op_count for f in generate(TRANSPOSED, "c", index_type="uint64").functions] == [
        15
    ] * 2


def test_a_bit_in_two_places_is_a_bit():
    """3*x is no sum that carries where x is 0 or 1."""
    double = Linear({"x": [3, 12, 48, 192]}, out={"y": 256})
    function = generate(double, "c").functions[0]
    assert [*map(function.evaluate, ({"x": x} for x in (1, 6, 15)))] == [
        {"y": double.apply(x)} for x in (1, 6, 15)
    ]
    assert function.cost <= 8
