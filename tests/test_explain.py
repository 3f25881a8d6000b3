"""explain(): every step that it tells is true, and telling changes nothing."""

import random
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import sympy
from click.testing import CliRunner
from marks import rest_slow

from lego_emit import (
    Col,
    ExpandBy,
    GroupBy,
    LegoError,
    Lookup,
    OrderBy,
    RegP,
    Row,
    TileBy,
    generate,
    symbols,
)
from lego_emit.arith.analyzer import Analyzer
from lego_emit.arith.evaluate import evaluate, holds
from lego_emit.arith.expr import Cond, Expr, select
from lego_emit.arith.sympy_nodes import FloorDiv, FloorMod, IntAdd, IntMul
from lego_emit.check.explain import naive_operations
from lego_emit.check.steps import NO_DIVISION, reasons, steps
from lego_emit.cli import main
from lego_emit.emitted import emit_program
from lego_emit.golden import load

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
import rows  # noqa: E402


def index_kernel(M, N, BM, BN):
    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    return L[pid_m, pid_n, :, :]  # noqa: F821


def emitted(case, target="cuda", **more):
    """A golden case's unit by generate() itself."""
    case = load(ROOT / "golden" / case)
    given = {
        "sizes": case.fixed,
        "assume": case.options.assume,
        "index_type": case.options.index_type,
    }
    return generate(case.subject, target, name=case.unit, **given, **more)


TILES = [{"M": 12, "N": 20, "BM": 3, "BN": 5}, {"M": 8, "N": 9, "BM": 8, "BN": 3}]
CUBES = [{"N": 6, "B": 2}, {"N": 12, "B": 3}, {"N": 5, "B": 5}]
UNITS = {
    "README": (lambda: generate(index_kernel, "cuda"), TILES),
    "tile_row": (lambda: generate(rows.tile_row, "cpp"), TILES),
    "bricks": (lambda: generate(rows.bricks, "cuda"), CUBES),
    "bricks in numbers": (lambda: generate(rows.bricks(64, 8), "cuda"), [{}]),
    "grouped": (lambda: generate(rows.grouped, "rust"), [{"R": 12, "C": 5, "G": 3}]),
    "Fig. 2": (lambda: generate(rows.fig2(), "cuda"), [{}]),
    "Fig. 6": (lambda: generate(rows.fig6(), "cuda"), [{}]),
    "unaligned": (lambda: generate(rows.reshape_chain(), "cuda"), [{}]),
    "two transposes": (
        lambda: generate(GroupBy([6, 4]).OrderBy(Col(6, 4)).OrderBy(Col(3, 8)), "cuda"),
        [{}],
    ),
    "masked": (lambda: generate(ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2])), "cpp"), [{}]),
    "from one": (lambda: generate(rows.fig6(), "fortran", base=1), [{}]),
    "brick_neighbor": (lambda: emitted("brick_neighbor"), CUBES),
    "antidiagonals": (lambda: emitted("antidiag_5"), [{}]),
    "packed": (lambda: emitted("expandby_packed_5x7"), [{}]),
}


