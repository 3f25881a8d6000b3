"""Slices in templates: blocks of positions, masks, and what is proven of alignment and contiguity."""

import itertools
import random

import numpy as np
import pytest
from marks import rest_slow

from lego_emit import (
    Col,
    ExpandBy,
    GroupBy,
    OrderBy,
    RegP,
    Row,
    Strided,
    TileBy,
    catalogue,
    hardware,
    render,
    symbols,
)
from lego_emit.errors import LegoError, TemplateError

M, N, K, BM, BK, BLOCK = symbols("M N K BM BK BLOCK")
A = TileBy([M // BM, K // BK], [BM, BK]).OrderBy(Row(M, K))
T = TileBy([M // BM, K // BK], [BM, BK]).OrderBy(Col(M, K))
S = GroupBy([16, 64])
X = Row(M, N)
EDGE = ExpandBy([M, N], [M, BLOCK], GroupBy([M, BLOCK]))
GIVEN = {"A": A, "T": T, "S": S, "X": X, "EDGE": EDGE, "BLOCK": BLOCK}


def line(text, target="triton", **given):
    text = "{% names p, k, i, row %}" + text
    return str(render(text, target, **{"index_type": "auto", **GIVEN, **given}))


# -- the text ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            '{{ A["p, k, :, :"] }};',
            "K * (BM * p + tl.arange(0, BM)[:, None]) + BK * k + tl.arange(0, BK)[None, :];",
        ),
        ('{{ S[i, ":"] }};', "64 * i + tl.arange(0, 64);"),
        ('{{ S.at("i, :") }};', "64 * i + tl.arange(0, 64);"),
        ('{{ S["i, :8"] }};', "64 * i + tl.arange(0, 8);"),
        ('{{ S[":, 3"] }};', "64 * tl.arange(0, 16) + 3;"),
        ('{{ S[":", i + 1] }};', "64 * tl.arange(0, 16) + i + 1;"),
        ('{{ X["row, :BLOCK"] }};', "N * row + tl.arange(0, BLOCK);"),
        ('{{ EDGE.mask("row, :") }};', "tl.arange(0, BLOCK) < N;"),
        ('{{ S.in_bounds(":, 70") }};', "False;"),
        ('{% index x = A["p, k, :, :"] %}', "x = K * (BM * p + tl.arange(0, BM)[:, None]) + "
         "BK * k + tl.arange(0, BK)[None, :]\n"),
        ('{{ A["p, k, :, :"].step(k=1) }};', "BK;"),
        ('{{ T["p, k, :, :"].step(k=1) }};', "BK * M;"),
    ],
)  # fmt: skip
@pytest.mark.quick(4)
def test_blocks(text, wanted):
    assert line("x = " * (not text.startswith("{%")) + text, index_type="int32") == (
        "x = " * (not text.startswith("{%")) + wanted
    )


def test_masks_say_only_what_is_not_known():
    text = '{{ X.in_bounds("row, :BLOCK") }}'
    whole = "(row >= 0) & (row < M) & (tl.arange(0, BLOCK) < N)"
    assert line(f"({text})") == f"({whole})"
    assert line('{% assume "0 <= row < M" %}' + f"({text})") == "(tl.arange(0, BLOCK) < N)"


def test_a_mask_leaves_nothing_of_the_points_at_which_it_was_compared():
    text = '{% names row, BLOCK %}{% assume "0 <= row < M", "N % 16 == 0" %}'
    text += "places = " + '{{ X["row, :BLOCK"] }}\n'
    plain = render(text, "triton", X=X, index_type="int32")
    masked = render(
        text + 'inside = {{ X.in_bounds("row, :BLOCK") }}', "triton", X=X, index_type="int32"
    )
    assert masked.assumptions == plain.assumptions == ("N % 16 == 0", "M*N <= 2**31 - 1")


def test_wide_positions_are_cast():
    assert line('({{ A["p, k, :, :"] }})').startswith("(K * (tl.cast(BM, tl.int64) * p + tl.arange")
    found = render('{% names p, k %}{{ A["p, k, :, :"] }}', "triton", A=A, index_type="auto")
    assert set(found.assumptions) == {"M % BM == 0", "K % BK == 0", "K*M <= 2**63 - 1"}


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        ('{{ S["i, :"] }}', "cuda", "CUDA C computes with one index at a time: write a loop"),
        ('{{ S["i, :"] }}', "python", "Python computes with one index at a time"),
        ('{{ S["i, 1:4"] }}', "triton", "the slice '1:4': write ':' for all of an axis, or ':8'"),
        ('{{ S["i, ::2"] }}', "triton", "the slice '::2'"),
        ('{{ S["i, :, :"] }}', "triton", "S takes 2 indices, 3 given"),
        ('{{ S.in_bounds(":") }}', "triton", r"S\.in_bounds takes 2 indices, 1 given"),
        ('{{ S["i, :12"] }}', "triton", "has 12 elements, and Triton's blocks a power of two"),
        ('{{ S.contiguity("i, 1") }}', "triton", "is of a slice"),
    ],
)
def test_what_is_wrong(text, target, said):
    with pytest.raises(TemplateError, match=said):
        line(text, target)


