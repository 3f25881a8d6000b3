"""Hand-built lowered programs through every printer and every toolchain: each operation, random
tree shapes (parentheses), several outputs, nasty names, no parameters."""

from dataclasses import replace

import numpy as np
import programs
import pytest

from lego_emit import generate
from lego_emit.emitted import Emitted, emit_program
from lego_emit.ir.nodes import Node
from lego_emit.run import registry

pytestmark = pytest.mark.slow

CASES = {
    "operations32": programs.every_operation("int32"),
    "operations64": programs.every_operation("int64"),
    "trees32": programs.random_trees(60, 4, 1, "int32"),
    "trees64": programs.random_trees(60, 5, 2, "int64"),
    "outputs": programs.several_outputs(),
    "names": programs.nasty_names(),
    "parameterless": programs.one_parameterless(),
}


def cases_for(name):
    """64-bit programs are 32 bits wide in shaders and 2^53 in JavaScript: all values here are small."""
    narrow = {"glsl": "int32", "wgsl": "int32", "javascript": "int53"}.get(name)
    for case, program in CASES.items():
        if narrow and (case.endswith("64") or name == "javascript"):
            program = programs.with_index_type(program, narrow)
        yield case, program


def test_every_program_computes_its_values(toolchain):
    named = list(cases_for(toolchain.name))
    units = [emit_program(program, toolchain.name) for _, program in named]
    for (case, program), unit, run in zip(named, units, toolchain.compile(units), strict=True):
        for function, emitted in zip(program.functions, unit.functions, strict=True):
            names = [p.name for p in function.params]
            points = programs.points(len(names))
            want = [
                list(function.evaluate(dict(zip(names, p, strict=True))).values()) for p in points
            ]
            got = run[emitted.name](*np.array(points).reshape(len(points), -1).T)
            got = np.stack(got if isinstance(got, tuple) else [got], axis=-1)
            assert got.reshape(len(points), -1).tolist() == want, (case, function.name)


@pytest.mark.deep
def test_text_is_the_same_every_time(target):
    for _, program in cases_for(target):
        assert emit_program(program, target).source == emit_program(program, target).source


MISTAKES = {
    "truncating division": lambda ops: {**ops, "floordiv": ops["div"]},
    "dropped parenthesis": lambda ops: {**ops, "sub": replace(ops["sub"], needs=(0, 0))},
    "swapped argument": lambda ops: {
        **ops,
        "sub": replace(ops["sub"], text=ops["sub"].text.format("{1}", "{0}", T="{T}")),
    },
}


@pytest.mark.deep
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_printer_is_found(toolchain, mistake):
    """A test of the tests: with one wrong spelling, values differ."""
    kind = type(registry.printer(toolchain.name))
    if MISTAKES[mistake](kind.ops) == kind.ops:
        pytest.skip("one division that rounds down, or no parentheses")
    broken = type("Broken", (kind,), {"ops": MISTAKES[mistake](kind.ops)})()
    a, b = programs.var("a", -50, 50), programs.var("b", -50, 50)
    divisor = programs.node(
        "select", programs.node("eq", b, programs.const(0)), programs.const(7), b
    )
    difference = programs.node("sub", a, programs.node("sub", b, programs.const(3)))
    result = programs.node("add", difference, programs.node("floordiv", a, divisor))
    index_type = "int53" if toolchain.name == "javascript" else "int32"
    program = programs.Program(
        "mistake", (programs.function("f", {"result": result}, index_type),), "a mistake"
    )
    want = [program.functions[0].evaluate({"a": x, "b": y})["result"] for x, y in programs.POINTS]
    for printer, equal in ((kind(), True), (broken, False)):
        run = toolchain.compile([Emitted(printer.emit(program), program, printer)])[0]
        assert (run["f"](*np.array(programs.POINTS).T).tolist() == want) is equal


# -- evaluate() ----------------------------------------------------------------------------------


def test_of_a_select_one_branch_is_evaluated():
    a, b = programs.var("a", -50, 50), programs.var("b", -50, 50)
    quotient = programs.node("floordiv", a, b)
    guarded = programs.node("select", programs.node("ne", b, programs.const(0)), quotient, a)
    function = programs.function("f", {"result": guarded})
    assert function.evaluate({"a": 7, "b": 2}) == {"result": 3}
    assert function.evaluate({"a": 7, "b": 0}) == {"result": 7}
    with pytest.raises(ZeroDivisionError):
        programs.function("f", {"result": quotient}).evaluate({"a": 7, "b": 0})


class Counted(int):
    """An integer that counts how often it, or what it was added to, is added."""

    additions = 0

    def __add__(self, other):
        Counted.additions += 1
        return Counted(int(self) + int(other))


def test_what_stands_in_many_places_is_evaluated_once():
    node = programs.var("a", -50, 50)
    for _ in range(12):
        node = Node("add", (node, node))
    function = programs.function("f", {"result": node})
    assert function.evaluate({"a": Counted(3)}) == {"result": 3 * 2**12}
    assert Counted.additions == 12


@pytest.mark.deep
@pytest.mark.parametrize(
    "text",
    [
        "x // d if d != 0 else 0",
        "x % d if d != 0 else 7",
        "(x // d) * (x // d) + x % d if d != 0 else x",
        "x // d if d > 0 else x // (-d) if d < 0 else 0",
        "max(x // d, 3) if d > 0 else 3",
        "1 if d != 0 and x // d > 2 else 0",
    ],
)
@pytest.mark.parametrize(
    "assume", [["0 <= x < 100", "0 <= d < 10"], ["-100 < x < 100", "-9 < d < 9"]]
)
def test_a_division_in_a_branch_that_is_not_taken_traps_nowhere(toolchain, text, assume):
    """Fortran's merge computes both values, and what is shared is computed before."""
    fn = eval(f"lambda x, d: {text}")
    function = generate(fn, toolchain.name, assume=assume, name="f")
    (made,) = function.functions
    assert not any("!=" in a for a in made.assumptions)
    least = 0 if assume[0].startswith("0") else -8
    points = [(x, d) for x in (least, 0, 1, 7, 50, 99) for d in range(least, 9)]
    want = [int(fn(*p)) for p in points]
    assert [*map(int, function.compile()["f"](*np.array(points).T))] == want
    names = [p.name for p in made.params]
    assert [[*made.evaluate(dict(zip(names, p, strict=True))).values()] for p in points] == [
        [w] for w in want
    ]
