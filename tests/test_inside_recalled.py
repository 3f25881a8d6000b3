"""A rewriting is kept on disk by all that it follows from: nothing is rewritten twice, and nothing is stale."""

import math
import os
import subprocess
import sys
import types
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import lego_emit
from lego_emit import Col, GenP, GroupBy, Lookup, Row, catalogue, jit
from lego_emit.algebra.block import Block
from lego_emit.errors import AssumptionError, KernelError, StaleLayoutError
from lego_emit.formats.entry import Entry
from lego_emit.inside import kept
from lego_emit.inside.rewriting import Rewriter


@pytest.fixture
def count(tmp_path, monkeypatch):
    """How many functions were rewritten, and not recalled."""
    found = []
    made = Rewriter.rewritten

    def noted(self):
        found.append(self.source.node.name)
        return made(self)

    monkeypatch.setattr(Rewriter, "rewritten", noted)
    monkeypatch.setenv("LEGO_EMIT_CACHE", str(tmp_path / "cache"))
    return lambda: len(found)


@pytest.fixture
def kernel(tmp_path):
    """kernel(text, names, target, **options): a decorated function of a file in which these names are bound."""

    def made(text, names, target="python", file="own.py", **options):
        path = tmp_path / file
        path.write_text(text)
        space = {"__name__": "own", **names}
        exec(compile(text, str(path), "exec"), space)
        return jit(space["kernel"], target=target, **options)

    return made


ROW, COL = Row(4, 6), Col(4, 6)
TAKEN = "def kernel(i, j):\n    return {}\n"


def module(**names) -> Any:
    found = types.ModuleType("shapes")
    found.__dict__.update(names)
    return found


def by_width(M) -> Block:
    return Row(M, WIDTH)


def by_height(M) -> Block:
    return Col(WIDTH, M)


def no_layout(M):
    return Row(M, WIDTH)


def own(path):
    """A function that is no layout's."""
    return 0


