"""What users see: the names at the top level, of the modules beside it and on a layout."""

import copy
import doctest
import inspect
import pickle
import re
import subprocess
import sys
import traceback

import pytest

import lego_emit
from lego_emit import (
    Choice,
    Col,
    GroupBy,
    LegoError,
    OrderBy,
    Row,
    Strided,
    bank_conflicts,
    convert,
    cute,
    generate,
    hardware,
    movement,
    recognize,
    render,
    symbols,
    types,
)
from lego_emit.algebra.block import OF_A_KIND, Block
from lego_emit.errors import MovedError, NoAttributeError

NAMES = """
    GroupBy OrderBy TileBy ExpandBy Row Col RegP GenP Strided Linear Lookup Choice AnyRank Ragged Packed Pattern symbols
    assume jit isqrt fori_loop generate render simplify catalogue recognize bank_conflicts optimal_swizzle convert LegoError
    LegoWarning
""".split()
NOT_BY_STAR = "copy pack unpack".split()  # `import *` must not take the place of others' names
MODULES = "cute hardware movement types".split()
# What every layout has, beside what its own kind says of itself.
ON_A_LAYOUT = """
    affine_map descriptor apply check coordinates dims has_inverse in_bounds inv inverse is_bijection pack physical_dims physical_size plan plot
    results show size step to_cute unpack
""".split()
MOST_ON_A_LAYOUT = 26


def names_of(x):
    return {name for name in dir(x) if not name.startswith("_")}


def test_the_top_level_is_this_list():
    assert sorted(NAMES) == sorted(lego_emit.__all__)
    assert names_of(lego_emit) == {*NAMES, *NOT_BY_STAR, *MODULES, "errors"}


