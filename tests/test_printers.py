"""What all printers share. A language's own operations are settled before printing: the text does not
depend on ranges, and what cannot be computed is refused before there is any text. Templates."""

import contextlib
import importlib
import random
import re
from dataclasses import replace

import programs
import pytest
from programs import const, node, var

from lego_emit import GroupBy, generate
from lego_emit.emit import registry
from lego_emit.emit.printer import Op, Printer, kind
from lego_emit.errors import TargetError
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Program
from lego_emit.operations import OPS

pytestmark = pytest.mark.slow

CASES = (
    programs.every_operation(),
    programs.random_trees(12, 4, 3, "int32"),
    programs.several_outputs(),
)
WIDE = ((0, 7), (-3, 3), (0, 2**31), (-(2**31), 2**31 - 1), (0, 2**40), (None, None))
OPEN = ((None, None),)


def ranged(node, rng, spans):
    """The node over parameters in ranges of every kind; the operations' own are left open where
    nothing needs them, and no number is negative."""
    if node.op == "var":
        lo, hi = rng.choice(spans)
        return Node("var", (), node.value, lo, hi)
    if node.op == "table":
        return node
    if node.op == "const":
        return const(abs(node.value))
    args = tuple(ranged(a, rng, spans) for a in node.args)
    if node.op in ("div", "mod"):
        return Node(node.op, tuple(replace(a, lo=1, hi=100) for a in args))
    if node.op in ("shl", "shr"):
        args = (args[0], replace(args[1], lo=0, hi=5))
    if node.op == "lookup":
        args = (args[0], replace(args[1], lo=0, hi=4))
    return Node(node.op, args)


def without_ranges(node):
    return Node(node.op, tuple(map(without_ranges, node.args)), node.value)


def over_nodes(function, change):
    return replace(
        function,
        **{
            part: tuple((name, change(node)) for name, node in getattr(function, part))
            for part in ("body", "outputs", "axes")
        },
    )


def with_axes(function, extent):
    return replace(function, axes=(("b", extent),))


def samples(printer, index_type):
    """Functions of every kind that the language can compute, with array forms."""
    rng = random.Random(7)
    scalar = var("a", 0, 50)
    extents = (const(6), scalar, node("mul", scalar, const(2**20)), Node("shr", (scalar, const(1))))
    made = []
    for k, program in enumerate(CASES * 2):
        for f in program.functions:
            if f.name != "several" and not f.name.startswith("op_"):
                f = with_axes(f, rng.choice(extents))
            f = over_nodes(f, lambda n, k=k: ranged(n, rng, WIDE if k < len(CASES) else OPEN))
            own = programs.INDEX_TYPES[index_type]
            f = replace(f, name=f"{f.name}_{k}", index_type=own)
            with contextlib.suppress(TargetError):
                printer.fitted(f)
                made.append(f)
    assert len(made) > 50
    return Program("ranged", tuple(made), "ranges of every kind")


def test_the_text_does_not_depend_on_ranges(target):
    kinds = type(registry.printer(target))

    class Blind(kinds):
        def fitted(self, function):
            return over_nodes(super().fitted(function), without_ranges)

    for index_type in kinds.types:
        program = samples(kinds(), index_type)
        assert Blind().emit(program) == kinds().emit(program)


def test_a_fitted_function_has_the_language_s_operations_alone(target):
    printer = registry.printer(target)
    own = set()
    for index_type in printer.types:
        for function in samples(printer, index_type).functions:
            found = {n.op for n in printer.fitted(function).nodes()} - {"const", "var", "table"}
            assert found <= printer.ops.keys() | printer.typed_ops.get(index_type, {}).keys()
            own |= found - OPS.keys()
    assert all(kind(op) in OPS for op in own - {"power", "plus_zero"})
    own_ones = (
        "c", "cpp", "cuda", "hip", "javascript", "fortran", "metal", "mlir", "opencl", "triton",
    )  # fmt: skip
    assert bool(own) is (target in own_ones)


@pytest.mark.parametrize("target", [t for t in registry.targets() if t != "mlir"])
def test_an_operand_without_brackets_binds_tightly(target):
    """What takes an operand of any kind as it is encloses it itself: uint(y) << {1} does not."""
    printer, loose = registry.printer(target), []
    for table in (printer.ops, *printer.typed_ops.values()):
        for name, op in table.items():
            text = re.sub(r"[\x00-\x1f]", " ", op.text)
            for place in re.finditer(r"\{(\d)\}", text):
                left, right = text[: place.start()], text[place.end() :]
                if not op.needs[int(place[1])] and re.search(r"(<<|>>|[-+*/%&|^]) *$", left):
                    loose.append((name, op.text))
                if not op.needs[int(place[1])] and re.match(r" *(<<|>>|[-*/%&|^])", right):
                    loose.append((name, op.text))
    assert not loose


def shifted(y, i):
    return (y << (i & 3)) ^ 1


