"""Hand-built lowered programs: every operation and every awkward tree shape, for all printers."""

import itertools
import random

from lego_emit.emit import registry
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Function, Param, Program
from lego_emit.ir.relations import between, read
from lego_emit.operations import OPS
from lego_emit.table_lookup import Entries

# Of all languages, by their names.
INDEX_TYPES = {
    name: index_type
    for target in registry.own_targets()
    for name, index_type in registry.printer(target).index_types.items()
}


def var(name, lo=None, hi=None):
    return Node("var", (), name, lo, hi)


def const(value):
    return Node("const", (), value, value, value)


def table(*values):
    return Node("table", (), Entries("table", values), min(values), max(values))


def node(op, *args, lo=None, hi=None):
    if lo is None and hi is None:
        lo, hi = interval(op, args)
    return Node(op, args, None, lo, hi)


def interval(op, args):
    """A range that holds an operation's values, (None, None) where an operand has none."""
    if op == "int":
        return 0, 1
    if op == "lookup":
        return args[0].lo, args[0].hi
    spans = [(a.lo, a.hi) for a in args if not a.is_bool]
    if OPS[op].gives == "b" or any(None in span for span in spans):
        return None, None
    ends = [end for span in spans for end in span]
    if op in ("and", "or", "xor", "not"):
        bits = max(end.bit_length() for end in ends)
        return (0 if op != "not" and min(ends) >= 0 else -(1 << bits)), (1 << bits) - 1
    if op in ("min", "max", "select"):
        return min(ends), max(ends)
    if op in ("mod", "floormod"):
        return min(0, spans[1][0] + 1), max(0, spans[1][1] - 1)
    if op == "floordiv":
        return -max(map(abs, spans[0])), max(map(abs, spans[0]))
    if op == "isqrt":
        return 0, spans[0][1]
    corners = [OPS[op].value(*corner) for corner in itertools.product(*spans)]
    return min(corners), max(corners)


def function(name, outputs, index_type="int32", params="ab", body=()):
    """A function over parameters in -50..50."""
    return Function(
        name,
        tuple(Param(p, between(-50, 51), -50, 50) for p in params),
        tuple(body),
        tuple(outputs.items()),
        INDEX_TYPES[index_type],
        summary=f"The test function {name}.",
        assumed=(read("a * a < 10_000"),) if "a" in params else (),
    )


def every_operation(index_type="int32"):
    """One function an operation, over a and b in -50..50."""
    a, b = var("a", -50, 50), var("b", -50, 50)
    a_pos = node("add", node("mul", a, a, lo=0, hi=2500), const(1), lo=1, hi=2501)
    b_pos = node("add", node("mul", b, b, lo=0, hi=2500), const(1), lo=1, hi=2501)
    small = node("mod", b_pos, const(5), lo=0, hi=4)
    lt, ge = node("lt", a, b), node("ge", a, const(3))
    cases = {}
    for op, row in OPS.items():
        if op in ("div", "mod"):
            args = (a_pos, b_pos)
        elif op in ("floordiv", "floormod"):
            args = (a, node("select", node("eq", b, const(0)), const(7), b))
        elif op == "shl":
            args = (a_pos, small)
        elif op == "shr":
            args = (a, small)
        elif op == "isqrt":
            args = (a_pos,)
        elif op in (
            "loop",
            "switch",
        ):  # statements: tests/test_loops.py and test_choice.py have them
            continue
        elif op == "lookup":
            args = (table(31, 7, 0, 2**31 - 1, 5), small)
        else:
            pool = {"i": iter((a, b)), "b": iter((lt, ge))}
            args = tuple(next(pool[k]) for k in row.takes)
        made = node(op, *args)
        cases[f"op_{op}"] = node("select", made, const(1), const(0)) if row.gives == "b" else made
    return Program(
        "every_operation",
        tuple(function(name, {"result": n}, index_type) for name, n in cases.items()),
        "every operation",
    )


