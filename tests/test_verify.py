"""Verification over whole index spaces on the CPU, in Python and on the command line."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from lego_emit import (
    Choice,
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    OrderBy,
    RegP,
    Row,
    TileBy,
    generate,
    golden,
    symbols,
)
from lego_emit.check import host
from lego_emit.check.expected import numbers_of
from lego_emit.cli import main
from lego_emit.emitted import emit_program
from lego_emit.errors import AssumptionError, TargetError, VerifyError, WidthError
from lego_emit.ir.nodes import Node, evaluate
from lego_emit.ir.relations import between, bounds, names_in, parts, read, says
from lego_emit.run.space import space_of
from lego_emit.targets.c import CTarget
from lego_emit.types import U8

pytestmark = pytest.mark.slow

FILE = """
from lego_emit import GenP, GroupBy, OrderBy, Row


def tiled(M, N, BM, BN):
    return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))


def index_kernel(M, N, BM, BN):
    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    return L[pid_m, pid_n, :, :]


many_to_one = GroupBy([4, 4]).OrderBy(GenP([4, 4], lambda i, j: i % 2 * 4 + j))
"""
SIZES = {"M": 96, "N": 64, "BM": 32, "BN": 16}


def tiled(M, N, BM, BN):
    return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))


def index_kernel(M, N, BM, BN):
    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    return L[pid_m, pid_n, :, :]  # noqa: F821


def test_on_every_target(toolchain):
    if toolchain.name in ("glsl", "wgsl"):
        sizes, unit = {}, generate(tiled, toolchain.name, sizes=SIZES)
    else:
        sizes, unit = SIZES, generate(tiled, toolchain.name)
    found = unit.verify(sizes=sizes, reference=tiled(**SIZES))
    assert found, str(found)
    assert [c.indices for c in found.checks] == [6144] * 3


def test_a_wrong_pair_is_found_at_its_first_index(monkeypatch):
    monkeypatch.setattr(host, "CHUNK", 100)
    layout = tiled(64, 64, 8, 8)
    unit = generate(layout, "cpp")
    wrong = replace(unit, source=unit.source.replace("512 * i", "511 * i"))
    found = wrong.verify(reference=layout)
    assert not found and not found.ok
    assert found.counterexample == (
        "layout_apply(i=1, j=0, k=0, l=0) gives 511 (logical (1, 0, 0, 0), number 512 of the index "
        "space), and layout_inv(flat=511) gives (0, 7, 7, 7); 3,584 of 4,096 fail"
    )
    assert "the reference 512" in found.checks[1].found
    assert json.loads(json.dumps(found.as_dict()))["ok"] is False


def test_a_position_outside_is_found():
    unit = generate(tiled(64, 64, 8, 8), "cpp")
    wrong = replace(unit, source=unit.source.replace("512 * i", "520 * i"))
    found = wrong.verify()
    assert "is outside 0..4095" in found.counterexample or "gives" in found.counterexample
    assert not found


def test_a_wrong_layout_without_an_inverse_is_seen_by_the_reference_alone():
    layout = GroupBy([8, 8]).OrderBy(GenP([8, 8], lambda i, j: 8 * i + j))
    other = GroupBy([8, 8]).OrderBy(GenP([8, 8], lambda i, j: i + 8 * j))
    unit = generate(layout, "cpp")
    assert unit.verify() and unit.verify(reference=layout)
    found = unit.verify(reference=other)
    assert "layout_apply(i=0, j=1) gives 1, the reference 8" in found.counterexample


def test_collisions_and_gaps():
    twice = generate(GroupBy([8, 8]).OrderBy(GenP([8, 8], lambda i, j: i % 4 * 8 + j)), "cpp")
    assert twice.verify() and not twice.verify(claim="injective")
    text = str(twice.verify(claim="bijective"))
    assert "not one-to-one: (i=0, j=0) and (i=4, j=0), numbers 0 and 32, both give 0" in text
    assert "32 of the 32 possible results are given" in text
    apart = generate(GroupBy([4, 4]).OrderBy(GenP([4, 4], lambda i, j: 8 * i + 2 * j)), "cpp")
    assert apart.verify(claim="injective")
    found = apart.verify(claim="bijective")
    assert not found and "not onto: no index gives 1; 16 of the 31 possible" in found.counterexample


def test_an_index_function_and_its_bitmap():
    unit = generate(index_kernel, "cpp")
    found = unit.verify(sizes=SIZES, reference=index_kernel, claim="bijective")
    assert found and "none is left out" in str(found)
    assert [c.indices for c in found.checks] == [6144] * 3
    one_block = unit.verify(sizes={**SIZES, "pid_m": 1, "pid_n": 2}, claim="injective")
    assert one_block.checks[0].indices == 512


def test_functions_on_arrays_and_with_several_results():
    def both(i, j):
        return {"down": GroupBy([6, 4])[i, j], "right": GroupBy([6, 4])[i, j] % 3}

    unit = generate(both, "cpp", assume=["i >= 0", "j >= 0", "i < 6", "j < 4"])
    found = unit.verify(reference=both, domain={"i": 6, "j": 4})
    assert found and found.checks[-1].found == "equal", str(found)


def test_masked_positions():
    layout = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]))
    found = generate(layout, "cpp").verify(reference=layout)
    assert found and "13 are masked" in str(found)
    assert [c.indices for c in found.checks] == [48, 35, 48, 35]


def test_counting_from_one():
    layout = tiled(64, 64, 8, 8)
    assert generate(layout, "fortran", base=1).verify(reference=layout)
    masked = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]))
    assert generate(masked, "cpp", base=1).verify(reference=masked)


def test_streams_in_chunks(monkeypatch):
    monkeypatch.setattr(host, "CHUNK", 1000)
    seen = []
    layout = tiled(128, 128, 16, 16)
    found = generate(layout, "cpp").verify(
        reference=layout, samples=100, progress=lambda done, total: seen.append((done, total))
    )
    assert found and seen == [(min(k, 16384), 16384) for k in range(1000, 17001, 1000)]
    assert found.checks[1].indices >= 100


@pytest.mark.parametrize(
    "subject",
    [
        {"rows": Row(4, 6), "turned": GroupBy([6, 4]).OrderBy(RegP([6, 4], [1, 0]))},
        Choice(symbols("tag"), {0: Row(4, 6), 1: Col(4, 6)}),
    ],
)
def test_a_unit_is_compiled_once(subject, monkeypatch):
    """Of several subjects, and of a layout for each number of a tag."""
    compiled = []
    compile_all = CTarget.compile

    def counted(self, units):
        compiled.append(len(units))
        return compile_all(self, units)

    monkeypatch.setattr(CTarget, "compile", counted)
    found = generate(subject, "c", name="several").verify()
    assert found and len(found.checks) > 3
    assert compiled == [1]


def test_a_large_space_in_bounded_memory():
    layout = GroupBy([4096, 1024]).OrderBy(RegP([4096, 1024], [1, 0]))
    found = generate(layout, "cpp").verify()
    assert found and found.checks[0].indices == 2**22


def test_the_first_corner_and_the_last_are_compared():
    space = space_of(
        generate(tiled, "cpp").functions[0], {"M": 2**20, "N": 2**20, "BM": 64, "BN": 64}
    )
    numbers = numbers_of(space, 1000)
    assert numbers[0] == 0 and numbers[-1] == 2**40 - 1
    corners = {
        n
        for n in numbers.tolist()
        if all(i in (0, a.count - 1) for i, a in zip(space.at(n).values, space.axes, strict=True))
    }
    assert len(corners) == 16
    many = space.at(numbers[:5])
    assert [many.one(k) for k in range(5)] == [space.at(int(n)) for n in numbers[:5]]


@pytest.mark.parametrize(
    "text, values, expected",
    [
        ("0 <= i < M // BM", {"M": 12, "BM": 3}, [(0, None), (None, 3)]),
        ("i >= 1", {}, [(1, None)]),
        ("1 < i <= 5", {}, [(2, None), (None, 5)]),
        ("i < min(N, 4)", {"N": 9}, [(None, 3)]),
        ("0 <= i < M", {}, [(0, None), (None, None)]),
        ("i % 2 == 0", {}, [(None, None)]),
    ],
)
def test_bounds(text, values, expected):
    assert [bounds(part, "i", values) for part in parts(read(text))] == expected


def test_relations_of_a_header():
    assert evaluate(read("M % BM == 0"), {"M": 12, "BM": 3}) is True
    assert evaluate(read("M*N <= 2**63 - 1"), {"M": 2**40, "N": 2**40}) is False
    assert evaluate(read("M // N == 1"), {"M": 1, "N": 0}) is None
    assert evaluate(read("M // N == 1"), {"M": 1}) is None


@pytest.mark.parametrize(
    "text",
    [
        "0 <= i < M // BM",
        "M % (2*BM) == 0",
        "(2*M) % BM == 0",
        "N < 2**20",
        "-i - 1 < -(i // 2)",
        "i - (j - 1) >= (i // 2)*j",
        "i & 3 != j | 1",
        "i << 2 < (j ^ i) + 1",
        "min(i, 4)*j == i % j % 2",
        "i // j // 2 < i // (j*2)",
        "i < j and j > 2 and i != 1",
    ],
)
def test_a_relation_is_said_as_it_is_read(text):
    relation = read(text)
    assert says(relation) == text
    rng = np.random.default_rng(0)
    names = names_in(relation)
    columns = {n: rng.integers(-9, 10, 200).astype(object) for n in names}
    columns |= {n: np.where(c == 0, 5, c) for n, c in columns.items()}
    found = np.broadcast_to(evaluate(relation, columns), 200)
    for k in range(200):
        point = {n: int(c[k]) for n, c in columns.items()}
        assert bool(found[k]) is eval(text, {"min": min, **point}) is evaluate(relation, point)


# -- the unit's own source as its reference ------------------------------------------------------


def tampered(unit, change):
    """The unit with every node of its results changed, and printed again."""
    functions = tuple(
        replace(f, outputs=tuple((name, change(node)) for name, node in f.outputs))
        for f in unit.functions
    )
    program = replace(unit.program, functions=functions)
    return replace(unit, program=program, source=unit.printer.emit(program))


def without(value, by):
    """Changes one number of a tree into another, and nothing that the tree promises."""

    def change(node):
        if node.value == value:
            return replace(node, value=by)
        return replace(node, args=tuple(map(change, node.args)))

    return change


@pytest.mark.parametrize("base", [0, 1])
def test_wrong_code_of_a_function_is_seen(base):
    """k is an index here and counts from the base; shift and N are what they are."""

    def kernel(N, k, shift):
        return GroupBy([32]).OrderBy(RegP([8, 4], [1, 0]))[k] * N + shift

    unit = generate(kernel, "cpp", assume=["0 <= shift < 3", "N < 2**20"], base=base)
    found = unit.verify(sizes={"N": 10})
    assert found and found.checks[-1].what == "kernel and the Python function"
    assert found.checks[-1].indices == 96 and found.checks[-1].found == "equal"
    wrong = tampered(unit, without(8, 7)).verify(sizes={"N": 10})
    assert not wrong and "the reference" in wrong.counterexample, str(wrong)


def test_wrong_code_that_keeps_its_range():
    """Nothing but the function itself shows that these results are not the right ones."""

    def kernel(x):
        return x // 2 - 12 * (x // 24)

    unit = generate(kernel, "cpp", assume=["0 <= x < 100"])
    assert unit.verify()
    (output,) = unit.functions[0].outputs
    zero = Node("const", (), 0, 0, 0)
    program = replace(
        unit.program,
        functions=(replace(unit.functions[0], outputs=((output[0], zero),), body=()),),
    )
    wrong = emit_program(program, "cpp", subject=kernel).verify()
    assert wrong.counterexample.startswith("kernel(x=2) gives 0, the reference 1")


@pytest.mark.parametrize("base", [0, 1])
def test_wrong_code_of_layouts_is_seen(base):
    import sympy

    M, N = sympy.symbols("M N", integer=True)
    symbolic = GroupBy([M, N]).OrderBy(RegP([M, N], [1, 0]))
    concrete = GroupBy([6, 8]).OrderBy(RegP([6, 8], [1, 0]))

    def swap(node):  # rows for columns: a bijection, too, and another one
        names = {"i": "j", "j": "i"}
        if node.op == "var":
            return replace(node, value=names.get(node.value, node.value))
        return replace(node, args=tuple(map(swap, node.args)))

    for layout, sizes in ((symbolic, {"M": 6, "N": 6}), (concrete, {})):
        unit = generate(layout, "cpp", base=base)
        found = unit.verify(sizes=sizes)
        assert found and [c.found for c in found.checks[-2:]] == ["equal", "equal"], str(found)
        wrong = tampered(unit, swap).verify(sizes=sizes)
        assert not wrong and any("the reference" in c.found for c in wrong.checks), str(wrong)


def test_symbols_inside_the_functions_of_a_layout():
    """What a GenP's functions close over gets its number, too."""
    import sympy

    N = sympy.Symbol("N", integer=True)
    dims = (N,)

    def turned(p, dims=dims):
        return dims[0] - 1 - p if p < N else p

    reverse = GenP([N], lambda i: N - 1 - i, turned)
    unit = generate(GroupBy([N]).OrderBy(reverse), "cpp")
    found = unit.verify(sizes={"N": 9})
    assert [c.found for c in found.checks[-2:]] == ["equal", "equal"], str(found)


