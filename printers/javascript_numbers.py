"""What a program becomes in JavaScript's Numbers, which are doubles.

Their bit operations see 32 bits only, and there is a -0.

A name with a dot is a variant of an operation, "and.unsigned" one of `and`.
"""

from __future__ import annotations

from dataclasses import replace

from lego_emit.emit.printer import ATOM, BREAK, Op, call
from lego_emit.errors import TargetError
from lego_emit.ir.index_types import INT32
from lego_emit.ir.loops import of_round
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Function
from lego_emit.printers.c_family import C_OPS

QUOTIENT = (13, 14)  # what the operands of a / must bind

LOW, HIGH = INT32.ends
# What makes its result unsigned -> the same without; sums stay as they are, which grow.
CASTS = {
    "mul.wrapping": "mul.int32", "not.wrapping": "not", "shl.wrapping": "shl", "and.unsigned": "and",
    "or.unsigned": "or", "xor.unsigned": "xor", "add.wrapping": "add.wrapping",
    "sub.wrapping": "sub.wrapping",
}  # fmt: skip
TAKE_BITS = {*CASTS, *CASTS.values(), "shr.unsigned"}

# Numbers take these where the ranges allow or ask for it; fit() chooses.
OWN_OPS = {
    "neg.nonzero": C_OPS["neg"],
    "isqrt.exact": call("Math.floor(Math.sqrt({0}))", 1),
    "plus_zero": Op(f"{{0}}{BREAK}+ 0", 12, (12,)),
    "not.wide": Op("-1 - {0}", 12, (13,)),
    "power": Op("2 ** {0}", 14, (14,)),
    "mul.power": Op("{0} * {1}", 13, QUOTIENT),
    "floordiv.power": Op("Math.floor({0} / {1})", ATOM, QUOTIENT),
    "mod.power": Op("{0} % {1}", 13, (13, 13)),
    "mul.int32": call("Math.imul({0}, {1})", 2),
    "mul.wrapping": Op("Math.imul({0}, {1}) >>> 0", 11, (0, 0)),
    "shr.unsigned": Op("{0} >>> {1}", 11, C_OPS["shr"].needs),
    "not.wrapping": Op("~{0} >>> 0", 11, C_OPS["not"].needs),
    **{
        f"{op}.wrapping": Op(f"({C_OPS[op].text}) >>> 0", 11, C_OPS[op].needs)
        for op in ("add", "sub", "shl")
    },
    **{
        f"{op}.unsigned": Op(f"({C_OPS[op].text}) >>> 0", 11, C_OPS[op].needs)
        for op in ("and", "or", "xor")
    },
}


def without_minus_zero(function: Function) -> Function:
    """The function with 0 added to each statement and output that may be -0, which gives 0."""
    least = {p.name: p.lo for p in function.params}

    def bounded(node: Node) -> Node:
        if node.op == "var" and node.lo is None:
            return replace(node, lo=least.get(str(node.value)))
        return node.over(tuple(map(bounded, node.args)))

    def signed(node: Node) -> Node:
        if may_be_minus_zero(bounded(node)):
            return Node("plus_zero", (node,), None, node.lo, node.hi)
        if node.op == "loop":
            return node.over((of_round(node.args[0], signed), *node.args[1:]))
        return node

    return replace(
        function,
        body=tuple((name, signed(node)) for name, node in function.body),
        outputs=tuple((name, signed(node)) for name, node in function.outputs),
    )


def without_signs_cast(function: Function) -> Function:
    """A fitted function whose arithmetic wraps: what a bit operation or a product gives is made unsigned
    only where that is seen, as all that wraps takes 32 bits of any sign."""

    def plain(node: Node) -> Node:
        args = node.args
        if node.op in TAKE_BITS:
            args = tuple(replace(a, op=CASTS.get(a.op, a.op)) for a in args)
        return node.over(tuple(map(plain, args)))

    return replace(
        function,
        body=tuple((name, plain(node)) for name, node in function.body),
        outputs=tuple((name, plain(node)) for name, node in function.outputs),
    )