@pytest.mark.parametrize("module", [cute, hardware, movement, types])
def test_modules_list_what_they_offer(module):
    assert len({*module.__all__}) == len(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_a_layout_has_few_names():
    layout = GroupBy([4, 6]).OrderBy(Col(4, 6))
    assert names_of(layout) == {*ON_A_LAYOUT, "OrderBy", "TileOrderBy", "tiles"}
    assert names_of(Row(4, 6)) == {*ON_A_LAYOUT, "perm"}
    for one in (
        layout,
        Row(4, 6),
        OrderBy(Row(4, 6)),
        Choice(symbols("t"), {0: Row(2, 2), 1: Col(2, 2)}),
    ):
        assert len(names_of(one)) <= MOST_ON_A_LAYOUT, type(one).__name__
    assert {"shape", "stride", "left_inverse"} <= names_of(Strided((4, 2), (2, 1)))
    assert {"invert", "right_inverse"} <= names_of(hardware.mma("c"))


def test_what_a_kind_says_of_itself_is_there_and_not_listed():
    layout = GroupBy([4, 6])
    assert not OF_A_KIND & names_of(layout)
    for name in OF_A_KIND:
        assert hasattr(layout, name), name
    assert {n for n in vars(Block) if not n.startswith("_")} <= {*ON_A_LAYOUT, *OF_A_KIND}


def test_what_left_says_where_it_went():
    for name, module in lego_emit._MOVED.items():
        with pytest.raises(
            MovedError, match=rf"write from lego_emit.{module} import {name}"
        ) as error:
            getattr(lego_emit, name)
        line = str(error.value).partition("write ")[2]
        found = {}
        exec(line, found)
        assert found[name] is not None
    with pytest.raises(LegoError, match=r"from lego_emit\.algebra\.masked import Padded"):
        from lego_emit import Padded  # noqa: F401  # pyright: ignore

        pass


@pytest.mark.parametrize(
    "ask, words",
    [
        (lambda: cute.Swizle, "'lego_emit.cute' has no attribute 'Swizle'. Did you mean 'Swizzle'?"),
        (lambda: movement.Conflict, "Did you mean 'Conflicts'?"),
        (lambda: hardware.blockd, "Did you mean 'blocked'?"),
        (lambda: types.I128, "Did you mean 'I"),
        (lambda: lego_emit.Groupby, "Did you mean 'GroupBy'?"),
        (lambda: Row(4, 6).TileBy, "RegP(..) has no attribute 'TileBy'; OrderBy(block).TileBy"),
        (lambda: Row(4, 6).left_inverse, "has no attribute 'left_inverse'; the inverse of a bijection"),
        (lambda: GroupBy([4, 6]).aply, "Layout(..) has no attribute 'aply'. Did you mean 'apply'?"),
        (lambda: GroupBy([4, 6])._aply, "Layout(..) has no attribute '_aply'"),
    ],
)  # fmt: skip
def test_a_wrong_name_has_a_nearest(ask, words):
    with pytest.raises(NoAttributeError) as error:
        ask()
    assert words in str(error.value)
    assert isinstance(error.value, LegoError) and isinstance(error.value, AttributeError)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


@pytest.mark.parametrize(
    "name, words",
    [
        ("vulkan", "Did you mean 'glsl'?"),
        ("OpenGL", "Did you mean 'glsl'?"),
        ("wasm", "Did you mean 'rust'?"),
        ("numba", "Did you mean 'python'?"),
        ("pytorch", "Did you mean 'numpy'?"),
        ("webgl", "Did you mean 'glsl'?"),
        ("rsut", "Did you mean 'rust'?"),
    ],
)
def test_what_has_no_printer_has_the_target_that_is_meant(name, words):
    with pytest.raises(LegoError, match=re.escape(words)):
        generate(GroupBy([4]), name)


def by_half(i):
    return GroupBy([4])[i] / 2


def past_the_end(i):
    return GroupBy([4])[i, i]


@pytest.mark.parametrize("function", [by_half, past_the_end])
def test_an_error_of_a_function_has_its_place_and_no_frames_of_ours(function, monkeypatch):
    monkeypatch.delenv("LEGO_EMIT_TRACEBACK", raising=False)
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(
        LegoError, match=rf"{function.__name__} \(line {line} of test_public.py\): "
    ) as error:
        generate(function, "c")
    frames = traceback.extract_tb(error.value.__traceback__)
    assert [frame.name for frame in frames] == [
        "test_an_error_of_a_function_has_its_place_and_no_frames_of_ours",
        function.__name__,
    ]
    text = "".join(traceback.format_exception(error.value))
    assert f"{error.value.code}: docs/errors.md#{type(error.value).__name__.lower()}" in text
    assert len(text.splitlines()) < 15
    monkeypatch.setenv("LEGO_EMIT_TRACEBACK", "full")
    with pytest.raises(LegoError) as error:
        generate(function, "c")
    assert len(traceback.extract_tb(error.value.__traceback__)) > 10


def test_an_error_before_the_function_is_called_has_the_line_of_the_call():
    with pytest.raises(LegoError) as error:
        generate(GroupBy([4, 6]), "rsut")
    assert len(traceback.extract_tb(error.value.__traceback__)) == 1


def test_reprs_are_short():
    layout = GroupBy([32, 32])
    unit = generate(layout, "c")
    found = {
        "conflicts": bank_conflicts(layout, lambda lane: (lane, 0)),
        "nvidia": movement.NVIDIA,
        "convert": convert(hardware.mma("c"), hardware.mma("c")),
        "gather": movement.gather(hardware.mma("c"), 0),
        "<nothing recognized>": recognize([0, 7, 1, 30, 2, 100, 77, 3, 5, 11]),
        "<sheet of GroupBy([32, 32])>": layout.show().pages[0],
        "<picture of": layout.show(),
        "<Program layout:": unit.program,
        "<layout in C": unit,
        "<catalogue": lego_emit.catalogue,
        "<explanation": unit.explain(),
    }
    for words, value in found.items():
        assert words in repr(value) and len(repr(value)) < 130 and " at 0x" not in repr(value)


@pytest.mark.slow
def test_a_notebook_stays_small():
    for size, most in ((32, 160_000), (256, 100_000)):
        layout = GroupBy([size, size]).OrderBy(Col(size, size))
        assert len(layout._repr_html_()) < most and len(layout.show()._repr_html_()) < most
    assert layout.show(order=True)._repr_html_().count("<rect") < 500


def test_an_import_of_a_submodule_is_none_of_ours():
    code = "from lego_emit.cute import maps; import lego_emit.cute.tiling as t; print(t.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "lego_emit.cute.tiling\n"


def test_layouts_copy_and_pickle():
    layout = GroupBy([4, 6]).OrderBy(Col(4, 6))
    assert (
        copy.deepcopy(layout) == copy.copy(layout) == pickle.loads(pickle.dumps(layout)) == layout
    )


@pytest.mark.parametrize(
    "text, words",
    [
        ("{{ i.inv(3) }}", "i is an index expression, and inv belongs to a layout: A.inv"),
        ("{{ (i + 1).stp }}", "(i + 1) is an index expression without 'stp'; it has step()"),
    ],
)
def test_a_name_of_a_template_says_what_it_has(text, words):
    with pytest.raises(LegoError) as error:
        render("{% names i: int32 %}" + text, "cuda")
    assert words in str(error.value)


def examples():
    """The name and the docstring of each public name, the modules' own names among them."""
    for name in (*NAMES, *NOT_BY_STAR, *MODULES):
        yield name, lego_emit, True
    for module in (cute, hardware, movement, types):
        for name in module.__all__:
            yield name, module, module is not types and callable(getattr(module, name))


def test_an_example_shows_each_type():
    shown = doctest.DocTestParser().get_examples(types.__doc__)
    shown += doctest.DocTestParser().get_examples(types.Array.__doc__)
    shown += doctest.DocTestParser().get_examples(types.NativeType.__doc__)
    words = {word for example in shown for word in re.findall(r"\w+", example.source)}
    assert not set(types.__all__) - words


@pytest.mark.parametrize("name, module, needed", [*examples()])
@pytest.mark.quick(4)
def test_the_example_of_a_name_holds(name, module, needed, monkeypatch):
    monkeypatch.setenv("LEGO_EMIT_TRACEBACK", "")
    text = inspect.getdoc(getattr(module, name)) or ""
    names = {n: getattr(module, n) for n in module.__all__ if module is not lego_emit}
    example = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    assert example.examples or not needed, f"{name} has no example in its docstring"
    told = []
    assert doctest.DocTestRunner().run(example, out=told.append).failed == 0, "".join(told)