def lambdas(by):
    return GroupBy([4, 6]).OrderBy(
        GenP([4, 6], lambda a, b: 6 * a + (b + by) % 6, lambda p: (p // 6, (p - by) % 6))
    )


def with_attribute(width):
    """A function that reads an attribute of its own."""

    def made(M) -> Block:
        return Row(M, made.width)

    made.width = width
    return made


def of_the_package(M) -> Block:
    return Row(M, lego_emit.width)


def of_the_catalogue(M) -> Block:
    return lego_emit.catalogue["own.rows"](M, 6)


WIDTH = 6
LAST = (IntEnum("Last", {"A": 2}), IntEnum("Last", {"A": 3}))
CHANGES = {
    "a layout": ("L[i, j]", {"L": ROW}, {"L": COL}),
    "a layout of another module": ("m.L[i, j]", {"m": module(L=ROW)}, {"m": module(L=COL)}),
    "a layout of a class": ("C.L[i, j]", {"C": type("C", (), {"L": ROW})}, {"C": type("C", (), {"L": COL})}),
    "a layout in a list": ("L[0][i, j]", {"L": [ROW]}, {"L": [COL]}),
    "a layout's function": ("L[i, j]", {"L": lambdas(1)}, {"L": lambdas(2)}),
    "a constant": ("Row(4, W)[i, j]", {"W": 6, "Row": Row}, {"W": 7, "Row": Row}),
    "a constant's type": ("i + (W if W else j)", {"W": 6, "L": ROW}, {"W": 6.0, "L": ROW}),
    "an index": ("L[i, W]", {"W": 2, "L": ROW}, {"W": 3, "L": ROW}),
    "a constant of an enumeration": ("L[i, E.A]", {"E": LAST[0], "L": ROW}, {"E": LAST[1], "L": ROW}),
    "one by name": ("L[i, W]", {"W": LAST[0].A, "L": ROW}, {"W": LAST[1].A, "L": ROW}),
    "a function's attribute": ("f(4)[i, j]", {"f": with_attribute(6)}, {"f": with_attribute(7)}),
    "a constant of a module": ("Row(4, m.W)[i, j]", {"m": module(W=6), "Row": Row}, {"m": module(W=7), "Row": Row}),
    "a list": ("Row(*W)[i, j]", {"W": [4, 6], "Row": Row}, {"W": [4, 7], "Row": Row}),
    "a list of a module": ("Row(*m.W)[i, j]", {"m": module(W=[4, 6]), "Row": Row}, {"m": module(W=[4, 7]), "Row": Row}),
    "a class of layouts": ("R(4, 6)[i, j]", {"R": Row}, {"R": Col}),
    "a function": ("f(4)[i, j]", {"f": by_width}, {"f": by_height}),
    "a function in a layout": (
        "GroupBy([4, 6]).OrderBy(GenP([4, 6], lambda a, b: f(a, b), lambda p: (p // 6, p % 6)))[i, j]",
        {"f": lambda a, b: 6 * a + b, "GroupBy": GroupBy, "GenP": GenP},
        {"f": lambda a, b: 6 * a + b + 0 * a, "GroupBy": GroupBy, "GenP": GenP},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_around_a_kernel_is_part_of_it(count, kernel, what):
    """Another value is rewritten anew, and what was kept of the first is still its own."""
    expression, one, other = CHANGES[what]
    text = TAKEN.format(expression)
    wanted = {}
    for turn, names in enumerate((one, other, one, other)):
        before = count()
        made = kernel(text, names)
        found = (made(1, 2), made(3, 2), made.lego.source)
        assert wanted.setdefault(id(names), found) == found
        assert found[0] == eval(expression, {**names, "i": 1, "j": 2})
        assert found[1] == eval(expression, {**names, "i": 3, "j": 2})
        assert count() - before == (turn < 2)


def test_options_texts_and_places_are_part_of_it(count, kernel):
    text = TAKEN.format("L[i, j % 6]")
    names = {"L": Row(4, 64), "np": np}
    variants = [
        lambda: kernel(text, names),
        lambda: kernel(text, names, assume=["j < 6"]),
        lambda: kernel(text, names, assume=["j < 5"]),
        lambda: kernel(text, names, ranges={"j": (0, 6)}),
        lambda: kernel(text, names, ranges={"j": (0, 7)}),
        lambda: kernel(text, names, "numpy"),
        lambda: kernel(text, names, "numpy", index_type="int64"),
        lambda: kernel(text, names, file="other.py"),
        lambda: kernel("\n" + text, names),
        lambda: kernel(text.replace("\n    return", "  # two\n    return"), names),
        lambda: kernel(text.replace("i, j):", "i, j, k=1):"), names),
    ]
    made = [variant().lego for variant in variants]
    assert count() == len(variants)
    assert [variant().lego for variant in variants] == made
    assert count() == len(variants)


def test_aliases_are_part_of_it(count, kernel):
    """The text names NumPy as the kernel's file does."""
    text = "def kernel(p):\n    return L[p, :]\n"
    for name in ("np", "numpy", "np", "n_p"):
        made = kernel(text, {"L": COL, name: np}, "numpy")
        assert f"{name}.arange(6)" in made.lego.source
        assert made(1).tolist() == [1 + 4 * j for j in range(6)]
    assert count() == 3


def test_a_module_is_imported_under_a_name_of_its_own(count, kernel):
    text = "def kernel(p):\n    return L[p, :], L[p, :]\n"
    for names, own in (({}, "_numpy"), ({"np": math}, "_numpy"), ({"_numpy": 3}, "_numpy_2")) * 2:
        made = kernel(text, {"L": COL, **names}, "numpy")
        assert made.lego.helpers == f"import numpy as {own}\n"
        assert f"{own}.arange(6)" in made.lego.source
        assert made(1)[1].tolist() == [1 + 4 * j for j in range(6)]
    assert count() == 2


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def kernel(p):\n    return L[p, :]\n", {"L": COL, "np": np}),
        ("def kernel(p):\n    return arange(L[p, 1])\n", {"L": COL, "arange": np.arange}),
        ("def kernel(p):\n    return r, L[p, 1]\n", {"L": COL, "r": np.random.RandomState(0)}),
    ],
)
def test_versions_are_part_of_it(count, kernel, monkeypatch, text, names):
    for version, times in ((np.__version__, 1), (np.__version__, 1), ("0.1", 2)):
        with monkeypatch.context() as patch:
            patch.setattr(np, "__version__", version)
            kernel(text, names, "numpy")
        assert count() == times
    with monkeypatch.context() as patch:
        patch.setattr(kept, "_version", lambda: "another")
        for _ in range(2):
            kernel(text, names, "numpy")
    assert count() == 3


def test_names_that_helpers_take_are_part_of_it(count, kernel):
    """A function beside the kernel hides nothing."""
    curve = catalogue["hilbert.2D"](8, 8)
    for more in ({}, {"kernel_1": own}, {}, {"kernel_1": own}):
        made = kernel(TAKEN.format("L[i, j]"), {"L": curve, **more})
        assert made(5, 3) == curve[5, 3]
        assert ("kernel_1_2(" if more else "kernel_1(") in made.lego.source
    assert count() == 2


def test_a_table_around_the_kernel_is_asked_for_each_time(count, kernel):
    """Its name is in the layout, and not in the kernel's text."""
    text, names = "def kernel(i):\n    return L[i]\n", {"L": Lookup([6], "table")}
    for turn in range(1, 3):
        assert kernel(text, {**names, "table": np.arange(5, -1, -1)})(1) == 4
        with pytest.raises(KernelError, match="reads the table table"):
            kernel(text, names)
        assert count() == 2 * turn


def test_errors_are_told_each_time(count, kernel):
    """Also where another function of the name made no error."""
    text = TAKEN.format("f(4)[i, j]")
    assert kernel(text, {"f": by_width})(1, 2) == 8
    for _ in range(2):
        with pytest.raises(KernelError, match="makes a layout and does not say so"):
            kernel(text, {"f": no_layout})
    same = types.FunctionType(by_width.__code__, by_width.__globals__, "by_width")
    with pytest.raises(KernelError, match="makes a layout and does not say so"):
        kernel(text, {"f": same})
    assert kernel(text, {"f": by_width})(1, 2) == 8
    assert count() == 4


def test_launches_ask_as_before(count, kernel):
    """Of what was recalled, too: whether the layouts are the same, and whether the assumptions hold."""
    text = (
        "def kernel(M, i):\n    lego_emit.assume(M % 4 == 0)\n    return Row(M // 4, m.W)[i, 1]\n"
    )
    shapes = module(W=6)
    names = {"m": shapes, "Row": Row, "lego_emit": sys.modules["lego_emit"]}
    for _ in range(2):
        made = kernel(text, names, checks="raise")
        assert made(8, 1) == 7 and made.lego.assumptions == ("M % 4 == 0",)
        with pytest.raises(AssumptionError, match="M = 7"):
            made(7, 1)
        shapes.W = 7
        with pytest.raises(StaleLayoutError, match=r"m\.W has changed"):
            made(8, 1)
        shapes.W = 6
    assert count() == 1


def test_a_list_of_a_module_is_asked_for_at_launches(count, kernel):
    shapes = module(W=[4, 6])
    for _ in range(2):
        made = kernel(TAKEN.format("Row(*m.W)[i, j]"), {"m": shapes, "Row": Row})
        assert made(1, 2) == 8
        shapes.W[1] = 7
        with pytest.raises(StaleLayoutError, match=r"m\.W has changed"):
            made(1, 2)
        shapes.W[1] = 6


def test_what_is_written_into_the_package_is_part_of_it(count, kernel, monkeypatch):
    for turn, width in enumerate((6, 7, 6)):
        monkeypatch.setattr(lego_emit, "width", width, raising=False)
        assert kernel(TAKEN.format("f(4)[i, j]"), {"f": of_the_package})(1, 2) == width + 2
        assert count() == min(turn + 1, 2)


def test_a_constexpr_stays_what_it_is(count, kernel):
    class constexpr:
        def __init__(self, value):
            self.value = value

    names = {"L": ROW, "W": constexpr(2)}
    for _ in range(2):
        made = kernel(TAKEN.format("L[i, W]"), names)
        assert made(1, 9) == 8
    names["W"] = constexpr(3)
    assert kernel(TAKEN.format("L[i, W]"), names)(1, 9) == 9 and count() == 2


class Sized:
    width = 6

    @property
    def height(self):
        return self.width - 2

    def layout(self) -> Block:
        return Row(4, self.width)


def by_environment(M) -> Block:
    return Row(M, int(os_like.environ["W"]))


def by_object(M) -> Block:
    return Row(M, SIZED.width)


def counting(M) -> Block:
    global CALLS
    CALLS = 0
    return Row(M, 6)


def closing(M) -> Block:
    found = [1]  # which whoever has the layout may change
    return GroupBy([M, 6]).OrderBy(
        GenP([M, 6], lambda a, b: 6 * a + b * found[0], lambda p: (p // 6, p % 6 // found[0]))
    )


class Pair(NamedTuple):
    M: int
    N: int

    @property
    def width(self):
        return self.N + 1

    def layout(self) -> Block:
        return Row(self.M, self.width)


class Defaults(dict):
    def __missing__(self, key):
        return 6


def by_order(M) -> Block:
    first, second = "M", "W"
    sizes = {"M": M, "W": 6}
    return Row(min(sizes[k] for k in {first, second}), 6)


def by_name(M) -> Block:
    return Row(M, len(by_name.__name__) - 1)


def annotated(M: 6):  # pyright: ignore
    return M


os_like, SIZED, CALLS = types.SimpleNamespace(environ={"W": "6"}), Sized(), 0


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("f(4)[i, j]", {"f": by_environment}),
        ("f(4)[i, j]", {"f": by_object}),
        ("f(4)[i, j]", {"f": counting}),
        ("f(4)[i, j]", {"f": closing}),
        ("s.layout()[i, j]", {"s": SIZED}),
        ("Row(s.height, 6)[i, j]", {"s": SIZED, "Row": Row}),
        ("s.layout()[i, j]", {"s": Pair(4, 5)}),
        ("Row(4, s.width)[i, j]", {"s": Pair(4, 5), "Row": Row}),
        ('Row(4, s["W"])[i, j]', {"s": Defaults(), "Row": Row}),
        ("f(4)[i, j]", {"f": by_order}),
        ("f(4)[i, j]", {"f": by_name}),
        ('Row(4, f.__annotations__["M"])[i, j]', {"f": annotated, "Row": Row}),
        ("L[i, j]", {"L": GenP([4, 6], lambda a, b: SIZED.width * a + b, lambda p: (p // 6, p % 6))}),
    ],
    ids="environment object counting closing method property tuple part dict set name annotation layout".split(),
)  # fmt: skip
def test_what_reads_anything_else_is_made_each_time(count, kernel, expression, names):
    for turn in range(2):
        assert kernel(TAKEN.format(expression), names)(1, 2) == 8
        assert count() == turn + 1


def test_what_a_method_reads_of_its_object_is_watched(kernel):
    made = kernel(TAKEN.format("s.layout()[i, j]"), {"s": SIZED})
    assert made(1, 2) == 8
    SIZED.width = 7
    try:
        with pytest.raises(StaleLayoutError, match="width of s has changed"):
            made(1, 2)
    finally:
        del SIZED.width
    assert made(1, 2) == 8


@pytest.mark.parametrize("read", ["FILE", "np.loadtxt(FILE, int)"])
def test_tables_in_files_are_read_each_time(count, kernel, tmp_path, read):
    (file := tmp_path / "table.txt").write_text(" ".join(map(str, range(24))))
    text = TAKEN.format(f"Lookup((4, 6), {read})[i, j]")
    names = {"Lookup": Lookup, "FILE": str(file), "np": np}
    assert kernel(text, names, "numpy")(1, 2) == 8
    file.write_text(" ".join(map(str, range(23, -1, -1))))
    assert kernel(text, names, "numpy")(1, 2) == 15 and count() == 2


def test_what_attributes_of_functions_and_classes_are_is_watched(kernel):
    f, pair = with_attribute(6), Pair(4, 5)
    made = [kernel(TAKEN.format("f(4)[i, j]"), {"f": f})]
    made += [kernel(TAKEN.format("s.layout()[i, j]"), {"s": pair})]
    assert [one(1, 2) for one in made] == [8, 8]
    f.width = 7
    with pytest.raises(StaleLayoutError, match="width of made"):
        made[0](1, 2)
    Pair.layout, before = (lambda self: Row(4, 7)), Pair.layout
    try:
        with pytest.raises(StaleLayoutError, match=r"s\.layout has changed"):
            made[1](1, 2)
    finally:
        Pair.layout = before


def test_what_has_changed_by_its_own_making_is_made_each_time(count, kernel):
    """So that each run says it."""
    known: dict[int, Any] = {}

    def remembering(M) -> Block:
        known[M] = Row(M, 6)
        return known[M]

    for turn in range(2):
        known.clear()
        with pytest.raises(StaleLayoutError, match="known, which"):
            kernel(TAKEN.format("f(4)[i, j]"), {"f": remembering})(1, 2)
        assert count() == turn + 1


def test_entries_of_one_s_own_are_made_each_time(count, kernel):
    text, names = TAKEN.format('catalogue["own.rows"](4, 6)[i, j]'), {"catalogue": catalogue}
    try:
        for make, wanted in ((lambda M, N: Row(M, N), 8), (lambda M, N: Col(M, N), 9)):
            catalogue._entries["own.rows"] = Entry("own.rows", make, "", "", "", {})
            assert kernel(text, names)(1, 2) == wanted
            assert kernel(TAKEN.format("f(4)[i, j]"), {"f": of_the_catalogue})(1, 2) == wanted
    finally:
        del catalogue._entries["own.rows"]
    assert count() == 4


def test_a_file_that_is_broken_or_another_s_is_made_again(count, kernel, tmp_path):
    names = {"L": ROW}, {"L": COL}
    text = TAKEN.format("L[i, j]")
    for one in names:
        kernel(text, one)
    files = [*(tmp_path / "cache").rglob("lowered/*")]
    one, other = good = {f: c for f in files if b"Rewritten" in (c := f.read_bytes())}
    contents = (b"", b"x" * 100, good[one][:-1], good[other], good[one] + b"x")
    for turn, content in enumerate(contents, 1):
        one.write_bytes(content)
        assert [kernel(text, layout)(1, 2) for layout in names] == [8, 9]
        assert count() == 2 + turn and good[one] == one.read_bytes()


# Decorates kernels of Numba and Triton, and prints how many were rewritten.
DECORATED = """
import sys
from lego_emit.inside.rewriting import Rewriter

found, made = [], Rewriter.rewritten
Rewriter.rewritten = lambda self: found.append(self.source.node.name) or made(self)
sys.path.insert(0, {folder!r})
for name in sys.argv[1:]:
    __import__(name)
print(len(found))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count"),
    [("numba_kernels", 13), pytest.param("triton_kernels", 2, marks=pytest.mark.deep)],
)
def test_a_later_process_rewrites_nothing(name, count, tmp_path, request):
    if name == "triton_kernels":
        request.getfixturevalue("triton")
    program = DECORATED.format(folder=str(Path(__file__).parent / "inside"))
    environment = {**os.environ, "LEGO_EMIT_CACHE": str(tmp_path), "TRITON_INTERPRET": "1"}
    found = [
        subprocess.run(
            [sys.executable, "-c", program, name],
            capture_output=True, text=True, check=True, env=environment,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert [*map(int, found)] == [count, 0]
