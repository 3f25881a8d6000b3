"""Lookup: a layout given as data; constant tables in every language, and tables as parameters."""

import json
import random
import subprocess
import sys

import numpy as np
import pytest
from conftest import TARGETS

from lego_emit import (
    Col,
    ExpandBy,
    GroupBy,
    LegoError,
    Lookup,
    OrderBy,
    Row,
    TileBy,
    generate,
    symbols,
)
from lego_emit.arith.evaluate import evaluate
from lego_emit.arith.sympy_nodes import TableLookup
from lego_emit.errors import (
    InternalError,
    InverseError,
    LayoutError,
    TargetError,
    ToolchainError,
    TraceError,
    VerifyError,
)
from lego_emit.ir.index_types import INT32
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Function, Header, Param, Program
from lego_emit.pipeline import build_program
from lego_emit.proofcheck.check import check
from lego_emit.run import registry
from lego_emit.table_lookup import Entries
from lego_emit.trace.same import same_map

SHADERS = ("glsl", "wgsl")
ODD = [6, 1, 9, 0, 10, 3, 2, 8, 4, 5, 7]  # no formula is known
PERM = [20, 11, 23, 17, 21, 13, 5, 10, 9, 6, 0, 7, 1, 19, 16, 12, 22, 14, 15, 3, 8, 2, 18, 4]


def shuffled(n, seed=0):
    values = list(range(n))
    random.Random(seed).shuffle(values)
    return values


# -- the block -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dims", [[24], [4, 6], [2, 3, 4]])
def test_a_permutation_is_its_table_both_ways(dims):
    layout = Lookup(dims, PERM)
    index = np.indices(dims).reshape(len(dims), -1)
    assert layout.apply(*index).tolist() == PERM
    assert [layout.apply(*map(int, at)) for at in index.T] == PERM
    back = np.stack(layout.inv(np.array(PERM)))
    assert (back == index).all()
    assert layout.inv(PERM[5]) == tuple(map(int, index[:, 5]))
    assert layout.has_inverse and layout.physical_size == 24
    assert layout.check() == "24 indices: a bijection onto 0..23, inv undoes apply"


def test_a_table_has_many_spellings(tmp_path):
    array = np.array(PERM)
    np.save(tmp_path / "p.npy", array.astype(np.uint8))
    np.save(tmp_path / "q.npy", array.reshape(4, 6))
    (tmp_path / "p.csv").write_text("\n".join(map(str, PERM)))
    rows = [", ".join(map(str, row)) for row in array.reshape(4, 6)]
    (tmp_path / "q.csv").write_text("# four rows\n" + "\n".join(rows) + "\n")
    (tmp_path / "p.txt").write_text(" ".join(map(str, PERM)))
    files = [tmp_path / name for name in ("p.npy", "q.npy", "p.csv", "q.csv", "p.txt")]
    given = [PERM, tuple(PERM), array, array.reshape(4, 6), array.reshape(4, 6).tolist()]
    layouts = [Lookup([4, 6], table) for table in (*given, *files, *map(str, files))]
    assert all(one == layouts[0] and hash(one) == hash(layouts[0]) for one in layouts)
    assert Lookup([24], PERM) != layouts[0] != Lookup([4, 6], PERM[::-1])
    assert repr(layouts[0]) == "Lookup([4, 6], [20, 11, 23, 17, 21, 13, 5, 10, .., 4])"
    assert eval(repr(Lookup([3], [2, 0, 1]))) == Lookup([3], range(2, 5)[:0] or [2, 0, 1])


def test_a_map_has_no_inverse():
    spread = Lookup([4], [0, 7, 2, 5])
    assert not spread.has_inverse and spread.physical_size == 8
    assert spread.check() == "4 indices: injective into 0..7, no inverse"
    shared = Lookup([2, 2], [3, 0, 3, 1], many=True)
    assert shared.physical_size == 4 and repr(shared).endswith("many=True)")
    with pytest.raises(InverseError, match="has no inverse"):
        shared.inv(0)
    assert Lookup([3], [2, 1, 0], many=True).has_inverse, "it is one all the same"
    assert TileBy([2, 1], [2, 1]).OrderBy(spread).apply(1, 0, 0, 0) == 2
    with pytest.raises(LayoutError, match="must be the last step"):
        GroupBy([4]).OrderBy(spread).OrderBy(Col(2, 2))