class Odd:
    """A function that lego_emit can follow and nobody can look into."""

    def __init__(self, n):
        self.n = n

    def __call__(self, i):
        return self.n - 1 - i


def test_a_layout_that_cannot_be_evaluated_says_so():
    import sympy

    N = sympy.Symbol("N", integer=True)
    unit = generate(GroupBy([N]).OrderBy(GenP([N], Odd(N), Odd(N))), "cpp")
    found = unit.verify(sizes={"N": 9})
    assert found and found.checks[-1].verdict == "note"
    assert found.checks[-1].found.startswith("not compared: GenP([9]"), str(found)


def test_free_names_and_colons_and_fixed_sizes():
    unit = generate(index_kernel, "fortran", sizes={"BM": 4, "BN": 2}, base=1)
    found = unit.verify(sizes={"M": 12, "N": 8})
    assert found and found.checks[-1].indices == 96 and found.checks[-1].found == "equal"
    with pytest.raises(VerifyError, match="BM is 4 in this unit, and cannot be 6"):
        unit.verify(sizes={"M": 12, "N": 8, "BM": 6})


def test_colons_of_two_layouts_are_two_axes():
    def both(M):
        return GroupBy([M, 3])[:, 1] * 5 + GroupBy([M, 2])[0, :] + GroupBy([4])[:]

    found = generate(both, "cpp").verify(sizes={"M": 4})
    assert found and found.checks[-1].indices == 32 and found.checks[-1].found == "equal"