# -- values --------------------------------------------------------------------------------------

SWIZZLED = GroupBy([8, 8]).OrderBy(RegP([2, 4, 8], [1, 0, 2]))
CONCRETE = [
    GroupBy([4, 8]).OrderBy(Col(4, 8)),
    TileBy([2, 4], [4, 2]).OrderBy(Row(8, 8)),
    TileBy([2, 4], [4, 2]).OrderBy(Col(8, 8)),
    Strided((8, 4, 2), (32, 4, 1)),
    Strided((8, 16), (20, 1)),
    SWIZZLED,
    catalogue["morton.2D"](8, 8),
    OrderBy(Row(16, 8)).TileBy((4, 2), (4, 4)),
]


def slices_of(layout):
    """(text, indices for NumPy, the free axes) of every choice of ':' among the axes."""
    rng = random.Random(7)
    for taken in itertools.product((False, True), repeat=len(layout.dims)):
        if any(taken):
            numbers = [rng.randrange(n) for n in layout.dims]
            text = ", ".join(":" if t else str(n) for t, n in zip(taken, numbers, strict=True))
            key = tuple(slice(None) if t else n for t, n in zip(taken, numbers, strict=True))
            yield text, key


@pytest.mark.slow
def test_numpy_s_positions_are_the_layout_s():
    compared = 0
    for layout in CONCRETE:
        for text, key in slices_of(layout):
            found = eval(render("{{ L[part] }}", "numpy", L=layout, part=text), {"np": np})
            assert np.array_equal(found, layout[key]), (layout, text)
            compared += found.size
    assert compared > 1000


@pytest.mark.slow
def test_triton_s_positions_are_the_layout_s(tmp_path, triton):
    from lego_emit.targets.triton import Interpreter

    lines = ["import triton", "import triton.language as tl", ""]
    wanted = []
    for layout in CONCRETE:
        for text, key in slices_of(layout):
            name = f"kernel_{len(wanted)}"
            at = render("{{ L[part] }}", "triton", L=layout, part=text)
            lines += ["", "@triton.jit", f"def {name}(out):", f"    x = {at}"]
            lines += ["    place = tl.reshape(tl.arange(0, x.numel), x.shape)"]
            lines += ["    tl.store(out + place, x)", ""]
            wanted.append(layout[key])
    (tmp_path / "kernels.py").write_text("\n".join(lines))
    interpreter = Interpreter()
    interpreter.load(tmp_path / "kernels.py")
    for k, positions in enumerate(wanted):
        out = np.full(positions.shape, -9, np.int32)
        (found,) = interpreter.launch(0, f"kernel_{k}", 1, [out], [])
        assert np.array_equal(found, positions)


def test_vectors_of_the_kernel():
    """A vector's numbers along an axis of their own, as if ':' stood there."""
    text = "{% names row %}" + '{{ A["row[:], k, 3, :"] }}'
    assert (
        line(text, index_type="int32")
        == "(K * (BM * row[:, None] + 3) + BK * k + tl.arange(0, BK)[None, :])"
    )
    assert line('{% names at %}{{ S["i, at[:]"] }}') == "(64 * i + at)"
    hints = '{{ S.contiguity("at[:], :") }} {{ S.alignment("at[:], :") }}'
    assert line("{% names at %}" + hints) == "(1, 64) (1, 64)"
    with pytest.raises(LegoError, match=r"the slice rows\[:\]: rows is not a declared name"):
        line('{% names row %}{{ S["rows[:], :"] }}')
    for indices in ("at[:], to[:]", ":, to[:]", "at[:], :5"):
        text = f"{{% names at, to %}}x = {{{{ S['{indices}'] }}}}"
        at, to = np.array([3, 3, 15, 0]), np.array([63, 2, 7])
        scope = {"np": np, "at": at, "to": to}
        exec(line(text, "numpy"), scope)
        axes = [at if "at" in indices else np.arange(16), to if "to" in indices else np.arange(5)]
        assert np.array_equal(scope["x"], S[np.ix_(*axes)]), indices
    with pytest.raises(LegoError, match="one index at a time"):
        line('{% names at %}{{ S["at[:], 0"] }}', "cuda")