def fit(node: Node, function: Function) -> Node:
    """A node as Numbers compute it: bit operations on more than 32 bits become arithmetic. Raises
    TargetError where there is none."""
    if node.op == "shr" and function.wrapping:
        return replace(node, op="shr.unsigned")
    if node.op in ("shl", "shr"):
        return _shift(node, function)
    if node.op in ("and", "or", "xor", "not"):
        return _bits(node, function)
    if node.op == "neg" and not _may_be_zero(node.args[0]):
        return replace(node, op="neg.nonzero")
    if node.op == "isqrt" and within(node.args[0], 0, 2**52 - 1):
        return replace(node, op="isqrt.exact")
    return node


def _signed(node: Node, function: Function) -> bool:
    """Whether a bit operation sees the whole operand."""
    return function.index_type == "int32" or within(node, LOW, HIGH)


def _shift(node: Node, function: Function) -> Node:
    value, by = node.args
    left = node.op == "shl"
    if _signed(value, function) and within(by, 0, 31):
        if not left or _signed(node, function):
            return node
    if isinstance(by.value, int):
        power = _const(2**by.value)
    else:
        low, high = (None if end is None else 2**end for end in (by.lo, by.hi))
        power = Node("power", (by,), None, low, high)
    return replace(node, op="mul.power" if left else "floordiv.power", args=(value, power))


def _bits(node: Node, function: Function) -> Node:
    signed = all(_signed(a, function) for a in node.args)
    if node.op == "not":
        return node if signed else replace(node, op="not.wide")
    # An operand of 31 bits masks whatever the other one has above them.
    if signed or (node.op == "and" and any(within(a, 0, HIGH) for a in node.args)):
        return node
    if all(within(a, 0, 2**32 - 1) for a in node.args):
        return replace(node, op=f"{node.op}.unsigned")
    if node.op == "and":
        for value, mask in (node.args[::-1], node.args):
            ones = (
                isinstance(mask.value, int) and mask.value > 0 and not mask.value & mask.value + 1
            )
            if ones and within(value, 0, 2**53 - 1):
                return replace(node, op="mod.power", args=(value, _const(mask.value + 1)))
    raise TargetError(
        f"{function.name}: JavaScript's {node.op!r} takes 32 bits and an operand may have more",
        'emit with index_type="int64", which uses BigInt',
    )


def _const(value: int) -> Node:
    return Node("const", (), value, value, value)


def _bounds(node: Node) -> tuple[int | None, int | None]:
    return (node.value, node.value) if isinstance(node.value, int) else (node.lo, node.hi)


def within(node: Node, low: int, high: int) -> bool:
    """Whether the node's proven range lies within low..high."""
    lo, hi = _bounds(node)
    return lo is not None and hi is not None and low <= lo and hi <= high


def _may_be_zero(node: Node) -> bool:
    lo, hi = _bounds(node)
    return not ((lo is not None and lo > 0) or (hi is not None and hi < 0))


def _may_be_negative(node: Node) -> bool:
    lo, _ = _bounds(node)
    return lo is None or lo < 0


def may_be_minus_zero(node: Node) -> bool:
    """Whether a node as it was lowered can be -0 as a Number. Products and quotients make it; sums
    and differences with anything else, bit operations and the helpers take it away."""
    args = node.args
    if node.op == "mul":
        pairs = ((args[0], args[1]), (args[1], args[0]))
        made = any(_may_be_zero(a) and _may_be_negative(b) for a, b in pairs)
        return made or any(map(may_be_minus_zero, args))
    if node.op == "floordiv":
        made = _may_be_zero(args[0]) and _may_be_negative(args[1])
        return made or may_be_minus_zero(args[0])
    if node.op == "add":
        return all(map(may_be_minus_zero, args))
    if node.op in ("min", "max"):
        return any(map(may_be_minus_zero, args))
    if node.op == "select":
        return any(map(may_be_minus_zero, args[1:]))
    if node.op in ("shl", "shr") and all(within(n, LOW, HIGH) for n in (node, *args)):
        return False
    if node.op in ("sub", "div", "mod", "shl", "shr", "isqrt"):
        return may_be_minus_zero(args[0])
    return False