@pytest.mark.parametrize(
    "target, text",
    [
        ("c", "(int32_t)((uint32_t)y << (i & 3))"),
        ("cpp", "static_cast<std::int32_t>(static_cast<std::uint32_t>(y) << (i & 3))"),
        ("cuda", "static_cast<int>(static_cast<unsigned>(y) << (i & 3))"),
        ("opencl", "(y << (i & 3))"),
        ("metal", "int(uint(y) << (i & 3))"),
    ],
)
def test_a_negative_number_is_shifted_as_an_unsigned_one(target, text):
    """Shifted to the left it is undefined in C, and in C++ before C++20."""
    unit = generate(shifted, target, assume=["-9 <= y <= 9", "0 <= i < 8"])
    assert f"1 ^ {text};" in unit.source
    unit = generate(shifted, target, assume=["0 <= y <= 9", "0 <= i < 8"])
    assert "1 ^ (y << (i & 3));" in unit.source


def test_what_was_lowered_stays_as_it_is():
    wide = Node("var", (), "a", 0, 2**40)
    function = programs.function("f", {"result": node("shr", wide, const(3))}, "int53", "a")
    program = Program("unit", (function,), "a shift")
    printer = registry.printer("javascript")
    assert [n.op for n in printer.fitted(function).nodes()][-1] == "floordiv.power"
    assert "Math.floor(a / 8)" in printer.emit(program)
    assert [n.op for n in program.functions[0].nodes()][-1] == "shr"


class Silent:
    """A printer that fails where it makes text."""

    def expression(self, node, view, need=0):
        raise AssertionError("there is text")


def refused(kinds, node, index_type):
    function = programs.function("f", {"result": node}, index_type)
    printer = type("Refusing", (Silent, kinds), {})()
    with pytest.raises(TargetError) as caught:
        printer.emit(Program("unit", (function,), "refused"))
    return str(caught.value)


@pytest.mark.parametrize("op", ("and", "or", "xor"))
@pytest.mark.parametrize("index_type", ("int53", "uint32"))
def test_javascript_refuses_wide_bits_before_there_is_text(op, index_type):
    javascript = type(registry.printer("javascript"))
    low, high = programs.INDEX_TYPES[index_type].ends
    a, b = var("a", low - 1, high), var("b", low - 1, high)
    assert "takes 32 bits" in refused(javascript, Node(op, (a, b)), index_type)
    inside = node("add", const(1), Node(op, (a, b)))
    assert "BigInt" in refused(javascript, inside, index_type)


def test_an_operation_without_a_spelling_is_refused_before_there_is_text():
    class Few(Printer):
        title = "Few"
        types = {"int32": "int"}
        ops = {"add": Op("{0} + {1}", 1, (1, 2)), "neg": Op("-{0}", 2, (2,))}
        template = "{{ functions[0].results('{expr}') }}"

    root = node("add", var("a"), node("mul", var("a"), var("b")))
    assert (
        refused(Few, root, "int32") == "Few has no spelling for 'mul'; give its printer's ops one"
    )
    root = node("shr", var("a"), const(1))
    assert refused(Few, root, "int32").endswith(
        "bit_operations = False where it came of a division"
    )
    function = programs.function("f", {"result": node("add", var("a"), const(-1))})
    assert "a + -1" in Few().emit(Program("unit", (function,), "a sum"))


# -- templates -----------------------------------------------------------------------------------

MODULE = """
from lego_emit.printers.glsl import GlslPrinter

class Own(GlslPrinter):
    title = "Shady"
    template = {template!r}
"""
BROKEN = {
    "missing": ("own.jinja", None, r"Shady: the template own\.jinja is not in .*printers"),
    "syntax": ("own.jinja", "fine\n{% if %}", r"Shady: the template .*own\.jinja, line 2, "),
    "unknown": ("own.jinja", "a\nb\n{{ nothing }}", r"Shady: .*own\.jinja, line 3, .*'nothing'"),
    "include": (
        "own.jinja",
        "{% include 'no.jinja' %}",
        r"Shady: the template no\.jinja is not in ",
    ),
    "text": ("a\n{{ nothing }}", None, r"Shady: the template of own_\w+, line 2, .*'nothing'"),
    "text syntax": ("{% for %}", None, r"Shady: the template of own_\w+, line 1, "),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_template_is_named_with_its_language(case, tmp_path, monkeypatch):
    template, file, said = BROKEN[case]
    name = f"own_{case.replace(' ', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE.format(template=template))
    if file is not None:
        (tmp_path / template).write_text(file)
    monkeypatch.syspath_prepend(tmp_path)
    printer = importlib.import_module(name).Own()
    with pytest.raises(TargetError, match=said):
        printer.emit(programs.one_parameterless())


def test_a_missing_template_of_a_timing_program_is_named_too(monkeypatch):
    from lego_emit.targets.gpu import Kernels
    from lego_emit.targets.rust import called
    from lego_emit.targets.timing_rust import RustProgram

    unit = generate(GroupBy([4, 6]), "rust")
    monkeypatch.setattr(RustProgram, "template", "none.jinja")
    with pytest.raises(TargetError, match=r"Rust: the template none\.jinja is not in .*targets"):
        RustProgram(called).files(unit, [], 1)
    with pytest.raises(TargetError, match=r"CUDA C: the template none\.jinja is not in .*targets"):
        Kernels("none.jinja")("call")
