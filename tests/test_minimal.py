"""The search for shortest programs, what it has shown, and what explain() says of it."""

import random
import shutil
import sys
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from itertools import product
from math import prod
from pathlib import Path

import pytest
from marks import rest_slow

from lego_emit import GroupBy, Row, generate
from lego_emit.check import minimal
from lego_emit.ir.nodes import Node

ROOT = Path(__file__).parents[1]
PROOFS = minimal.load()
NO_GCC = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is missing")


@pytest.fixture(scope="module")
def script():
    """benchmarks/minimal as a module."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    loader = SourceFileLoader("benchmarks_minimal", str(ROOT / "benchmarks" / "minimal"))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tool(script, tmp_path_factory):
    return script.build(tmp_path_factory.mktemp("shortest"))


def run(program, index):
    """The last value of Python assignments."""
    values = dict(zip("ij", index, strict=False))
    exec(program, {"min": min, "max": max}, values)
    return int(list(values.values())[-1])


def indices(domain):
    return product(*map(range, domain))


def table(program, domain):
    return [run(program, index) for index in indices(domain)]


# -- what is stored ------------------------------------------------------------------------------


def test_enough_is_shown():
    assert len(PROOFS) >= 30
    assert sum(p.operations >= 4 for p in PROOFS.values()) >= 10


@pytest.mark.parametrize("key", rest_slow(PROOFS, 15), ids=[p.row for p in PROOFS.values()])
@pytest.mark.quick(4)
def test_the_program_of_a_proof_is_right_and_as_long_as_it_says(key, script):
    proof = PROOFS[key]
    assert 0 < len(proof.domain) <= minimal.MOST_VARIABLES
    assert prod(proof.domain) <= minimal.MOST_POINTS
    assert minimal.key(proof.domain, table(proof.program, proof.domain)) == key
    assert script.operations_of(proof.program) == proof.operations
    assert bool(proof.constants) == (proof.operations > 2)


# -- what explain() says -------------------------------------------------------------------------

SAYS = "No shorter program exists"


def test_it_is_said_where_it_was_shown():
    assert SAYS in generate(GroupBy([4, 6]).OrderBy(Row(4, 6)), "cuda").explain("layout_apply")


def test_another_domain_is_another_function():
    assert SAYS not in generate(GroupBy([4, 61]).OrderBy(Row(4, 61)), "cuda").explain()
    assert minimal.key((4, 6), range(24)) != minimal.key((6, 4), range(24))
    assert minimal.key((24,), range(24)) != minimal.key((4, 6), range(24))


def test_a_longer_program_and_one_of_other_values_have_no_proof():
    unit = generate(GroupBy([4, 6]).OrderBy(Row(4, 6)), "cuda")
    function = unit.functions[0]
    assert minimal.proof_of(function).operations == 2
    ((name, node),) = function.outputs
    more = Node("add", (node, Node("const", value=0)))
    assert minimal.proof_of(replace(function, outputs=((name, more),))) is None
    other = Node("add", (node.args[0], Node("const", value=7)))
    assert minimal.proof_of(replace(function, outputs=((name, other),))) is None


def test_a_store_that_was_changed_says_nothing_of_others(monkeypatch, tmp_path):
    """A proof is found by values alone: one under a wrong key is nobody's."""
    function = generate(GroupBy([4, 6]).OrderBy(Row(4, 6)), "cuda").functions[0]
    key = minimal.key((4, 6), range(24))
    for changed in (
        {"0" * 64: PROOFS[key]},
        {key: replace(PROOFS[key], operations=1)},
        {k: p for k, p in PROOFS.items() if k != key},
    ):
        minimal.save(changed, tmp_path / "minimal.json")
        assert minimal.load(tmp_path / "minimal.json") == changed
        monkeypatch.setattr(minimal, "_loaded", lambda changed=changed: changed)
        assert minimal.proof_of(function) is None


# -- the search ----------------------------------------------------------------------------------

BINARY = ["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"]
COMPARED = ["<", "<=", "==", "!="]
FUNCTIONS = {op: eval(f"lambda a, b: a {op} b") for op in (*BINARY, *COMPARED)} | {
    "min": min,
    "max": max,
}
CONSTANTS = [-1, 0, 1, 2, 3, 4, 5, 7, 8]


def defined(op, b):
    return not (op in ("//", "%") and b <= 0) and not (op in ("<<", ">>") and not 0 <= b < 32)