def test_it_is_a_block_as_others():
    perm = Lookup([4, 6], PERM)
    table = np.array(PERM).reshape(4, 6)
    assert (perm[1, :] == table[1]).all() and (perm[::2, 1::3] == table[::2, 1::3]).all()
    chain = GroupBy([4, 6]).OrderBy(Col(4, 6)).OrderBy(perm)
    assert [chain.apply(*at) for at in np.ndindex(4, 6)] == [
        PERM[i + 4 * j] for i, j in np.ndindex(4, 6)
    ]
    assert same_map(perm.inverse() @ perm, GroupBy([4, 6]))
    assert same_map(perm, chain).verdict is False
    assert ExpandBy([3, 6], [4, 6], GroupBy([4, 6]).OrderBy(perm)).check()


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Lookup([6], [0, 1, 2, 3, 4, 4]), ["4 stands at [4] and at [5]", "5 nowhere"]),
        (lambda: Lookup([2, 2], [0, 3, 1, 0]), ["at [0, 0] and at [1, 1]", "2 nowhere", "many"]),
        (lambda: Lookup([3], [1, 3, 2]), ["permutation of 1..3", "subtract 1"]),
        (lambda: Lookup([6], [0, 1]), ["2 entries for 6 indices", "row-major"]),
        (lambda: Lookup([2, 3], np.zeros((3, 2), int)), ["3*2 = 6 entries for 2*3 = 6"]),
        (lambda: Lookup([2], [0, -1]), ["entry [1] is -1", "at least 0"]),
        (lambda: Lookup([2], [2**70, 1]), ["entry [0] is", "below 2**63"]),
        (lambda: Lookup([2], [1.0, 0.5]), ["0.5", "not an integer", "astype(int)"]),
        (lambda: Lookup([2], [True, False]), ["True", "not an integer"]),
        (lambda: Lookup([2], ["0", "1"]), ["'0'", "not an integer"]),
        (lambda: Lookup([2], [0, "1"]), ["'1'", "not an integer"]),
        (lambda: Lookup([2], [0, 2**63]), ["entry [1] is 9223372036854775808", "below 2**63"]),
        (lambda: Lookup([2], []), ["0 entries for 2 indices"]),
        (lambda: Lookup([2], [[0], [1, 2]]), ["not of one length"]),
        (lambda: Lookup([2], None), ["None", "a list or an array"]),
        (lambda: Lookup([2], {0: 1}), ["{0: 1}", "a list or an array"]),
        (lambda: Lookup([2], "no such.csv"), ["'no such.csv' cannot be read"]),
        (lambda: Lookup([2], "a b"), ["neither a name nor a file", ".npy"]),
        (lambda: Lookup([symbols("n")], [0]), ["the sizes of a table that is given are integers"]),
        (lambda: Lookup([2**25], "perm.npy"), ["at most 16777216"]),
        (lambda: Lookup([2], [False, True]), ["False in the table is not an integer"]),
        (lambda: Lookup([2], [0, True], many=True), ["True in the table is not an integer"]),
        (lambda: Lookup([2], np.ma.array([0, 1], mask=[0, 1])), ["a masked array", "filled()"]),
        (lambda: Lookup([2], [0, 1], below=3), ["known at run time only", "leave it out"]),
        (lambda: Lookup([2], "t", below=0), ["below is 0", "at least 1"]),
        (lambda: Lookup([2], "t", below="M"), ["below is 'M'", "symbols('M')"]),
    ],
)
def test_what_is_no_table_is_refused(make, words):
    with pytest.raises(LayoutError) as caught:
        make()
    assert all(word in str(caught.value) for word in words), caught.value


HEADER = "{{'descr': '<i8', 'fortran_order': False, 'shape': ({},), }}"  # of an .npy


def headed(text):
    """An .npy without entries."""
    return b"\x93NUMPY\x01\x00" + bytes([118, 0]) + text.encode().ljust(117) + b"\n"


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("t.csv", b"1, x", "line 1: not integers: '1, x'"),
        ("t.csv", b"1\n1_0", "line 2: not integers: '1_0'"),
        ("t.csv", b"0,,1", "line 1: no entry between two commas"),
        ("t.csv", b"9" * 5000, "line 1: not integers: '999"),
        ("t.csv", b"\xff\xfe1", "not UTF-8 text"),
        ("t.npy", b"1, 0", "no array that numpy.save wrote"),
        ("t.npy", headed(HEADER.format(10**12)), "no array that numpy.save wrote"),
        ("t.npy", headed("[" * 100), "no array that numpy.save wrote"),
        ("t.txt", b"", "0 entries for 2 indices"),
        ("t.txt", b"# none\n\n", "0 entries for 2 indices"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LayoutError) as caught:
        Lookup([2], tmp_path / name)
    assert words in str(caught.value), caught.value