def draw(function, sizes, rng):
    """Values of a function's parameters within their ranges and assumptions; None where a draw
    meets an assumption not."""
    values = dict(sizes)
    for p in sorted(function.params, key=lambda p: bool(p.range_text)):
        if p.name in values:
            continue
        low, _, high = p.range_text.partition(f" <= {p.name} < ")
        if high:
            values[p.name] = rng.randrange(eval(low, {}, values), eval(high, {}, values))
        else:
            values[p.name] = rng.randrange(sizes["N"])
    return values if all(eval(a, {}, dict(values)) for a in function.assumptions) else None


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_every_step_is_true(name):
    make, sizes = UNITS[name]
    unit = make()
    rng = random.Random(0)
    told = steps(unit)
    assert told
    for function in unit.functions:
        own = [s for s in told if s.function == function.name]
        checked = 0
        for k in range(300):
            values = draw(function, sizes[k % len(sizes)], rng)
            if values is None:
                continue
            for step in own:
                assert step.law.says and step.law.equation
                if all(holds(c, values) for c in step.where):
                    assert evaluate(step.before, values) == evaluate(step.after, values), step
                    if step.bounds is not None:
                        value, bound = (evaluate(e, values) for e in step.bounds)
                        assert 0 <= value < bound, step
                    checked += 1
        assert checked >= 20 * len(own)


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_its_text_is_for_readers(name):
    make, _ = UNITS[name]
    unit = make()
    text = unit.explain()
    assert text == make().explain()
    assert max(map(len, text.splitlines())) <= 100
    assert not any(word in text for word in ("?", "group(", "digit(", "\0", "Expr", "//0"))
    for function in unit.functions:
        assert unit.explain(function.name) in text or "Rules" in text
        assert f"Emitted: {function.op_count} operation" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_telling_changes_nothing(name):
    make, _ = UNITS[name]
    unit = make()
    source = unit.source
    unit.explain()
    assert (
        emit_program(unit.known or unit.program, unit.printer.name).source == unit.source == source
    )
    assert make().source == unit.source


@pytest.mark.slow
def test_python_reads_the_steps():
    """What is printed means what was checked: the text of both sides, evaluated by Python."""
    rng = random.Random(1)
    for name in ("README", "bricks", "unaligned", "Fig. 2", "packed"):
        make, sizes = UNITS[name]
        unit = make()
        for function in unit.functions:
            for step in (s for s in steps(unit, function.name) if not s.where):
                for k in range(20):
                    values = draw(function, sizes[k % len(sizes)], rng)
                    if values is not None:
                        a, b = (eval(repr(e), {}, dict(values)) for e in (step.before, step.after))
                        assert a == b, step


def statements(lines):
    """The assignments of an explanation's lines, wrapped ones put together."""
    found = []
    for line in lines:
        if line.startswith("     "):
            found[-1] += " " + line.strip()
        else:
            found.append(line.strip())
    return "\n".join(found)


@pytest.mark.parametrize(
    "name", rest_slow([n for n in UNITS if n not in ("from one", "antidiagonals")], 5)
)
def test_the_first_form_and_the_last_are_equal(name):
    make, sizes = UNITS[name]
    unit = make()
    rng = random.Random(2)
    for function in unit.functions:
        lines = unit.explain(function.name).splitlines()
        begin = next(k for k, line in enumerate(lines) if line.startswith("  by Figs. "))
        end = next(k for k, line in enumerate(lines) if k > begin and "operation" in line)
        masked = "-1 where" in lines[end - 1]
        first = statements(lines[begin + 1 : end - masked])
        begin = next(k for k, line in enumerate(lines) if line.startswith("  Emitted"))
        last = statements(lines[begin + 1 : lines.index("", begin)])
        for k in range(60):
            values = draw(function, sizes[k % len(sizes)], rng)
            if values is None:
                continue
            naive, emitted = dict(values), dict(values)
            exec(first, naive)
            exec(last, emitted)
            for output, value in function.evaluate(values).items():
                assert emitted[output] == value
                assert naive[output] == value or (masked and value == -1)