def random_tree(rng, depth, kind="i"):
    """A random tree over a and b; values are kept small by floormod at every product."""
    a, b = var("a", -50, 50), var("b", -50, 50)
    if kind == "b":
        if depth <= 1 or rng.random() < 0.6:
            x = y = random_tree(rng, depth - 1)
            while x == y or (x.op == y.op == "const"):  # compilers warn of those
                x, y = random_tree(rng, depth - 1), random_tree(rng, depth - 1)
            return node(rng.choice(["lt", "le", "gt", "ge", "eq", "ne"]), x, y)
        if rng.random() < 0.2:
            return node("lnot", random_tree(rng, depth - 1, "b"))
        return node(rng.choice(["land", "lor"]), *(random_tree(rng, depth - 1, "b") for _ in "ab"))
    if depth <= 0:
        return rng.choice([a, b, const(rng.randrange(-9, 10))])
    op = rng.choice(
        ["add", "add", "sub", "sub", "mul", "neg", "and", "or", "xor", "not", "min", "max",
         "shr", "shl", "div", "mod", "floordiv", "floormod", "select", "int"]
    )  # fmt: skip
    x, y = (random_tree(rng, depth - 1) for _ in "xy")
    if op == "div" and not any(part.op == "var" for part in x.walk()):
        x = a  # gfortran warns of dividing constants
    small = node("floormod", x, const(101), lo=0, hi=100)
    if op in ("neg", "not"):
        return node(op, x)
    if op == "mul":
        return node(
            "mul",
            node("floormod", x, const(101), lo=0, hi=100),
            node("floormod", y, const(97), lo=0, hi=96),
        )
    if op == "shr":
        return node("shr", x, const(rng.randrange(0, 6)))
    if op == "shl":
        return node("shl", small, const(rng.randrange(0, 6)))
    if op in ("div", "mod"):
        return node(op, small, const(rng.randrange(1, 9)), lo=0, hi=100)
    if op in ("floordiv", "floormod"):
        return node(op, x, const(rng.choice([-7, -3, 2, 5, 8])))
    if op == "select":
        return node("select", random_tree(rng, depth - 1, "b"), x, y)
    if op == "int":
        return node("int", random_tree(rng, depth - 1, "b"))
    return node(op, x, y)


def random_trees(count=200, depth=5, seed=1, index_type="int64"):
    """Functions of random trees: parentheses and precedence in every combination."""
    rng = random.Random(seed)
    return Program(
        "random_trees",
        tuple(
            function(f"tree_{k}", {"result": random_tree(rng, depth)}, index_type)
            for k in range(count)
        ),
        "random trees",
    )


def several_outputs(index_type="int32"):
    """Statements, several outputs, a long expression."""
    a, b = var("a", -50, 50), var("b", -50, 50)
    total = a
    for k in range(30):
        total = node("add", total, node("mul", const(k + 2), var("b", -50, 50)))
    body = (("row_sum", node("add", a, b)), ("long_sum", total))
    outputs = {
        "i": node("mul", var("row_sum"), const(3)),
        "j": node("sub", var("long_sum"), var("row_sum")),
        "k": a,
    }
    return Program(
        "several_outputs",
        (function("several", outputs, index_type, "ab", body),),
        "several outputs",
    )


NASTY = ["end", "sample", "and", "N", "n", "mod", "gen", "await", "__x", "lambda", "long_" * 16]
NASTY += ["abstract", "ccall", "EOF"]


def nasty_names(index_type="int32"):
    """Parameters and a function with names that some language reserves."""
    total = const(1)
    for k, name in enumerate(NASTY):
        total = node("add", total, node("mul", const(k + 1), var(name)))
    return Program(
        "class",
        (function("function", {"in": total, "out": total}, index_type, NASTY),),
        "nasty names",
    )


def one_parameterless(index_type="int32"):
    return Program(
        "answer", (function("answer", {"result": const(42)}, index_type, ""),), "a constant"
    )


POINTS = list(itertools.product((-50, -7, -1, 0, 1, 2, 13, 50), repeat=2))


def points(count):
    """Argument tuples for a function of count parameters in -50..50."""
    if count == 0:
        return [()]
    if count == 2:
        return POINTS
    return [tuple((k * 37 + p * 11) % 101 - 50 for p in range(count)) for k in range(8)]


def with_index_type(program, index_type):
    """The same program in another index type."""
    from dataclasses import replace

    return replace(
        program,
        functions=tuple(replace(f, index_type=INDEX_TYPES[index_type]) for f in program.functions),
    )
