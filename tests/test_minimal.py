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

from lego_emit import GroupBy, Row, generate
from lego_emit.check import minimal

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


def table(program, domain):
    return [run(program, index) for index in product(*map(range, domain))]


# -- what is stored ------------------------------------------------------------------------------


def test_enough_is_shown():
    assert len(PROOFS) >= 30
    assert sum(p.operations >= 4 for p in PROOFS.values()) >= 10


@pytest.mark.parametrize("key", PROOFS, ids=[p.row for p in PROOFS.values()])
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
    from lego_emit.ir.nodes import Node

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
COMPARED = ["<", "<=", "==", "!=", ">", ">="]
CONSTANTS = [-1, 0, 1, 2, 3, 4, 5, 7, 8]


def random_program(draw, operations, domain):
    """Assignments that use each other, defined at all points and not above 32 bits; None where a draw
    is not."""
    names, conditions, lines = list("ij")[: len(domain)], [], []
    for k in range(1, operations + 1):
        operand = lambda: str(draw.choice([*names, *names, *names[-1:], draw.choice(CONSTANTS)]))  # noqa: E731
        kind = draw.random()
        name = f"t{k}"
        if conditions and kind < 0.4:
            text = f"{operand()} if {draw.choice(conditions)} else {operand()}"
        elif kind < 0.55:
            text = f"{operand()} {draw.choice(COMPARED)} {operand()}"
            conditions.append(name)
        elif kind < 0.65:
            text = f"{draw.choice(['min', 'max'])}({operand()}, {operand()})"
        else:
            text = f"{operand()} {draw.choice(BINARY)} {operand()}"
        names.append(name)
        lines.append(f"{name} = {text}")
    for index in product(*map(range, domain)):
        values = dict(zip("ij", index, strict=False))
        for line in lines:
            _, name, *_ = line.split(" ")
            try:
                made = eval(line.partition("= ")[2], {"min": min, "max": max}, values)
            except (ValueError, ZeroDivisionError):
                return None
            words = line.split()
            if words[3:4] and words[3] in ("//", "%") and int(values.get(words[4], 1)) <= 0:
                return None
            if words[3:4] and words[3] in ("//", "%") and words[4].startswith("-"):
                return None
            if not -(2**31) <= made < 2**31:
                return None
            if words[3:4] and words[3] in ("<<", ">>") and not 0 <= int(
                values.get(words[4], words[4] if words[4].lstrip("-").isdigit() else 0)
            ) < 32:
                return None
            values[line.split()[0]] = made
    return "; ".join(lines)


@pytest.mark.slow
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
            indices = list(zip(*product(*map(range, domain)), strict=True))
            assert len(set(values)) == 1 or tuple(values) in indices, program
            continue
        head, _, found = said.partition(": ")
        assert int(head.removeprefix("found ")) <= operations, (program, said)
        assert table(found, domain) == values, (program, said)
