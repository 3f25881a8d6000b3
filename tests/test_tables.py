"""Tables of integers as text: what is written is read, and what is wrong is said with its line."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lego_emit import Col, GroupBy
from lego_emit.errors import GoldenError
from lego_emit.tables import HEADER, Table, changes, differences, read_table

LEAST, MOST = -(2**63), 2**63 - 1
NAMES = st.from_regex(r"[^\W\d]\w{0,5}", fullmatch=True)
AXES = st.tuples(st.one_of(st.just(""), st.just(":"), NAMES), st.integers(0, 5))
SIZES = st.dictionaries(NAMES, st.integers(1, 10**6), max_size=3)


@st.composite
def columns(draw, shape):
    """Values of a shape: any, of few numbers, one number, or regular."""
    count = int(np.prod(shape, dtype=int))
    ends = st.sampled_from([LEAST, LEAST + 1, -(2**62), 0, 2**62, MOST - 1, MOST])
    kind = draw(st.sampled_from([st.integers(LEAST, MOST), st.integers(-2, 2), ends, None]))
    if kind is not None:
        return np.array(draw(st.lists(kind, min_size=count, max_size=count)), np.int64)
    found = np.full(shape, draw(st.integers(-50, 50)), np.int64)
    for index in np.indices(shape):
        found += draw(st.integers(-9, 9)) * index // draw(st.integers(1, 3))
    return found.ravel()


@st.composite
def tables(draw):
    axes = tuple(draw(st.lists(AXES, max_size=4)))
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    shape = tuple(n for _, n in axes)
    return Table(axes, {name: draw(columns(shape)) for name in names}, draw(SIZES))


def text_of(table):
    """The lines after the header."""
    head = HEADER.format(name=", ".join(table.columns))
    assert table.text().startswith(head)
    return table.text().removeprefix(head)


# -- there and back ------------------------------------------------------------------------------


@pytest.mark.slow
@given(tables(), st.sampled_from(["", "fig2: a comment, table of 3"]))
@settings(max_examples=50)
def test_a_table_comes_back_from_its_text(table, comment):
    text = table.text(comment)
    back = read_table(text, "t")
    assert (back.axes, back.sizes, back.shape) == (table.axes, table.sizes, table.shape)
    assert {n: c.tolist() for n, c in back.columns.items()} == {
        n: c.tolist() for n, c in table.columns.items()
    }
    assert all(c.dtype == np.int64 for c in back.columns.values())
    assert back.text(comment) == text
    assert differences(table, back) == [] == changes(text, text.replace("\n", "\r\n"), "t")


@pytest.mark.slow
@given(tables(), st.data())
def test_one_other_value_is_the_one_difference(table, data):
    name = data.draw(st.sampled_from(list(table.columns)))
    column = table.columns[name]
    if not column.size:
        return
    at = data.draw(st.integers(0, column.size - 1))
    other = column.copy()
    other[at] ^= 1
    changed = Table(table.axes, {**table.columns, name: other}, table.sizes)
    index = ", ".join(str(int(p[at])) for p in table.points())
    want = [f"{name}[{index}]: {column[at]} -> {other[at]}"]
    assert differences(table, changed) == want
    assert changes(table.text(), changed.text(), "t") == want


def test_a_regular_table_is_short():
    layout = GroupBy([512, 512]).OrderBy(Col(512, 512))
    assert text_of(Table.of("apply", layout[:, :])).splitlines() == [
        "table apply 512 512",
        "[0, :] 0..261632 by 512",
        "511 more rows, each + 1",
    ]


def test_all_that_a_table_may_have():
    column = np.array([0, 0, 0, 5, 5, 5, 7, 6, 9])
    table = Table((("p", 3), (":", 3)), {"a": column, "b": -column}, {"N": 6, "B": 2})
    assert text_of(table).splitlines() == [
        "sizes N=6 B=2",
        "table a p=3 :=3",
        "[0, :] 0 x 3",
        "1 more row, each + 5",
        "[2, :] 7, 6, 9",
        "table b p=3 :=3",
        "[0, :] 0 x 3",
        "1 more row, each - 5",
        "[2, :] -7, -6, -9",
    ]
    assert text_of(Table((), {"one": np.array([-3])})) == "table one\n[] -3\n"
    assert text_of(Table.of("none", np.zeros((2, 0), int))) == "table none 2 0\n"
    assert "\n# what it is\nsizes N=6 B=2\n" in table.text("what it is")


def test_a_difference_too_large_for_a_number_is_no_step():
    column = np.array([0, LEAST, 0, MOST, LEAST])
    assert text_of(Table.of("at", column.reshape(5, 1))).splitlines()[1:] == [
        "[0, :] 0",
        f"1 more row, each - {2**63}",
        "[2, :] 0",
        f"1 more row, each + {MOST}",
        f"[4, :] {LEAST}",
    ]


# -- what is wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "t: holds no table"),
        ("# a comment\nsizes N=3\n", "t: holds no table"),
        ("table a 2\nwhat\n", "t, line 2: no line of a table: 'what'"),
        ("table a 2\n0 1\n", "line 2: no line"),
        ("[:] 0, 1\n", "line 1: no line"),
        ("1 more row, each + 1\n", "line 1: no line"),
        ("table a 2\n1 more row, each + 1\n", "line 2: no line"),
        ("table\n", "line 1: no line"),
        ("table a x\n", "line 1: no line"),
        ("table a -2 -2\n", "line 1: no line"),
        ("table a 1\n[:] 0\ntable a 1\n", "line 3: no line"),
        ("table a 1\n[:] 0\ntable b 2\n", "line 3: no line"),
        ("table a p=1\n[:] 0\ntable b q=1\n", "line 3: no line"),
        ("sizes N\n", "line 1: no line"),
        ("sizes 6\n", "line 1: no line"),
        ("table a 2\n[:] 0, x\n", "line 2: no line"),
        ("table a 2\n[:] 0,1\n", "line 2: no line"),
        ("table a 3\n[:] 0..5 by 2\n", "line 2: no line"),
        ("table a 3\n[:] 5..0\n", "line 2: no line"),
        ("table a 3\n[:] 0..4 by 0\n", "line 2: no line"),
        (f"table a 1\n[:] {2**63}\n", "line 2: no line"),
        (f"table a 2 1\n[0, :] 1\n1 more row, each + {MOST}\n", "line 3: no line"),
        ("table a 4\n[:] 7 x 99999999999\n", "line 2: 99999999999 values in a row of 4"),
        ("table a 2\n[:] 0\n", "line 2: 1 values in a row of 2"),
        ("table a 2 2\n[0, :] 1, 2\n", "t: a has 1 rows, its axes ask for 2"),
        ("table a 2 2\n[0, :] 1, 2\n[0, :] 3, 4\n", r"line 3: row \[1, :\] wanted"),
        ("table a 2 1\n[0, :] 1\n9 more rows, each + 1\n", "line 3: more than the 2 rows"),
        ("table a 1\n[:] 1\n[:] 1\n", "t: a has 2 rows, its axes ask for 1"),
        ("table a 0\n[:] 1\n", "line 2: 1 values in a row of 0"),
        ("table a\n", "t: a has 0 rows, its axes ask for 1"),
        ("table a\n[] 1, 2\n", "line 2: 2 values in a row of 1"),
        ("table a 99999999999 99999999999\n", "t: a has 0 rows"),
    ],
)
def test_a_broken_table_is_refused(text, problem):
    with pytest.raises(GoldenError, match=problem):
        read_table(text, "t")
    assert changes(text, Table.of("a", np.zeros(2, int)).text(), "t") == []


@pytest.mark.slow
@given(tables(), st.data())
def test_a_text_with_a_line_less_is_no_table_or_another_one(table, data):
    lines = text_of(table).splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    text = "\n".join([*lines[:at], *lines[at + 1 :]])
    try:
        found = read_table(text, "t")
    except GoldenError:
        return
    assert differences(table, found)


@pytest.mark.parametrize(
    "table",
    [
        Table.of("two words", np.zeros(1, int)),
        Table.of("", np.zeros(1, int)),
        Table((("p q", 1),), {"a": np.zeros(1, int)}),
        Table((), {"a": np.zeros(1, int)}, {"N\n": 1}),
    ],
)
def test_a_name_is_one_word(table):
    with pytest.raises(GoldenError, match="a name is one word"):
        table.text()


def test_differences_of_names_axes_and_sizes():
    two = Table.of("apply", np.zeros((2, 3), int))
    assert differences(two, Table.of("apply", np.zeros((3, 2), int))) == ["apply over 2 3 -> 3 2"]
    named = Table((("p", 1),), {"a": np.array([1]), "b": np.array([2])}, {"N": 6})
    other = Table((("p", 1),), {"b": np.array([3]), "c": np.array([2])}, {"N": 8})
    assert differences(named, other) == [
        "sizes N=6 -> N=8",
        "a is gone",
        "c is new",
        "b[0]: 2 -> 3",
    ]
    moved = Table((("q", 1),), named.columns, named.sizes)
    assert differences(named, moved) == ["a, b over p=1 -> q=1"]
    bare = Table((), {"a": np.array([1])})
    assert differences(bare, named) == ["sizes none -> N=6", "a over no axes -> p=1"]


def test_the_first_differences_are_shown():
    old, new = (Table.of("at", np.full(50, k)) for k in (0, 1))
    lines = differences(old, new)
    assert len(lines) == 21
    assert lines[0] == "at[0]: 0 -> 1" and lines[-1] == "and 30 more of 50"