def random_program(draw, operations, domain):
    """Assignments of one operation each; None where one has no value of 32 bits at some index."""
    names, conditions, lines = list("ij")[: len(domain)], [], []
    for k in range(operations):
        a, b = (str(draw.choice([*names, *names, draw.choice(CONSTANTS)])) for _ in "ab")
        kind, op = draw.random(), ""
        if conditions and kind < 0.4:
            text = f"{a} if {draw.choice(conditions)} else {b}"
        elif kind < 0.5:
            text = f"{draw.choice(['min', 'max'])}({a}, {b})"
        else:
            op = draw.choice(COMPARED if kind < 0.7 else BINARY)
            text = f"{a} {op} {b}"
        if any(not defined(op, run(f"{before(lines)}t = {b}", index)) for index in indices(domain)):
            return None
        names.append(f"t{k + 1}")
        lines.append(f"{names[-1]} = {text}")
        if op in COMPARED:
            conditions.append(names[-1])
        if not all(-(2**31) <= v < 2**31 for v in table("; ".join(lines), domain)):
            return None
    return "; ".join(lines)


def before(lines):
    return "".join(f"{line}; " for line in lines)


def made_of(values, conditions):
    """Every column that one operation makes of columns, and whether it is a condition."""
    for a, b in product(values, repeat=2):
        if len(set(a)) == len(set(b)) == 1:
            continue  # a constant
        pairs = list(zip(a, b, strict=True))
        for op, function in FUNCTIONS.items():
            if all(defined(op, y) for y in b):
                both = op in ("&", "|") and a in conditions and b in conditions
                yield tuple(int(function(*pair)) for pair in pairs), op in COMPARED or both
    for c, a, b in product(conditions, values, values):
        yield tuple(y if x else z for x, y, z in zip(c, a, b, strict=True)), False


@pytest.mark.deep
@NO_GCC
def test_all_programs_of_two_operations(script, tool):
    """What is found is what trying all finds: here one after the other, in Python."""
    domain = (2, 3)
    start = {*zip(*indices(domain), strict=True), *((c,) * 6 for c in (-1, 0, 1, 2, 5))}
    reached = set(start)
    for first, is_condition in set(made_of(start, set())):
        conditions = {first} if is_condition else set()
        reached |= {first, *(column for column, _ in made_of({*start, first}, conditions))}
    reached = sorted(column for column in reached - start if max(map(abs, column)) < 2**20)
    assert len(reached) > 1000
    draw = random.Random(0)
    for column in draw.sample(reached, 50):
        assert script.search(tool, 2, [-1, 0, 1, 2, 5], domain, column).startswith("found")
        other = [*column]
        other[draw.randrange(6)] += 1
        said = script.search(tool, 2, [-1, 0, 1, 2, 5], domain, other)
        if said.startswith("found"):
            assert table(said.partition(": ")[2], domain) == other
        else:
            assert tuple(other) not in reached


@pytest.mark.deep
@NO_GCC
@pytest.mark.parametrize("operations, count", [(1, 40), (2, 120), (3, 80)])
def test_random_programs_are_found(operations, count, script, tool):
    """Whatever has a program of so many operations is found to have one, and what is found is right."""
    draw = random.Random(operations)
    done = 0
    while done < count:
        domain = draw.choice([(7,), (40,), (4, 6), (9, 16)])
        program = random_program(draw, operations, domain)
        values = program and table(program, domain)
        if not values or max(map(abs, values)) > 2**20:
            continue
        said = script.search(tool, operations, CONSTANTS, domain, values)
        done += 1
        if said.startswith("none"):
            # no operation at all: a variable or a constant
            variables = list(zip(*indices(domain), strict=True))
            assert len(set(values)) == 1 or tuple(values) in variables, program
            continue
        head, _, found = said.partition(": ")
        assert int(head.removeprefix("found ")) <= operations, (program, said)
        assert table(found, domain) == values, (program, said)


def numbers(text):
    """-1..2, 16: -1, 0, 1, 2, 16."""
    runs = (part.split("..") for part in text.split(", "))
    return [n for run in runs for n in range(int(run[0]), int(run[-1]) + 1)]


@pytest.mark.deep
@NO_GCC
@pytest.mark.parametrize("row", ["reshape chain 12, apply", "skewed banks 32, apply"])
def test_it_is_shown_again(row, script, tool):
    (proof,) = (p for p in PROOFS.values() if p.row == row)
    tried, values = numbers(proof.constants), table(proof.program, proof.domain)
    assert script.ranges(tried) == proof.constants
    said = script.search(tool, proof.operations - 1, tried, proof.domain, values)
    assert said.startswith("none")