def test_a_sign_in_front_of_a_remainder():
    x, y = symbols("x y")
    for e in (-(x % 6), -(x // 6) + y, -(x & y), -(x ^ y) - 1, 3 - x % 6, -x * (y % 4)):
        for a in range(-9, 20):
            assert eval(repr(e), {}, {"x": a, "y": 5}) == evaluate(e, {"x": a, "y": 5}), e


def test_a_simple_layout_word_for_word():
    text = generate(GroupBy([4, 6]).OrderBy(RegP([4, 6], [1, 0])), "cuda").explain("layout_apply")
    assert (
        text
        == """\
layout_apply(i, j)

  Known
    0 <= i < 4; 0 <= j < 6

  GroupBy([4, 6]).OrderBy(Col(4, 6)).apply(i, j)
  by Figs. 4 and 5 alone
    t1 = i*6 + j
    flat = (t1 % 6)*4 + t1 // 6
    6 operations

  Steps
    1. (6*i + j) // 6 = i
       (6*i + j) % 6 = j
       multiples of the divisor come out, what is smaller stays (Table II, rules 1, 2 and 5)
       because 0 <= j < 6, by the range of j

  Forms and their cost by "latency", the one that was taken first
    cost  operations
       1           2  digits as they stand

  Emitted: 2 operations, cost 1
    flat = 4*j + i

  No shorter program exists: all of fewer operations were tried, of + - * // % & | ^ << >> ~,
    negations, comparisons, selects, min and max, equal parts once, with any constant in the last
    one; values fit int32, divisors are above 0.

Rules
  multiples of the divisor come out, what is smaller stays (Table II, rules 1, 2 and 5)
    (d*q + r) // d = q  and  (d*q + r) % d = r,  where 0 <= r < d
"""
    )


def test_the_readme_example():
    told = steps(generate(index_kernel, "cuda"))
    last = told[-2]
    assert (repr(last.before), repr(last.after)) == (
        "(BM*N*pid_m + BN*pid_n + N*i + j) // N",
        "BM*pid_m + i",
    )
    assert last.law.name == "fits" and last.because == "0 <= BN*pid_n + j < N"
    assert last.proof == "mixed-radix bounds"
    text = generate(index_kernel, "cuda").explain()
    assert (
        "TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N)).apply(pid_m, pid_n, i, j)" in text
    )
    assert "  23 operations" in text and "Emitted: 6 operations" in text


@pytest.mark.slow
def test_how_it_was_proven():
    def proofs(unit):
        return {s.proof for s in steps(unit)}

    assert "intervals" in proofs(generate(rows.fig2(), "cuda"))
    assert any(p.startswith("mixed-radix") for p in proofs(generate(rows.bricks, "cuda")))
    assert any("with N = B*(N // B)" in p for p in proofs(generate(rows.bricks, "cuda")))

    def together(N, x, y):
        return (x + y) // N

    (step, _) = steps(generate(together, "cuda", assume=["0 <= x", "0 <= y", "x + y < N"]))
    assert (step.after.constant, step.law.name, step.because) == (0, "small", "0 <= x + y < N")
    assert "all values" in proofs(emitted("antidiag_5"))
    assert "the range of a block that is a bijection" in proofs(emitted("nw"))


def test_the_law_of_a_size_that_divides_another():
    unit = generate(lambda i, M, B: M * i // B, "cuda", assume=["M % B == 0", "B >= 1"])
    assert {s.law.name for s in steps(unit)} == {"exact"}
    assert "one size divides the other (Table II, rules 1 and 2 with r = 0)" in unit.explain()


def test_digits_that_are_written_down_are_no_steps():
    told = steps(generate(lambda x, B: x // B % 4 // 2, "cuda", assume=["B >= 1"]))
    assert [(repr(s.before), repr(s.after)) for s in told] == [
        ("x // B // 4", "x // (4*B)"),
        ("x // B % 4", "x % (4*B) // B"),
        ("x % (4*B) // B // 2", "x % (4*B) // (2*B)"),
        ("x % (4*B) // B % 2", "x % (2*B) // B"),
    ]


def test_digits_put_together_and_forms():
    text = generate(rows.fig6(), "cuda").explain()
    assert "9*(i // 3) + 3*(i % 3) = 3*i" in text and "rule 7" in text
    assert "checked on all 6 values of 0..5" in text
    assert "words of bits" in generate(rows.morton(), "cuda").explain()
    assert '"ops"' in generate(rows.fig6(), "cuda", cost="ops").explain()


def test_a_golden_case_is_explained():
    text = load(ROOT / "golden" / "fig2").emit("rust").explain("fig2_inv")
    assert text.startswith("fig2_inv(flat)\n")


def test_sizes_and_assumptions_are_kept():
    def pairs():
        yield "M % BM == 0"
        yield "N % BN == 0"

    unit = generate(index_kernel, "cuda", sizes={"BM": 32}, assume=pairs(), name="mine")
    text = unit.explain("mine")
    assert "mine(M, N, BN, pid_m, pid_n, i, j)" in text and "32*pid_m + i" in text
    assert unit == generate(
        index_kernel, "cuda", sizes={"BM": 32}, assume=["M % BM == 0", "N % BN == 0"], name="mine"
    )
    assert "record" not in repr(unit) and unit.subject is index_kernel


def test_names_and_units_that_are_not_there():
    unit = generate(rows.fig6(), "cuda")
    with pytest.raises(LegoError, match=r"layout_apply, layout_inv.*Did you mean 'layout_inv'"):
        unit.explain("layout_in")
    with pytest.raises(LegoError, match="not made by generate"):
        bare = tuple(replace(f, record=None) for f in unit.functions)
        replace(unit, program=replace(unit.program, functions=bare)).explain()


@pytest.mark.slow
def test_verify_knows_what_was_emitted(need):
    need("g++", "apt-get install g++")
    tile = {"M": 6, "N": 8, "BM": 3, "BN": 4}
    for made, sizes in ((rows.fig6(), {}), (rows.bricks, {"N": 6, "B": 2}), (index_kernel, tile)):
        found = generate(made, "cpp").verify(sizes=sizes)
        assert found and any(
            c.what.endswith(("reference evaluator", "Python function")) and c.indices
            for c in found.checks
        ), str(found)
    assert not generate(rows.fig6(), "cpp").verify(reference=rows.fig2())


@pytest.mark.slow
def test_verify_knows_the_sizes_that_were_fixed(need):
    need("g++", "apt-get install g++")
    unit = generate(rows.bricks, "cpp", sizes={"B": 2})
    found = unit.verify(sizes={"N": 6})
    assert found and "reference" in str(found) and "not compared" not in str(found)


def test_the_command(tmp_path):
    (tmp_path / "layouts.py").write_text(
        "from lego_emit import Col, GroupBy\nturned = GroupBy([4, 6]).OrderBy(Col(4, 6))\n"
    )
    source = str(tmp_path / "layouts.py:turned")
    run = CliRunner().invoke
    shown = run(main, ["generate", source, "-t", "cuda", "--explain"])
    assert shown.exit_code == 0 and shown.stdout.startswith("turned_apply(i, j)\n")
    assert "#pragma" not in shown.stdout
    out = tmp_path / "turned.cuh"
    both = run(
        main, ["generate", source, "-t", "cuda", "--explain", "-o", str(out), "--cost", "ops"]
    )
    assert both.exit_code == 0 and 'by "ops"' in both.stdout and out.is_file()
    two = run(main, ["generate", source, "-t", "cuda", "-t", "rust", "--explain"])
    assert two.stdout.count("Steps") == 4 and "Rust" in two.stdout
    assert run(main, ["generate", source, "-t", "cuda", "--cost", "gold"]).exit_code == 2


def test_a_form_that_is_taken_as_it_was_written():
    """No flat position was kept whole there, and what rewrite= changed is told."""
    unit = generate(GroupBy([6, 4]).OrderBy(Col(6, 4)), "cpp")
    again = generate(unit.sympy, "cpp").explain()
    assert "  as it was written\n" in again
    assert "kept whole" not in again and "Rewritten" not in again

    def unfolded(name, outputs):
        return {"result": IntAdd(IntMul(N, i), j)}

    def doubled(name, outputs):
        return {"result": outputs["result"] + 2 * FloorMod(j, 3) - 2 * (j - 3 * FloorDiv(j, 3))}

    N, i, j = sympy.symbols("N i j")
    for rewrite, form in ((unfolded, "as it was written"), (doubled, "digits as they stand")):
        text = generate(row_major, "cpp", rewrite=rewrite).explain()
        assert "  Rewritten by rewrite=, proven to be equal\n    result = N*i + j\n" in text
        assert "GroupBy([M, N]).apply(i, j)" in text
        assert form in text and "kept whole" not in text


def test_a_table_that_stays_is_called_so():
    """Beside the forms that it was cheaper than."""
    reversed_bits = [int(f"{k:08b}"[::-1], 2) for k in range(256)]
    text = generate(Lookup([256], reversed_bits), "c").explain()
    assert "     4.5           1  a look-up in a table\n" in text and "words of bits\n" in text


def row_major(M, N, i, j):
    return GroupBy([M, N])[i, j]


def test_the_operations_of_the_formulas_as_the_paper_writes_them():
    tiles = TileBy([2, 2], [3, 4]).OrderBy(Row(6, 8))
    unit = generate({"tiles": tiles, "twice": lambda i: 2 * i}, "cuda")
    assert naive_operations(unit) == {"tiles_apply": 22, "tiles_inv": 22}
    for name, count in naive_operations(unit).items():
        assert f"\n    {count} operations\n" in unit.explain(name)


def chosen(i, j, M, N):
    """A function of all operations that are no divisions, each of which something decides."""
    if i * i >= 0 and i < 8 * M:
        j = abs(j) + (i & 0) + (i ^ i) + (i & 12)
    if i < M:
        j = j + min(i, M) + (i if i < j else j)
    j = j + select(i < N, i, N)
    return select(i < 0, 7, j) + max(M * N, N) + (j == -1) + select(M // 8 == 0, j, i) % N


def test_steps_that_are_no_divisions():
    ranges = {"i": (0, "M"), "j": (0, "N")}
    assume = ["M % 8 == 0", "M >= 8", "M <= 24", "N <= 7"]
    unit = generate(chosen, "cpp", ranges=ranges, assume=assume)
    told = steps(unit)
    assert {s.law for s in told} >= {*NO_DIVISION}
    lines = unit.explain()
    for line in (
        "max(j, -j) = j", "because -j <= j, by intervals", "i & 0 = 0", "(0 <= i*i) = 1",
        "min(i, M) = i", "because i <= M, by", "(7 if i < 0 else", "because 0 <= i, by intervals",
    ):  # fmt: skip
        assert line in lines, line
    count = 0
    for M, N in ((8, 5), (16, 7), (24, 1)):
        for i, j in product(range(M), range(N)):
            values = {"i": i, "j": j, "M": M, "N": N}
            for step in told:
                if all(holds(c, values) for c in step.where):
                    assert evaluate(step.before, values) == evaluate(step.after, values), step
                    assert "because" not in step.because and step.proof
                    count += 1
    assert count > 1000


def test_what_decides_a_condition_is_what_is_shown():
    """reasons() of conditions that are decided, whatever they are made of."""
    known = Analyzer()
    known.learn_range("i", Expr.of(0), Expr.of(7))
    known.learn_range("n", Expr.of(9), None)
    i, n = symbols("i n")
    true, false, open_ = (
        [i < n, i <= 7, Cond("ne", i, n), Cond("eq", i, i), ~(n < i)],
        [n <= i, i < 0, Cond("eq", i, n), Cond("ne", i, i), ~(i < n)],
        [i < 5, Cond("eq", n, Expr.of(12))],
    )
    cases = [(c, True) for c in true] + [(c, False) for c in false]
    cases += [(Cond("and", a, b), True) for a, b in product(true, true)]
    cases += [(Cond("or", a, b), False) for a, b in product(false, false)]
    for a, b in product(false, open_):
        cases += [(Cond("and", a, b), False), (Cond("and", b, a), False)]
    for a, b in product(true, open_):
        cases += [(Cond("or", a, b), True), (~Cond("or", b, a), False)]
    for condition, answer in cases:
        assert known.decide(condition) is answer, condition
        found = reasons(condition, answer, known.prover)
        assert found and all(map(known.nonneg, found)), (condition, found)


def test_what_is_multiplied_out_alone_has_no_steps():
    unit = generate(lambda i, N: 2 * (i + N) - i, "cpp")
    assert "Steps: none" in unit.explain()
