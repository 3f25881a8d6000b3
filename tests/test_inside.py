"""lego_emit.jit: layouts in Python functions become index expressions, and nothing else changes."""

import inspect
import re
import sys
import textwrap
import types
import warnings
from pathlib import Path

import pytest

import lego_emit
from lego_emit import (
    Choice,
    Col,
    GenP,
    GroupBy,
    LegoWarning,
    Lookup,
    Row,
    TileBy,
    assume,
    catalogue,
    jit,
    symbols,
)
from lego_emit.errors import AssumptionError, KernelError, StaleLayoutError

GLOBAL = Row(4, 6)
TURNED = GroupBy([7, 7]).OrderBy(
    GenP([7, 7], lambda i, j: 7 * i + (i - j) % 7, lambda p: (p // 7, (p // 7 - p) % 7))
)
SIZES = Row(*symbols("M N"))
WIDTH = 6
HOLDER = types.SimpleNamespace(inner=types.SimpleNamespace(layout=Col(4, 6)))


def cdiv(a, b):
    return -(-a // b)


def helper(M, N) -> lego_emit.algebra.block.Block:
    return Col(M, N)


def every(kernel, wanted, *sizes, **more):
    """Compares a function of sizes and an index with a layout, at every index."""
    from itertools import product

    layout = wanted(*sizes)
    for index in product(*map(range, layout.dims)):
        assert kernel(*sizes, *index, **more) == layout.apply(*index), (sizes, index)


def test_a_layout_of_the_functions_own():
    @jit(target="python")
    def at(M, N, i, j):
        L = Row(M, N)  # a layout
        return L[i, j]

    for sizes in ((4, 6), (1, 1), (3, 5)):
        every(at, Row, *sizes)
    assert at.lego.layouts == {"L": "Row(M, N)"}
    assert "Row" not in at.lego.source
    assert "    # a layout" not in at.lego.source.splitlines()[1]  # the line before it is def
    assert at.lego.source.splitlines()[3].strip() == "return N * i + j"


def test_what_is_no_layout_stays_as_it_is():
    def same(x, *, y=2):
        # a comment with "quotes"
        z = [x + 1 for x in range(y) if x]
        w = abs(y - 4)
        """a text
  over lines"""
        return f"{z!r:>10}", w, (lambda q: q[0])([y]), {**{1: 2}}, -(y**2), not y

    made = jit(same, target="python")
    assert made.lego.source == inspect.getsource(same)
    assert made(3) == same(3)
    assert made.__wrapped__ is same


@pytest.mark.parametrize(
    "module", ["textwrap", "heapq", "ast", "json.decoder", "string", "tokenize"]
)
@pytest.mark.quick(4)
def test_functions_without_a_layout_come_back_identical(module):
    found = __import__(module, fromlist=["x"])
    functions = [
        f for f in vars(found).values() if inspect.isfunction(f) and f.__module__ == module
    ]
    assert functions
    for function in functions:
        if function.__name__ == "<lambda>":
            continue
        assert jit(function, target="python").lego.source == inspect.getsource(function)


def test_layouts_from_around_the_function():
    closed = Col(4, 6)

    @jit(target="python")
    def at(i, j):
        return GLOBAL[i, j], closed[i, j], HOLDER.inner.layout[i, j], SIZES_OF(4, 6)[i, j]

    for i in range(4):
        for j in range(6):
            assert at(i, j) == (6 * i + j, i + 4 * j, i + 4 * j, i + 4 * j)


def SIZES_OF(M, N) -> "lego_emit.algebra.block.Block":
    return Col(M, N)


SIZES_OF.__annotations__["return"] = Row(2, 2).__class__.__mro__[1]


def test_a_global_layout_takes_its_sizes_from_the_function():
    @jit(target="python")
    def at(M, N, i, j):
        return SIZES[i, j]

    every(at, Row, 4, 6)

    with pytest.raises(
        KernelError, match=r"SIZES has the size N, which is no name of the kernel's here"
    ):

        @jit(target="python")
        def without(M, i, j):
            return SIZES[i, j]


def test_several_values_are_statements_on_one_line():
    @jit(target="python")
    def back(M, N, t):
        i, j = Row(M, N).inv(t); k = i  # noqa: E702  # fmt: skip
        return i, j, k

    for t in range(15):
        assert back(3, 5, t) == (*divmod(t, 5), t // 5)
    assert len(back.lego.source.splitlines()) == 4
    same = jit(_rebinds, target="python")
    assert [same(3, 5, t) for t in range(15)] == [divmod(t, 5) for t in range(15)]


def _rebinds(M, N, t):
    t, j = Row(M, N).inv(t)
    return t, j


def test_lines_keep_their_numbers():
    @jit(target="python")
    def at(M, N, i, j):
        L = TileBy(
            [M // 2, N // 3],
            [2, 3],
        ).OrderBy(Row(M, N))
        x = L[i // 2, j // 3, i % 2, j % 3] + 1
        raise ValueError(x)

    with pytest.raises(ValueError) as found:
        at(4, 6, 3, 5)
    assert found.value.args == (24,)
    line = (
        inspect.getsource(sys.modules[__name__]).splitlines().index("        raise ValueError(x)")
        + 1
    )
    assert found.traceback[-1].lineno + 1 == line


def test_brackets_follow_the_expression_around():
    @jit(target="python")
    def at(M, N, i, j):
        L = Row(M, N)
        return 2 * L[i, j] - L[i, j] ** 2, [0] * L.size, L.dims[1] - L.dims[0], -L[i, j]

    assert at(2, 3, 1, 2) == (2 * 5 - 25, [0] * 6, 1, -5)


def test_choices_of_constants():
    @jit(target="python")
    def at(M, N, i, j, BY):
        L = Row(M, N) if BY else Col(M, N)
        if BY:
            K = Row(M, N)
        else:
            K = Col(M, N)
        return L[i, j], K[i, j] + 1, (Row(M, N) if not BY else Col(M, N))[i, j]

    for by in (True, False):
        for i in range(3):
            for j in range(5):
                own, other = 5 * i + j, i + 3 * j
                own, other = (own, other) if by else (other, own)
                assert at(3, 5, i, j, by) == (own, own + 1, other)


def test_a_name_of_several_layouts_one_after_the_other():
    @jit(target="python")
    def at(M, N, i, j):
        L = Row(M, N)
        first = L[i, j]
        L = Col(M, N)
        return first, L[i, j]

    assert at(3, 5, 2, 1) == (11, 5)


def test_facts_of_a_branch_and_of_a_loop_end_with_it():
    @jit(target="python")
    def at(M, N, n, t):
        if n:
            assume(N % 4 == 0)
        found = 0
        for _ in range(n):
            i, j = Row(M, N).inv(t)
            found += i + j
        t = t - 100
        return found, Row(M, N).inv(t + 100)

    assert at(3, 5, 2, 7) == (6, (1, 2))


def test_a_block_keeps_a_statement():
    @jit(target="python")
    def at(M, N, BY):
        if BY:
            L = Row(M, N)
            K = Row(N, M)
        else:
            # by columns
            L = Col(M, N)
            assume(M > 0)
            K = Col(N, M)
        return L[1, 2], K[2, 1]

    assert at(3, 5, True) == (7, 7)
    assert at(3, 5, False) == (7, 7)


def test_a_table_of_the_kernel_s():
    @jit(target="python")
    def entry(order, i):
        return Lookup([6], "order")[i], Lookup([6], "order").in_bounds(i)

    assert entry([4, 0, 3, 5, 1, 2], 2) == (3, True)


def test_a_slice_in_numpy():
    np = pytest.importorskip("numpy")
    globals()["np"] = np

    @jit(target="numpy")
    def tile(M, N, p, q):
        L = TileBy([M // 2, N // 3], [2, 3]).OrderBy(Row(M, N))
        return L[p, q, :, :]

    found = tile(4, 6, 1, 1)
    assert found.tolist() == [[15, 16, 17], [21, 22, 23]]


def test_an_index_of_a_position_that_may_be_none_is_asked_whether_it_is_in_bounds():
    """As where more threads run than there are elements."""

    @jit(target="python")
    def held(M, N, t):
        i, j = Row(M, N).inv(t)
        k, m = catalogue["morton.2D"](4, 4).inv(t)
        assert not TileBy([M, N], [2, 2]).in_bounds(i, 1 - 2, 0, 0)
        first = Row(M, N).in_bounds(i, j), Col(M, 9).in_bounds(i, j), Row(4, 4).in_bounds(k, m)
        t = t + 1
        return first

    for t in range(-3, 20):
        inside = 0 <= t < 15
        assert held(3, 5, t) == (inside, inside, 0 <= t < 16)

    @jit(target="python")
    def counted(M, N):
        found = []
        for t in range(Row(M, N).size):
            i, j = Row(M, N).inv(t)
            found.append(Row(M, N).in_bounds(i, j))
        return found

    assert "found.append(True)" in counted.lego.source and counted(2, 3) == [True] * 6


@pytest.mark.parametrize(
    "body",
    [
        "i = Z.inv(t)[0]; j = Z.inv(t)[1]\n    return Z.in_bounds(i, j)",
        "p = Z.inv(t)\n    return Z.in_bounds(p[0], p[1])",
        "(i, j) = k = Z.inv(t)\n    return Z.in_bounds(i, j)",
        "i: int = Z.inv(t)[0]\n    return Z.in_bounds(i, 0)",
        "i = (j := Z.inv(t)[1]) - j\n    return Z.in_bounds(i, j)",
        "if (p := Z.inv(t)) is None: return\n    return Z.in_bounds(p[1] - p[1], p[1])",
        "while (j := Z.inv(t)[1]) is not None: return Z.in_bounds(0, j)",
        "L = Z if flag else S\n    i, j = L.inv(t)\n    return L.in_bounds(i, j)",
        "L = Z if flag else S\n    [i, j] = L.inv(t)\n    return S.in_bounds(i, j)",
    ],
)
def test_an_index_of_a_position_is_one_however_names_are_given_it(body, tmp_path):
    """Z.inv(70) and S.inv(-3) have bits that lie in 0..7."""
    text = f"""from lego_emit import GenP, GroupBy, catalogue

Z = catalogue["morton.2D"](8, 8)
S = GroupBy([8, 8]).OrderBy(GenP([8, 8], lambda i, j: 8 * i + (i ^ j), lambda p: (p // 8, p % 8 ^ p // 8)))


def kernel(t, flag):
    {body}
"""
    kernel = jit(loaded(tmp_path, text).kernel, target="python")
    for t in (-3, 0, 63, 64, 70):
        assert [kernel(t, flag) for flag in (False, True)] == [0 <= t < 64] * 2


def test_behind_its_last_position_a_grouped_order_divides_by_zero():
    """As docs/inside.md says."""

    @jit(target="python")
    def tile(p, M, N):
        L = catalogue["triton.grouped"](M, N, 8)
        i, j = L.inv(p)
        return i, j

    @jit(target="python")
    def clamped(p, M, N):
        L = catalogue["triton.grouped"](M, N, 8)
        q = min(p, L.size - 1)
        i, j = L.inv(q)
        return (i, j) if p < L.size else None

    assert tile(31, 8, 4) == clamped(31, 8, 4) == (7, 3) and clamped(32, 8, 4) is None
    with pytest.raises(ZeroDivisionError):
        tile(32, 8, 4)


def test_the_tag_of_a_choice_is_asked_at_a_launch():
    """Of any other tag the last layout would be taken."""

    @jit(target="python", checks="raise")
    def chosen(tag, i, j):
        return Choice(tag, {0: Row(4, 6), 1: Col(4, 6)})[i, j]

    @jit(target="python")
    def loaded(tags, i, j):
        tag = tags[0]
        return Choice(tag, {0: Row(4, 6), 1: Col(4, 6)})[i, j]

    assert [chosen(tag, 1, 2) for tag in (0, 1)] == [8, 9]
    for tag in (-1, 2):
        with pytest.raises(AssumptionError, match=f"assumes 0 <= tag < 2, and tag = {tag}"):
            chosen(tag, 1, 2)
    assert loaded.lego.unchecked == ("0 <= tag < 2",)


def test_indices_of_narrow_types_are_computed_as_wide_as_positions():
    np = pytest.importorskip("numpy")
    globals()["np"] = np

    @jit(target="numpy")
    def narrow(i, j):
        _, m = Row(50, 200).inv(i)
        return Row(100, 100)[i, j], Row(100, 100)[m, j]

    for kind in ("int8", "uint8", "int16", "uint64"):
        found = narrow(np.array([50, 99], kind), np.array([60, 1], np.int64))
        assert [f.tolist() for f in found] == [[5060, 9901]] * 2


@pytest.mark.slow
def test_a_difference_of_unsigned_indices_in_numba_is_signed():
    numba = pytest.importorskip("numba")
    np = pytest.importorskip("numpy")

    @jit
    @numba.njit
    def turned(i, j):
        return TURNED[i, j]

    for kind in (np.uint32, np.int64):
        assert turned(kind(2), kind(5)) == TURNED[2, 5] == 18


def test_an_array_of_indices_is_asked_whether_it_is_in_bounds():
    np = pytest.importorskip("numpy")
    globals()["np"] = np

    @jit(target="numpy")
    def held(M, N, rows):
        return Row(M, N).in_bounds(rows[:], ":"), Row(M, N).in_bounds(rows[:], 0)

    rows = np.arange(-1, 4)
    both, one = held(3, 2, rows)
    inside = (rows >= 0) & (rows < 3)
    assert (both & np.ones((5, 2), bool)).tolist() == np.stack([inside, inside], 1).tolist()
    assert one.tolist() == inside.tolist()


ERRORS = {
    "L[i] of two axes": ("return GLOBAL[i]", "GLOBAL takes 2 indices, 1 given", 12),
    "an unknown index": ("return GLOBAL[i, zz]", "zz is no name of the kernel's", 22),
    "a bare layout": ("return len(GLOBAL)", "GLOBAL is a layout, Row", 16),
    "an assignment to a layout": ("GLOBAL[i, 0] = 3", "holds no elements to assign", 5),
    "an ellipsis": ("return GLOBAL[..., 0]", "Ellipsis is no index", 19),
    "a part of an axis": ("return GLOBAL[1:3, 0]", "write ':' for all of an axis", 19),
    "an index out of range": ("return GLOBAL[9, 0]", "9", 12),
    "an unknown size": ("return Row(i, nothing)[0, 0]", "nothing is not bound yet", 19),
    "a method that it hasn't": ("return GLOBAL.inverted(i)", "inverted", 12),
    "a size that is a part": ("return Row(M.shape[0], 4)[i, 0]", "M.shape[0] is known when the kernel runs: give it a name before", 16),
    "sizes that are parts": ("return Row(*M)[i, 0]", "*M is known when the kernel runs: give its parts names before", 16),
    "a size assigned again": ("L = Row(M, i)\n    M = M + 1\n    return L[i, 0]", "was made of M, which is assigned again", 12),
    "a layout of a loop": ("for k in range(M):\n        L = Row(M, k)\n    return L[i, 0]", "L is a layout of line 8, which may not have run", 12),
    "two branches": ("if i:\n        L = Row(M, 2)\n    else:\n        L = Col(M, 2)\n    i = 1\n    return L[0, 0]", "L is another layout, or none, in one branch", 12),
    "a layout within a function": ("def inner():\n        return GLOBAL[i, 0]\n    return inner()", "a function within the kernel", 16),
    "a colon where there are no arrays": ("return GLOBAL[i, :]", "one index at a time", 12),
    "fields of words": ("return FIELDS[i]", "FIELDS is Packed, fields of words: FIELDS.layout[..]", 12),
    "blocks of different lengths": ("return RAGGED.in_bounds(0, i)", "RAGGED is Ragged, which is several functions", 12),
    "a table that the kernel has not": ("return Lookup([6], 'order')[i]", "reads the table order, which is no name", 12),
    "an index of a position that has changed": ("j, k = GLOBAL.inv(i)\n    i += 1\n    return GLOBAL.in_bounds(j, k)", "and i is assigned again", 12),
    "an index of one of two layouts": ("L = GLOBAL if M else Row(9, 9)\n    j, k = L.inv(i)\n    return L.in_bounds(j, k)", "M says of which layout", 12),
    "an index of a position under a condition": ("if M > 3 and (j := GLOBAL.inv(i)[0]) > 1: pass\n    return GLOBAL.in_bounds(j, 0)", "taken under a condition", 12),
    "an index of a position within in_bounds": ("return GLOBAL.in_bounds(GLOBAL.inv(i)[0], 0)", "within in_bounds: give it a name before", 12),
    "a layout as a default": ("return (lambda x=GLOBAL: x)()", "a layout within a function that runs later", 13),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
@pytest.mark.quick(4)
def test_an_error_has_the_place_and_a_caret(case, tmp_path):
    body, message, column = ERRORS[case]
    text = f"""from lego_emit import Col, Lookup, Packed, Ragged, Row

GLOBAL, FIELDS, RAGGED = Row(4, 6), Packed(Row(8), 4), Ragged([3, 7])


def kernel(M, i):
    {body}
"""
    function = loaded(tmp_path, text).kernel
    with pytest.raises(KernelError) as found:
        jit(function, target="python")
    said = str(found.value)
    assert message in said, said
    place, shown, caret = said.split("\n")[0], *said.split("\n")[-2:]
    match = re.match(rf"{re.escape(str(tmp_path / 'own.py'))}, line (\d+), column (\d+): ", place)
    assert match, said
    line = text.splitlines()[int(match[1]) - 1]
    assert shown.strip() == line.strip()
    assert int(match[2]) == column, said
    assert caret.index("^") - 4 == column - 1 - (len(line) - len(line.lstrip()))


def loaded(folder, text):
    path = Path(folder) / "own.py"
    path.write_text(text)
    module = types.ModuleType("own")
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def test_what_cannot_be_rewritten_says_what_to_do():
    with pytest.raises(KernelError, match="a lambda has no lines of its own"):
        jit(lambda i: GLOBAL[i, 0], target="python")

    async def waits(i):
        return GLOBAL[i, 0]

    with pytest.raises(KernelError, match="async"):
        jit(waits, target="python")
    space = {"GLOBAL": GLOBAL}
    exec("def made(i):\n    return GLOBAL[i, 0]", space)
    with pytest.raises(KernelError, match="put it in a file"):
        jit(space["made"], target="python")
    with pytest.raises(KernelError, match="numba, numpy, python, triton"):
        jit(_rebinds)
    with pytest.raises(KernelError, match="Did you mean 'numba'"):
        jit(_rebinds, target="nunba")
    with pytest.raises(KernelError, match="checks is 'always'"):
        jit(_rebinds, target="python", checks="always")


class Methods:
    """Functions of a class."""

    layout = Row(4, 6)

    @jit(target="python")
    def method(self, i, j):
        return GLOBAL[i, j]

    @staticmethod
    @jit(target="python")
    def static(i, j):
        return GLOBAL[i, j]

    @jit(target="python")
    @staticmethod
    def under(i, j):
        return GLOBAL[i, j]


def test_methods():
    assert Methods().method(2, 3) == Methods.static(2, 3) == Methods.under(2, 3) == 15


def test_a_layout_that_changes_is_told():
    space = types.SimpleNamespace(layout=Row(4, 6))

    @jit(target="python")
    def at(i, j):
        return space.layout[i, j]

    assert at(2, 3) == 15
    space.layout = Col(4, 6)
    with pytest.raises(StaleLayoutError, match=r"space\.layout has changed since"):
        at(2, 3)
    assert issubclass(StaleLayoutError, RuntimeError)


def test_assumptions_at_a_launch():
    def kernel(M, N, i):
        assume(N % 4 == 0, i < M)
        last = M - 1
        assume(last >= 0)
        return Row(M, N)[i, 0]

    warned = jit(kernel, target="python")
    assert warned.lego.unchecked == ("last >= 0",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert warned(3, 8, 1) == 8
    with pytest.warns(LegoWarning, match=r"kernel assumes N % 4 == 0, and N = 6"):
        warned(3, 6, 1)
    with pytest.raises(AssumptionError, match=r"assumes 0 <= i < M, and i = 5, M = 3"):
        jit(kernel, target="python", checks="raise")(3, 8, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit(kernel, target="python", checks="off")(3, 6, 5)
    with pytest.raises(AssumptionError, match="condition 2 is False"):
        assume(True, False)


def test_the_text_does_without_lego_emit():
    @jit(target="python")
    def at(M, N, i, j):
        L = TileBy([M // 2, N // 3], [2, 3]).OrderBy(Row(M, N))
        assume(M % 2 == 0)
        return L[i // 2, j // 3, i % 2, j % 3]

    space = {}
    exec(textwrap.dedent(at.lego.source), space)
    assert space["at"](4, 6, 3, 5) == 23
    assert "assume" not in at.lego.source


@pytest.mark.slow
def test_program_ids_in_groups():
    @jit(target="python")
    def place(rows, columns, group, t):
        p, q = catalogue["triton.grouped"](rows, columns, group).inv(t)
        return p, q

    for rows in range(1, 10):
        for columns in range(1, 10):
            for group in range(1, 10):
                layout = catalogue["triton.grouped"](rows, columns, group)
                for t in range(rows * columns):
                    assert place(rows, columns, group, t) == layout.inv(t)


def test_the_files_of_rewritten_functions(tmp_path, monkeypatch):
    monkeypatch.setenv("LEGO_EMIT_CACHE", str(tmp_path))
    first = jit(_rebinds, target="python")
    again = jit(_rebinds, target="python")
    (path,) = tmp_path.rglob("*.py")
    assert (
        first.__wrapped__.__code__.co_filename
        == again.__wrapped__.__code__.co_filename
        == str(path)
    )
    assert inspect.getsource(first.__wrapped__) == first.lego.source


def unsaid(M, N):
    return Row(M, N)


def test_a_function_that_makes_a_layout_says_so():
    def named(M, N, i):
        A = unsaid(M, N)
        return A[i, 0]

    def at_once(M, N, i):
        return unsaid(M, N).inv(i)

    for kernel in (named, at_once):
        with pytest.raises(
            KernelError, match=r"unsaid makes a layout and does not say so: write def unsaid"
        ):
            jit(kernel, target="python")


def test_a_launch_is_asked_what_the_layouts_assume():
    def kernel(M, N, i):
        first = TileBy([M // 4, N // 3], [4, 3]).OrderBy(Row(M, N))[0, 0, i, 0]
        if N > 9:
            return TileBy([M // 8, N], [8, 1]).OrderBy(Row(M, N))[0, 0, i, 0]
        return first

    made = jit(kernel, target="python", checks="raise")
    assert {"M % 4 == 0", "M % 8 == 0"} <= {*made.lego.assumptions}
    assert made(4, 6, 1) == 6 and made(12, 12, 1) == 12
    for sizes in ((5, 6, 1), (4, 5, 1)):
        with pytest.raises(AssumptionError, match=r"kernel assumes [MN] % [43] == 0, and"):
            made(*sizes)
    with pytest.warns(LegoWarning, match="assumes M % 4 == 0") as found:
        jit(kernel, target="python")(5, 6, 1)
    assert found[0].filename == __file__


CURVE, TRIANGLE = catalogue["hilbert.2D"](8, 8), catalogue["lapack.TP"](8)


@pytest.mark.slow
def test_what_only_a_loop_computes_is_a_function_beside_the_kernel():
    cube = catalogue["hilbert.3D"](4, 4, 4)

    @jit(target="python")
    def index(p):
        i, j, k = cube.inv(p)
        return i, j, k

    assert [index(p) for p in range(64)] == [cube.inv(p) for p in range(64)]
    assert "index_1(p)" in index.lego.source


@pytest.mark.slow
def test_what_is_long_or_no_expression_is_a_function_beside_the_kernel():
    @jit(target="python")
    def along(p, q):
        i, j = TRIANGLE.inv(p)
        return CURVE[i, j], CURVE[i, j] + 1, TRIANGLE.inv(q), TRIANGLE.inv(q)[1]

    for p in range(TRIANGLE.physical_size):
        q = TRIANGLE.physical_size - 1 - p
        at, other = CURVE[TRIANGLE.inv(p)], TRIANGLE.inv(q)
        assert along(p, q) == (at, at + 1, other, other[1])
    lines = [line.strip() for line in along.lego.source.splitlines()]
    assert "i, j = along_1(p)" in lines
    assert "return along_2(i, j), along_2(i, j) + 1, along_3(q), along_4(q)" in lines
    assert along.lego.helpers.count("\ndef ") == 4 and "math.isqrt" in along.lego.helpers

    first = along

    @jit(target="python")
    def along(i, j):  # another one of this name
        return CURVE[j, i]

    assert along(1, 2) == CURVE[2, 1] and first(5, 5)[0] == CURVE[TRIANGLE.inv(5)]
    name = re.search(r"return (along_1\w+)\(i, j\)", along.lego.source)[1]
    kept = globals()[name]
    globals()[name] = kept.__class__
    with pytest.raises(StaleLayoutError, match=name):
        along(1, 2)
    globals()[name] = kept
    assert along(1, 2) == CURVE[2, 1]