def test_numbers_in_a_file(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbf02, 0x1,\r\n0, +3,\r\n")
    assert Lookup([2, 2], tmp_path / "t.csv") == Lookup([2, 2], [2, 1, 0, 3])


def test_a_layout_that_is_recognized_takes_the_place_of_the_table():
    columns = Lookup([4, 6], np.arange(24).reshape(6, 4).T)
    unit = generate(columns, "cpp")
    assert "table" not in unit.source and "4 * j + i" in unit.source
    assert "table" not in str(unit.functions[1])
    assert columns.apply(1, 2) == 9, "the reference reads the table"


# -- over symbols --------------------------------------------------------------------------------


def test_the_range_of_a_look_up_is_that_of_its_entries():
    def f(i, k):
        return Lookup([6], [5, 9, 7, 9, 6, 9])[i] * 10 + k // 100 % 10

    unit = generate(f, "cpp", cost="ops")
    assert "<= the result < 100" in unit.source and unit.functions[0].op_count == 5
    inner = generate(
        lambda i: Lookup([6], [5, 9, 7, 9, 6, 9])[i // 3 + 2], "cpp", ranges={"i": (0, 6)}
    )
    assert inner.functions[0].result_range == "7 <= the result < 10", "of the places 2 and 3 alone"


def test_a_look_up_is_simplified_like_any_value():
    perm = Lookup([4, 6], PERM)
    n = symbols("N")

    def f(i, j, k):
        return GroupBy([n, 24]).OrderBy(Col(n, 24))[k, perm[i, j]]

    (function,) = generate(f, "cpp").functions
    assert function.op_count == 5
    values = {"i": 2, "j": 3, "k": 4, "N": 7}
    assert function.evaluate(values) == {"result": 7 * PERM[15] + 4}


def test_a_branch_that_is_not_taken_reads_nothing_outside():
    def f(x, y):
        return Lookup([4, 6], PERM)[x // 2, y] if x < 8 else 5

    for target in ("cpp", "fortran"):
        (function,) = generate(f, target).functions
        for x in (0, 7, 8, 1000, 2**40):
            want = PERM[x // 2 * 6 + 5] if x < 8 else 5
            assert [*function.evaluate({"x": x, "y": 5}).values()] == [want]
        places = [n.args[1] for n in function.nodes() if n.op == "lookup"]
        assert all((p.lo, p.hi) == (0, 23) for p in places)


def test_a_small_formula_is_found_for_a_table():
    tables = {
        "2 * i": [0, 2, 4, 6, 8, 10],
        "i >> 1": [0, 0, 1, 1, 2, 2],
        "5 - i": [5, 4, 3, 2, 1, 0],
        "(i >> 1) ^ i": [i ^ i >> 1 for i in range(32)],
    }
    for text, table in tables.items():
        unit = generate(Lookup([len(table)], table, many=True), "cpp")
        assert f"return {text};" in unit.source and "layout_detail::table[" not in unit.source


LINEAR = [
    sum(c * (x >> k & 1) for k, c in enumerate([1, 16, 2, 32, 4, 64, 8, 128])) for x in range(256)
]
JOINED = [x ^ x >> 1 ^ 37 * (x & 1) ^ 90 * (x >> 4 & 1) ^ 53 * (x >> 6 & 1) for x in range(256)]


def looks_up(function):
    return any(node.op == "lookup" for node in function.nodes())


@pytest.mark.parametrize(
    "table, cheaper",
    [
        ([x * 16 % 256 + x // 16 for x in range(256)], False),
        ([x ^ x >> 1 for x in range(256)], False),
        ([x % 4 * 6 + x // 4 for x in range(24)], False),
        (LINEAR, True),
        (JOINED, True),
    ],
)
def test_a_table_stays_where_it_is_cheaper(table, cheaper):
    """On a CPU; on a GPU a formula is never dearer."""
    layout = Lookup([len(table)], table, many=True)
    for target in ("c", "cuda", "glsl"):
        function = generate(layout, target).functions[0]
        assert looks_up(function) == (cheaper and target == "c"), function
        assert [[*function.evaluate({"i": x}).values()] for x in range(len(table))] == [
            [position] for position in table
        ]


def test_a_table_is_priced_inside_of_a_sum():
    """With what stands beside it, each function by itself."""

    def far(i, j):
        return 256 * j + Lookup([256], JOINED, many=True)[i] % 16

    def near(i, j):
        return 256 * j + Lookup([256], [x ^ x >> 1 for x in range(256)])[i]

    unit = generate([far, near], "c", ranges={"j": (0, 8)})
    assert [looks_up(f) for f in unit.functions] == [True, False]
    for i in range(256):
        assert unit.functions[0].evaluate({"i": i, "j": 3}) == {"result": 768 + JOINED[i] % 16}


def test_a_large_table_has_its_formula():
    """It would not stay in the nearest cache."""
    table = [x ^ x >> 1 ^ 37 * (x & 1) ^ 90 * (x >> 4 & 1) ^ 53 * (x >> 6 & 1) for x in range(2048)]
    assert not looks_up(generate(Lookup([2048], table, many=True), "c").functions[0])


@pytest.mark.parametrize("cost", ["ops", "latency"])
@pytest.mark.parametrize("target", ["c", "cuda", "python", "numpy", "javascript"])
def test_a_table_stays_where_it_is_asked_for(target, cost):
    table = [0, 2, 4, 1, 3, 5, 7, 6]
    kept = Lookup([8], table, as_table=True)
    functions = generate(kept, target, cost=cost).functions
    assert all(map(looks_up, functions)) and len(functions) == 2
    position = generate(lambda i: 4 * kept[i] + 1, target, cost=cost, ranges={"i": (0, 8)})
    assert looks_up(position.functions[0])
    for x in range(8):
        assert position.functions[0].evaluate({"i": x}) == {"result": 4 * table[x] + 1}
        assert [*functions[1].evaluate({functions[1].params[0].name: table[x]}).values()] == [x]


def test_what_is_kept_a_table_says_so():
    kept, plain = Lookup([4], [0, 1, 3, 2], as_table=True), Lookup([4], [0, 1, 3, 2])
    assert repr(kept) == "Lookup([4], [0, 1, 3, 2], as_table=True)" and eval(repr(kept)) == kept
    assert kept != plain and same_map(kept, plain)
    assert kept.apply(2) == 3 and kept.inv(3) == (2,) and kept.check()
    given = Lookup([symbols("n")], "perm", as_table=True)
    assert repr(given) == "Lookup([n], 'perm', as_table=True)"
    assert looks_up(generate(given, "c", sizes={"n": 4}).functions[0])
    chain = GroupBy([4]).OrderBy(kept)
    assert looks_up(generate(chain, "c").functions[0])
    assert looks_up(generate(kept.inverse(), "c").functions[0])
    with pytest.raises(LayoutError, match="as_table is 1; give True"):
        Lookup([4], [0, 1, 3, 2], as_table=1)


@pytest.mark.slow
def test_what_is_kept_a_table_is_verified_and_certified():
    kept = Lookup([16, 16], LINEAR, as_table=True)
    runs("c")
    unit = generate(kept, "c")
    assert unit.verify() and all(map(looks_up, unit.functions))
    assert check(json.loads(unit.certificate().json), unit.source, kept)


@pytest.mark.slow
def test_the_same_everywhere():
    def text(seed):
        code = (
            "from lego_emit import Lookup, generate; "
            f"print(generate({{'a': Lookup([4, 6], {PERM}), 'b': Lookup([3], [1, 0, 2])}}, 'cpp'))"
        )
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
                              capture_output=True, text=True, check=True)  # fmt: skip
        return done.stdout

    assert text("1") == text("2")


def test_the_value_of_a_look_up_over_numbers():
    i = symbols("i")
    e = Lookup([6], [5, 3, 4, 0, 2, 1]).apply(i)
    assert [evaluate(e, {"i": k}) for k in range(6)] == [5, 3, 4, 0, 2, 1]
    with pytest.raises(ArithmeticError):
        evaluate(e, {"i": 6})
    assert repr(e) == "table[i]"


# -- the operation -------------------------------------------------------------------------------


def test_a_program_whose_place_is_not_proven_is_none():
    table = Node("table", (), Entries("table", (3, 1)), 1, 3)
    for hi in (2, None):
        found = Node("lookup", (table, Node("var", (), "i", 0, hi)))
        function = Function("f", (Param("i"),), (), (("r", found),), INT32)
        with pytest.raises(InternalError, match="place"):
            Program("f", (function,)).check()


@pytest.mark.slow
def test_names_in_the_file_are_not_the_users():
    def table(inverse, place):
        return Lookup([11], ODD)[inverse] + place

    def inverse(table):
        return Lookup([11], ODD)[table]

    for target in TARGETS:
        unit = generate([table, inverse], target)
        own = unit.functions[0].nodes()
        (entries,) = {n.value for n in own if n.op == "table"}
        taken = {"table", "inverse", "place"}
        assert entries.name not in taken, "capitals are others, where a language has them"
        assert target != "fortran" or entries.name.lower() not in taken
        assert unit.functions[0].name == "table"
        assert unit.functions[1].name in ("inverse", "inverse_v"), "GLSL has an inverse"


def test_two_index_types_have_two_tables():
    def wide(i, n):
        return Lookup([11], ODD)[i] * n

    def narrow(i):
        return Lookup([11], ODD)[i]

    unit = generate({"wide": wide, "narrow": narrow}, "cpp")
    assert [t for _, t in unit.program.tables] == ["int64", "int32"]
    assert len({e.name for e, _ in unit.program.tables}) == 2


def test_long_tables_evaluate_and_are_not_emitted():
    values = shuffled(4097)
    layout = Lookup([4097], values)
    assert layout.apply(np.arange(4097)).tolist() == values
    with pytest.raises(TargetError, match="4097 entries; a file holds at most 4096"):
        generate(layout, "cpp")


def test_the_seam_to_sympy():
    import sympy

    i, j = sympy.symbols("i j", integer=True)
    unit = generate(Lookup([4, 6], PERM), "cpp")
    e = unit.sympy["layout_apply"].expressions["flat"]
    assert e.subs({i: 2, j: 3}) == PERM[15]
    assert sympy.lambdify((i, j), e)(2, 3) == PERM[15]
    again = generate(e, "cpp", name="again", ranges={"i": (0, 4), "j": (0, 6)})
    assert again.functions[0].outputs[0][1] == unit.functions[0].outputs[0][1]
    table = TableLookup(sympy.Tuple(4, 1, 6), i)
    (unproven,) = generate(table, "cpp", name="f").functions
    assert [unproven.evaluate({"i": k})["result"] for k in (-5, 0, 1, 2, 9)] == [4, 4, 1, 6, 6]
    with pytest.raises(TraceError, match=r"a table is a sympy\.Tuple"):
        generate(TableLookup(j, i), "cpp", name="f")


def test_a_nest_and_a_time_of_a_table():
    from lego_emit.measure.nest import naive

    apply, _ = naive(Lookup([11], ODD))
    with pytest.raises(LayoutError, match="no nest for a table of 11 entries"):
        apply(1)
    lines = str(generate(Lookup([4, 6], PERM), "cpp").explain())
    assert "flat = table[i*6 + j]" in lines and "flat = table[6*i + j]" in lines


# -- in every language ---------------------------------------------------------------------------


def runs(target):
    try:
        registry.toolchain(target).find()
    except ToolchainError as error:
        pytest.skip(str(error))


@pytest.mark.deep
@pytest.mark.parametrize("target", TARGETS)
def test_random_permutations_are_verified(target):
    runs(target)
    layouts = [Lookup([97], shuffled(97)), Lookup([16, 8], shuffled(128, 1))]
    if target not in SHADERS:  # llvmpipe takes long
        layouts.append(Lookup([64, 64], shuffled(4096, 2)))
    for layout in layouts:
        assert generate(layout, target).verify()


@pytest.mark.slow
def test_tables_of_two_index_types_are_verified():
    runs("cpp")
    functions = {
        "wide": lambda i, n: Lookup([11], ODD)[i] * n,
        "narrow": lambda i: Lookup([11], ODD)[i],
    }
    assert generate(functions, "cpp").verify(sizes={"n": 5})


@pytest.mark.slow
@pytest.mark.parametrize(
    "target", ["c", "cpp", "rust", "fortran", "julia", "javascript", "python", "numpy"]
)
def test_wide_entries_are_verified(target):
    runs(target)
    draw = random.Random(5)
    values = [draw.randrange(2**52) for _ in range(4096)]
    assert generate(Lookup([4096], values), target).verify()
    if target not in ("fortran", "javascript", "numpy"):
        assert generate(Lookup([128], shuffled(128)), target, index_type="uint64").verify()
    if target == "javascript":
        assert generate(Lookup([128], shuffled(128)), target, index_type="int64").verify()


# -- tables that are known at run time only ------------------------------------------------------


def test_a_name_is_a_table_of_run_time():
    layout = Lookup([4, 6], "perm")
    assert repr(layout) == "Lookup([4, 6], 'perm')" and layout.physical_size == 24
    assert layout != Lookup([24], "perm") and layout == Lookup([4, 6], "perm")
    for use in (lambda: layout.apply(1, 2), layout.check, lambda: layout[1, :]):
        with pytest.raises(LayoutError, match="known at run time only"):
            use()
    with pytest.raises(InverseError):
        layout.inv(3)
    unit = generate(layout, "cpp")
    assert [t.name for t in unit.functions[0].tables] == ["perm"]
    assert not unit.program.tables and len(unit.functions) == 1
    for use in (unit.verify, unit.time):
        with pytest.raises(VerifyError, match="given the table perm at run time"):
            use()


def test_a_table_of_run_time_has_no_array_form():
    with pytest.raises(TraceError, match="no array form"):
        generate(lambda i: Lookup([4, 6], "perm")[i, :], "cpp")


@pytest.mark.parametrize("target", SHADERS)
def test_shaders_give_functions_no_tables(target):
    with pytest.raises(TargetError, match=rf"{target.upper()} gives functions no tables"):
        generate(Lookup([4, 6], "perm"), target)


def test_the_header_says_what_a_table_of_run_time_holds():
    def f(i, perm):
        return Lookup([24], "perm")[i] + perm

    for target in set(TARGETS) - {*SHADERS}:
        text = generate(f, target).source
        assert "24 entries, 0 <= each < 24" in text.replace("`", "")
        assert "perm_2" in text and "perm is perm_2" in text.replace("`", ""), "a parameter has it"


@pytest.mark.parametrize("target", sorted(set(TARGETS) - set(SHADERS)))
def test_the_header_says_what_a_table_over_sizes_holds(target):
    layout = Lookup([*symbols("N M")], "map", below=3 * symbols("K"))
    (function,) = generate(layout, target).functions
    count, each = Header(function).table_ranges[0]
    assert count == "M*N" and each == "0 <= each < 3*K"
    assert function.result_range == "0 <= the result < 3*K"
    assert {"N", "M", "K"} <= {old for old, _ in function.renamed} | {
        p.name for p in function.params
    }


def test_a_table_over_sizes_is_a_layout():
    n, m = symbols("N M")
    owner = Lookup([n, m], "owner")
    assert repr(owner) == "Lookup([N, M], 'owner')" and owner == Lookup([n, m], "owner")
    mapped = Lookup([n], "map", below=m)
    assert repr(mapped) == "Lookup([N], 'map', below=M)" and mapped != Lookup([n], "map")
    assert Lookup([n], "map", many=True) != Lookup([n], "map"), "the promise is another one"
    for layout in (owner, mapped):
        with pytest.raises(InverseError):
            layout.inv(0)
        fixed = generate(layout, "cpp", sizes={"N": 5, "M": 7})
        assert ("35" if layout == owner else "5") == Header(fixed.functions[0]).table_ranges[0][0]
    with pytest.raises(InverseError, match="the inverse table is another Lookup"):
        owner.inv(0)
    assert [p.name for p in generate(mapped, "cpp").functions[0].params] == ["N", "M", "i"]


def test_a_promised_permutation_stands_beside_others():
    n = symbols("N")
    tiles = GroupBy([n, 4]).OrderBy(Row(n), Lookup([4], "t"))
    assert generate(tiles, "cpp").functions[0].result_range == "0 <= the result < 4*N"
    chained = GroupBy([n]).OrderBy(Lookup([n], "t")).OrderBy(Row(n))
    assert len(generate(chained, "cpp").functions) == 1
    for table in (Lookup([4], "t", many=True), Lookup([4], "t", below=4)):
        with pytest.raises(LayoutError, match="must stand alone"):
            OrderBy(Row(n), table)


def test_the_users_name_wins_over_a_constant_table():
    def f(i, j):
        return Lookup([11], ODD)[i] + Lookup([5], "table")[j]

    for target in sorted(set(TARGETS) - set(SHADERS)):
        (function,) = generate(f, target).functions
        assert [t.name for t in function.tables] == ["table"], target
        assert "table" not in dict(function.renamed)


def given(i, j, k, N, M, K):
    tile = GroupBy([N, 4]).OrderBy(Row(N), Lookup([4], "order"))
    at = tile[Lookup([M, K], "owner", below=N)[i, j], k]
    return at if i + j < 9 else Lookup([4 * N], "table")[at]


SIZES = {"N": 9, "M": 7, "K": 5}
DRAW = random.Random(3)
TABLES = {
    "order": DRAW.sample(range(4), 4),
    "owner": [DRAW.randrange(9) for _ in range(35)],
    "table": DRAW.sample(range(36), 36),
}


def want(i, j, k):
    at = 4 * TABLES["owner"][5 * i + j] + TABLES["order"][k]
    return at if i + j < 9 else TABLES["table"][at]


POINTS = [(i, j, k) for i in range(7) for j in range(5) for k in range(4)]
WANTED = [want(*point) for point in POINTS]
CALL = "given(i, j, k, 9, 7, 5, owner, order, table)"
LOOPS = "".join(
    f"for (int {v} = 0; {v} < {n}; ++{v}) " for v, n in zip("ijk", (7, 5, 4), strict=True)
)


def defined(form):
    """The tables; form has {name}, {n} and {list}."""
    return "".join(
        form.format(name=name, n=len(values), list=", ".join(map(str, values))) + "\n"
        for name, values in TABLES.items()
    )


PROGRAMS = {
    "c": (
        "main.c",
        '#include "given.h"\n#include <stdio.h>\n'
        + defined("static const int64_t {name}[] = {{{list}}};")
        + f'int main(void) {{ {LOOPS} printf("%d ", (int){CALL}); return 0; }}\n',
        ["gcc -std=c99 -pedantic -Wall -Wextra -Wconversion -Werror main.c -o main", "./main"],
    ),
    "cpp": (
        "main.cpp",
        '#include "given.hpp"\n#include <cstdio>\n'
        + defined("constexpr std::int64_t {name}[] = {{{list}}};")
        + f"static_assert(lego::{CALL.replace('i, j, k', '6, 4, 3')} == {WANTED[-1]});\n"
        + f'int main() {{ {LOOPS} std::printf("%d ", static_cast<int>(lego::{CALL})); }}\n',
        ["g++ -std=c++17 -Wall -Wextra -Wconversion -Wsign-conversion -Werror main.cpp -o main", "./main"],
    ),
    "rust": (
        "main.rs",
        "#![deny(warnings)]\nmod given;\nfn main() {\n"
        + defined("let {name}: &[i64] = &[{list}];")
        + "for i in 0..7 { for j in 0..5 { for k in 0..4 { "
        + f'print!("{{}} ", given::{CALL}); }} }} }}\n}}\n',
        ["rustc main.rs -o main", "./main"],
    ),
    "fortran": (
        "main.f90",
        "program main\n use, intrinsic :: iso_fortran_env, only: int64\n use given_mod\n"
        " implicit none\n integer(int64) :: i, j, k\n"
        + defined(" integer(int64) :: {name}({n}) = [{list}]")
        + " do i = 0, 6\n do j = 0, 4\n do k = 0, 3\n print *, "
        + CALL.replace("9, 7, 5", "9_int64, 7_int64, 5_int64")
        + "\n end do\n end do\n end do\nend program\n",
        ["gfortran -std=f2018 -Wall -Wextra -Werror -ffree-line-length-none given.f90 main.f90 -o main", "./main"],
    ),
    "julia": (
        "main.jl",
        'include("given.jl")\n'
        + defined("{name} = [{list}]")
        + f"for i in 0:6, j in 0:4, k in 0:3; println(Given.{CALL}); end\n",
        ["julia --startup-file=no main.jl"],
    ),
    "javascript": (
        "main.mjs",
        'import { given } from "./given.mjs";\n'
        + defined("const {name} = [{list}];")
        + LOOPS.replace("int", "let") + f"console.log({CALL});\n",
        ["node main.mjs"],
    ),
    "python": (
        "main.py",
        "from given import given\n"
        + defined("{name} = [{list}]")
        + f"for i in range(7):\n for j in range(5):\n  for k in range(4): print({CALL})\n",
        [f"{sys.executable} main.py"],
    ),
    "numpy": (
        "main.py",
        "import numpy\nfrom given import given\n"
        + defined("{name} = numpy.array([{list}])")
        + f"i, j, k = numpy.indices((7, 5, 4))\nprint(*{CALL}.ravel())\n",
        [f"{sys.executable} main.py"],
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("target", PROGRAMS)
def test_a_table_of_run_time_is_a_parameter(target, tmp_path):
    runs(target)
    name, text, commands = PROGRAMS[target]
    unit = generate(given, target)
    assert [t.name for t in unit.functions[0].tables] == ["owner", "order", "table"]
    unit.save(tmp_path / f"given{unit.printer.extension}")
    (tmp_path / name).write_text(text)
    said = ""
    for command in commands:
        done = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        said = done.stdout
    assert [*map(int, said.split())] == WANTED


@pytest.mark.parametrize("target", ["python", "numpy"])
def test_a_branch_that_is_not_taken_reads_no_place_beyond_a_size(target):
    def guarded(i, N, M):
        one = Lookup([N, M], "t")[i // M, i % M] if (i >= 0) & (i < N * M) else 7
        return one + (Lookup([N, M], "t")[i // M, i % M] if (i >= 2) & (i < N * M) else 0)

    unit = generate(guarded, target, ranges={"M": (1, None)})
    space = {"__name__": "guarded"}
    exec(unit.source, space)
    table = np.array([3, 1, 5, 0, 2, 4])
    for i in (-9, -1, 0, 1, 2, 5, 6, 100):
        wanted = (int(table[i]) if 0 <= i < 6 else 7) + (int(table[i]) if 2 <= i < 6 else 0)
        assert space["guarded"](np.int64(i) if target == "numpy" else i, 2, 3, table) == wanted


def test_no_entry_of_a_table_of_run_time_is_known():
    table = Entries("perm", size=24)
    assert (len(table), table.least, table.most, table.between(3, 5)) == (24, 0, 23, (0, 23))
    with pytest.raises(ArithmeticError):
        table.at(3)
    assert Entries("perm", size=24).named("p") == Entries("p", size=24)
    with pytest.raises(LegoError):
        Lookup([1], "perm").apply(0)


LATE = [37, 171, 2, 96, 10**12, 10**9, 10**11, 10**7]  # only what no index below reaches is large
SPARSE = [37, 10**12, 171, 10**11, 2, 10**9, 96, 10**12]
REACHED = {
    "a remainder": (LATE, lambda L, i: L[i % 4], {}),
    "a range": (LATE, lambda L, i: L[i], {"ranges": {"i": (0, 4)}}),
    "a constraint": (LATE, lambda L, i, j: L[i + j], {"assume": ["0 <= i", "0 <= j", "i + j <= 3"]}),
    "a branch": (LATE, lambda L, i: L[i] if i < 4 else 0, {"ranges": {"i": (0, 8)}}),
    "steps": (SPARSE, lambda L, i: L[2 * (i % 4)], {}),
    "steps from the end": (SPARSE, lambda L, i: L[6 - 2 * (i % 4)], {}),
    "steps of two indices": (SPARSE, lambda L, i, j: L[4 * (i % 2) + 2 * (j % 2)], {}),
    "steps of a range": (SPARSE, lambda L, i: L[2 * i], {"ranges": {"i": (0, 4)}}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", REACHED)
def test_the_entries_that_are_reached_bound_a_look_up(case):
    values, fn, options = REACHED[case]
    names = fn.__code__.co_varnames[1 : fn.__code__.co_argcount]
    table = Lookup([8], values, many=True)

    def built(change):
        named = {1: lambda i: change(fn(table, i)), 2: lambda i, j: change(fn(table, i, j))}
        printer = registry.printer("cpp")
        return build_program(named[len(names)], printer, **options).functions[0]

    quarter = built(lambda entry: entry // 172)
    assert (quarter.op_count, quarter.evaluate(dict.fromkeys(names, 1))) == (0, {"result": 0})
    found = built(lambda entry: 10**8 * entry + 1)
    assert max(node.hi for _, node in found.outputs) == 171 * 10**8 + 1


@pytest.mark.slow
def test_a_branch_on_an_entry_bounds_what_is_looked_up_there():
    table = Lookup([8], LATE, many=True)

    def f(i, j):
        if table[i] + j <= 40 and j >= 0:
            return table[i] + j
        return table[j] if table[j] > table[i] else 0

    (found,) = build_program(
        f, registry.printer("cpp"), ranges={"i": (0, 4), "j": (0, 4)}
    ).functions
    for i in range(4):
        for j in range(4):
            assert found.evaluate({"i": i, "j": j}) == {"result": f(i, j)}


@pytest.mark.slow
def test_entries_that_no_index_reaches_are_left_out():
    late, odd = (Lookup([8], values, many=True) for values in (LATE, SPARSE))
    for fn in (lambda i: late[i] * 7 + i, lambda i: odd[2 * i] * 7 + i):
        unit = generate(fn, "cpp", ranges={"i": (0, 4)}, index_type="int32", name="f")
        ((table, _),) = unit.program.tables
        assert table.values == (37, 171, 2, 96)
    twice = generate(lambda i: late[i % 2] + late[i % 6], "c", name="f")
    assert [t.values for t, _ in twice.program.tables] == [tuple(LATE[:6])]


@pytest.mark.parametrize("make", [list, np.array, lambda values: np.array(values, np.uint16)])
def test_entries_of_a_large_table_are_not_asked_one_by_one(make, monkeypatch):
    from lego_emit.algebra import lookup

    asked = []
    monkeypatch.setattr(lookup, "is_integer", lambda x: not asked.append(x))
    values = random.Random(35).sample(range(2**16), 2**16)
    layout = Lookup([256, 256], make(values) if make is list else make(values).reshape(256, 256))
    assert not asked
    assert layout.entries.values == tuple(values) and layout.has_inverse
    values[7] = values[9]
    with pytest.raises(LayoutError, match=f"{values[9]} stands at "):
        Lookup([2**16], make(values))