# -- alignment and contiguity --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    rest_slow(
        [
            ("{{ S.alignment(i, 4) }} {{ S.alignment(i, 3) }} {{ S.alignment(i, i) }}", "4 1 1"),
            ("{{ S.alignment(i, 4 * k) }}", "4"),
            ("{{ S.alignment(0, 0) }}", "1048576"),
            ('{{ S.alignment("i, :") }} {{ S.contiguity("i, :") }}', "64 64"),
            ('{{ S.alignment(":, :") }} {{ S.contiguity(":, :") }}', "(1, 64) (1, 64)"),
            ('{{ A.alignment("p, k, :, :") }} {{ A.contiguity("p, k, :, :") }}', "(1, 1) (1, BK)"),
            ('{{ T.contiguity("p, k, :, :") }}', "(BM, 1)"),
            pytest.param(
                '{% assume "K % 16 == 0", "BK % 32 == 0" %}{{ A.alignment("p, k, :, :") }}',
                "(1, 16)",
                marks=pytest.mark.slow,
            ),
            ('{% assume "N % 8 == 0" %}{{ X.alignment("row, :BLOCK") }}', "8"),
        ],
        2,
    ),
)
def test_hints(text, wanted):
    for target in ("cuda", "triton"):
        assert line(text, target) == wanted


@pytest.mark.slow
def test_hints_hold_and_are_the_greatest_of_concrete_layouts():
    """By all positions of every slice of rows and columns of small layouts."""
    for layout in CONCRETE:
        for text, key in slices_of(layout):
            positions = layout[key]
            runs = contiguity(positions)
            both = "{{ L.contiguity(part) }} {{ L.alignment(part) }}"
            found = render(both, "triton", L=layout, part=text)
            wanted = f"{shown(runs)} {shown(alignment(positions, runs))}"
            assert found == wanted, (layout, text)


def contiguity(positions):
    """For each axis the longest power of two whose blocks count upwards."""
    found = []
    for axis, n in enumerate(positions.shape):
        along, length = np.moveaxis(positions, axis, -1), 1
        while n % (2 * length) == 0:
            blocks = along.reshape(*along.shape[:-1], -1, 2 * length)
            if not np.array_equal(
                blocks - blocks[..., :1], np.broadcast_to(np.arange(2 * length), blocks.shape)
            ):
                break
            length *= 2
        found.append(length)
    return found


def alignment(positions, runs):
    """For each axis the greatest power of two that divides where the runs begin."""
    found = []
    for axis, run in enumerate(runs):
        starts = np.moveaxis(positions, axis, -1)[..., ::run]
        divisor = int(np.gcd.reduce(starts, axis=None))
        found.append(min(divisor & -divisor or 2**20, 2**20))
    return found


def shown(numbers):
    return f"({', '.join(map(str, numbers))})" if len(numbers) > 1 else str(numbers[0])


@pytest.mark.parametrize(
    ("text", "wanted", "assumed"),
    [
        ('{% assume "N % 16 == 0" %}{{ N.alignment() }}', "16", ["N % 16 == 0"]),
        (
            '{% names a %}{% assume "a % 32 == 0" %}{{ (a + 8 * i).alignment() }}',
            "8",
            ["a % 32 == 0"],
        ),
        ('{% names a %}{% assume "a % 32 == 0" %}{{ (a + k).alignment() }}', "1", []),
        (
            "{% names a %}{{ a.alignment() }} {{ S.dims[0].alignment() }} {{ S[i, 4].alignment() }}",
            "1 16 4",
            [],
        ),
        ('{% assume "N % 8 == 0" %}{{ X.alignment(row, 0) }}', "8", ["N % 8 == 0"]),
    ],
)
def test_alignment_of_a_value(text, wanted, assumed):
    """Also of a pointer, which is its address; what it rests on is said."""
    found = render(f"{{% names i, k, row %}}{text}", "triton", S=S, X=X)
    assert found == wanted
    assert [said for said in found.assumptions if "%" in said] == assumed


def test_what_is_guessed_nowhere():
    """A hint of an unknown size is 1, and none of a layout of several results."""
    assert line('{{ X.alignment("row, :BLOCK") }}') == "1"
    with pytest.raises(LegoError):
        line("{{ V.alignment(0, 0) }}", V=hardware.mma("a"))