def test_functions_that_take_no_arrays():
    def steps(i, j):
        x = GroupBy([200, 100]).OrderBy(Row(200, 100))[i, j]
        return {"a": x // 7 if i < j else x, "b": min(x, 50) if x % 3 else i}

    found = generate(steps, "cpp").verify()
    assert found and found.checks[-1].indices == 4096 and found.checks[-1].found == "equal"


def test_arrays_that_overflow_are_not_believed():
    def wide(x):
        return x * 2**40 * 2**20 // 2**50 - x * 2**10 + x // 7

    found = generate(wide, "cpp", assume=["0 <= x < 2**12"]).verify()
    assert found.checks[-1].found == "equal" and found.checks[-1].indices == 4096, str(found)


def test_functions_that_fail_on_integers():
    def odd(x, y):
        if type(x) is int:
            raise RuntimeError("symbols only")
        return x + y

    def some(x):
        return 5 // x * 0 + x

    unit = generate(odd, "cpp", assume=["0 <= x < 3", "0 <= y < 3"])
    check = unit.verify().checks[-1]
    assert check.verdict == "note" and check.indices == 0
    assert check.found == "not compared: odd: RuntimeError: symbols only at x = 0, y = 0"
    check = generate(some, "cpp", assume=["0 <= x < 3"]).verify().checks[-1]
    assert check.verdict == "ok"
    assert "1 of 3 calls of it failed, such as some: ZeroDivisionError" in check.found, check.found


def test_only_where_the_assumptions_hold():
    """An index that the header rules out is nobody's concern."""

    def kernel(x, y):
        return GroupBy([10])[x * 2 + y]

    unit = generate(kernel, "cpp", assume=["0 <= x < 8", "0 <= y < 8"])
    assert "0 <= 2*x + y < 10" in unit.functions[0].assumptions
    found = unit.verify()
    assert found and "result in 0..9 where 0 <= 2*x + y < 10" in found.checks[0].found
    assert found.checks[-1].indices == 28 and found.checks[-1].found == "equal"
    assert "(x=0, y=2) and (x=1, y=0)" in found.checks[1].found
    narrow = replace(unit.functions[0], promises=(between(0, 9),))
    wrong = replace(unit, program=replace(unit.program, functions=(narrow,))).verify()
    assert "gives 9 as result at (x=1, y=7)" in wrong.counterexample
    with pytest.raises(VerifyError, match="no index meets 0 <= 2\\*x \\+ y < 10"):
        unit.verify(sizes={"x": 7})


def test_a_header_that_allows_too_much_is_wrong():
    def kernel(x):
        return GroupBy([10])[x]

    unit = generate(kernel, "cpp")
    param = replace(unit.functions[0].params[0], range=between(0, 12), hi=11)
    function = replace(unit.functions[0], params=(param,), promises=(between(0, 12),))
    wrong = replace(unit, program=replace(unit.program, functions=(function,))).verify()
    assert "gives 11 as result at (x=11), number 11" in wrong.counterexample
    assert "header allows an index that the layout has not" in wrong.checks[-1].found


def test_a_promise_that_is_too_narrow_is_seen():
    """Of apply, of inv, and of the inverse of a mask."""
    plain = GroupBy([6, 4]).OrderBy(RegP([6, 4], [1, 0]))
    masked = ExpandBy([5], [8], GroupBy([8]).OrderBy(RegP([2, 4], [1, 0])))
    for layout, at, promises in (
        (plain, 0, (between(0, 23),)),
        (plain, 1, (between(0, 5), between(0, 4))),
        (plain, 1, (between(0, 6), between(1, 4))),
        (masked, 1, (between(0, 5),)),
        (masked, 0, (between(0, 5),)),
    ):
        unit = generate(layout, "cpp")
        functions = list(unit.functions)
        functions[at] = replace(functions[at], promises=promises)
        wrong = replace(unit, program=replace(unit.program, functions=tuple(functions)))
        assert unit.verify() and not wrong.verify(), (layout, promises)


def test_a_line_says_what_it_is():
    """ok is what was at stake and held; what nobody claimed is a note."""
    apart = generate(GroupBy([4, 4]).OrderBy(GenP([4, 4], lambda i, j: 8 * i + 2 * j)), "cpp")
    lines = str(apart.verify()).splitlines()
    assert lines[1].startswith("  ok    the range of layout_apply: flat in 0..30, as the header")
    assert lines[2].startswith(
        "  note  the results of layout_apply: none is repeated; left out: no index gives 1; "
        "16 of the 31 possible results are given (allowed: no claim was made)"
    )
    lines = str(apart.verify(claim="injective")).splitlines()
    assert lines[2].startswith("  ok    layout_apply is injective: no result is given twice (16 ")

    def both(i):
        return {"x": GroupBy([3])[i], "y": 2 * i}

    found = generate(both, "cpp").verify()
    assert "left out: no index gives (x=0, y=1)" in found.checks[1].found
    assert found.as_dict()["checks"][1]["told"] is True


# -- what cannot be ------------------------------------------------------------------------------


def test_bad_input():
    unit = generate(tiled, "cpp")
    with pytest.raises(VerifyError, match="needs a number for M, N, BM, BN"):
        unit.verify()
    with pytest.raises(VerifyError, match="no parameter 'BQ' to give a number; it has M, N"):
        unit.verify(sizes={**SIZES, "BQ": 3})
    with pytest.raises(
        AssumptionError, match="assumes N % BN == 0, which is false for N = 65, BN = 16"
    ):
        unit.verify(sizes={**SIZES, "N": 65})
    with pytest.raises(VerifyError, match="no claim 'onto'"):
        unit.verify(sizes=SIZES, claim="onto")
    with pytest.raises(TargetError, match="no device 'moon'"):
        generate(tiled, "cuda").verify("moon", sizes=SIZES)
    with pytest.raises(AssumptionError, match=r"which does not fit its type|which is false"):
        generate(tiled, "cpp", index_type="int32").verify(
            sizes={"M": 2**17, "N": 2**17, "BM": 32, "BN": 32}
        )
    with pytest.raises(AssumptionError, match="does not fit its type, int32"):
        generate(tiled, "cpp", index_type="int32").verify(sizes={**SIZES, "M": 2**40})


def test_a_bitmap_that_does_not_fit(monkeypatch):
    monkeypatch.setattr(host, "_free_memory", lambda: 10)
    unit = generate(index_kernel, "cpp")
    with pytest.raises(VerifyError, match=r"a bitmap of 6,144 positions needs .* GiB free"):
        unit.verify(sizes=SIZES)


# -- the command ---------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    (tmp_path / "layouts.py").write_text(FILE)

    def call(name, *options):
        file = name if ".py:" in name else f"{tmp_path}/layouts.py:{name}"
        return CliRunner().invoke(main, ["verify", file, *options])

    return call


NUMBERS = [x for name, value in SIZES.items() for x in ("--size", f"{name}={value}")]


def test_command(run):
    done = run("tiled", *NUMBERS)
    assert done.exit_code == 0 and done.output.count("  ok   ") == 3, done.output
    done = run("tiled", *NUMBERS, "--symbolic", "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["ok"] and [c["indices"] for c in found["checks"]] == [6144] * 3
    done = run("index_kernel", *NUMBERS, "--claim", "bijective")
    assert done.exit_code == 0 and "the Python function: equal" in done.output
    done = run("many_to_one", "--claim", "injective")
    assert done.exit_code == 1 and "numbers 0 and 8" in done.output


def test_command_with_a_golden_table(run, request):
    case = request.config.rootpath / "golden" / "readme_index_kernel" / "layout.py"
    done = run(f"{case}:index_kernel")
    assert done.exit_code == 0 and "the golden table: equal" in done.output


@pytest.mark.parametrize(
    "options, message",
    [
        (["tiled"], "needs a number for M, N, BM, BN"),
        (["tiled", "--symbolic", "--size", "M=7"], "needs a number for N, BM, BN"),
        (["tiled", *NUMBERS, "--target", "rust", "--on", "gpu"], "does not run on 'gpu'"),
        (["tiled", *NUMBERS, "--on", "tpu"], "no device 'tpu'"),
        (["nothing"], "no 'nothing'"),
    ],
)
def test_command_with_bad_input(run, options, message):
    done = run(*options)
    assert done.exit_code == 2 and message in done.output and "Traceback" not in done.output


def test_golden_cases_on_the_cpu(request):
    for folder in sorted((request.config.rootpath / "golden").iterdir())[::7]:
        case = golden.load(folder)
        found = case.emit("cpp").verify(reference=case)
        both = case.layout is not None and case.layout.has_inverse
        wanted = [case.layout.physical_size] if both else [n for _, n in case.table.axes]
        assert found and found.checks[-1].indices == np.prod(wanted)


def test_an_argument_that_its_type_does_not_hold():
    def third(k):
        return k // 3 + 1

    def narrow(y: U8):
        return y + 1

    run = generate(third, "cpp").compile()["third"]
    with pytest.raises(WidthError, match=f"third: k = {2**63} does not fit its type, int64"):
        run(2**63)
    with pytest.raises(WidthError, match="k = -9223372036854775809 does not fit its type"):
        run([0, -(2**63) - 1])
    with pytest.raises(TypeError, match="third: k must be integers, not float64"):
        run(1.5)
    run = generate(third, "c", index_type="int32").compile()["third"]
    with pytest.raises(WidthError, match="k = 2147483648 does not fit its type, int32"):
        run(np.array([5, 2**31]))
    assert generate(narrow, "c").compile()["narrow"](255) == 256
    with pytest.raises(WidthError, match="narrow: y = 256 does not fit its type, uint8"):
        generate(narrow, "c").compile()["narrow"](256)
    run = generate(third, "cpp", index_type="uint64").compile()["third"]
    assert run(2**64 - 1) == (2**64 - 1) // 3 + 1
    assert run(np.array([-1]))[0] == (2**64 - 1) // 3 + 1  # its bits
    with pytest.raises(WidthError, match="k = 18446744073709551616 does not fit its type"):
        run(2**64)
    with pytest.raises(WidthError, match="does not fit an int64, as which it is passed"):
        generate(third, "python").compile()["third"](2**63)
