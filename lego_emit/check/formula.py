"""The formula that the paper's figures give for a layout when nobody simplifies it, for a reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra.digits import flattened, taken_apart
from ..algebra.expand import ExpandBy
from ..algebra.plain import PLAIN
from ..arith.expr import Expr
from ..errors import VerifyError
from ..trace.layouts import Application
from .steps import Reader, factor_text

INLINE = 60  # characters of a part that needs no name


class Formula:
    """An integer that remembers how it is made. What any reader leaves out is left out; equal ones
    are one."""

    __lego_symbolic__ = True
    __array_ufunc__ = None
    __slots__ = ("args", "known", "op", "place")

    def __init__(self, known: _Known, op: str, args: tuple):
        self.known, self.op, self.args = known, op, args
        self.place = len(known)

    def made(self, op: str, left: Any, right: Any) -> Any:
        """left op right, a number or an operand itself where any reader would leave the rest out."""
        if op == "+" and (_is(left, 0) or _is(right, 0)):
            return right if _is(left, 0) else left
        if op == "-" and _is(right, 0):
            return left
        if op == "*" and (_is(left, 0) or _is(right, 0)):
            return 0
        if op == "*" and (_is(left, 1) or _is(right, 1)):
            return right if _is(left, 1) else left
        if op == "//" and _is(right, 1):
            return left
        if op == "%" and _is(right, 1):
            return 0
        return self.of(op, self.leaf(left), self.leaf(right))

    def of(self, op: str, *args: Any) -> Formula:
        """The one formula of an operation over these operands."""
        key = (op, *(a.place if isinstance(a, Formula) else a for a in args))
        if key not in self.known:
            self.known[key] = Formula(self.known, op, args)
        return self.known[key]

    def leaf(self, value: Any) -> Formula:
        """An operand as a formula: a formula itself, or a number or size read as one."""
        return value if isinstance(value, Formula) else _leaf(self.known, value)

    def __neg__(self) -> Any:
        return self.made("-", 0, self)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self.made("//", self, other), self.made("%", self, other)

    def isqrt(self) -> Formula:
        """The integer square root, as a formula."""
        return self.of("isqrt", self)

    def _compared(self, other: Any) -> Any:
        raise VerifyError("a condition on an index is not followed here")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self._compared(0)


def _is(value: Any, number: int) -> bool:
    if isinstance(value, Expr):
        return value.constant == number
    return isinstance(value, int) and value == number


class _Known(dict):
    """The formulas of one nest, by how they are made; sizes are read in the user's symbols."""

    def __init__(self, reader: Reader):
        super().__init__()
        self.reader = reader


def _leaf(known: _Known, value: Any) -> Formula:
    e = known.reader.own(Expr.of(value))
    return known.setdefault(("leaf", repr(e)), Formula(known, "leaf", (e,)))


BINDING = {"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "//": 6, "%": 6}
_METHODS = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "and": "&", "or": "|",
    "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip

for _name, _op in _METHODS.items():
    setattr(Formula, f"__{_name}__", lambda a, b, op=_op: a.made(op, a, b))
    setattr(Formula, f"__r{_name}__", lambda a, b, op=_op: a.made(op, b, a))


def nest(applied: Application, reader: Reader, names: Sequence[str]) -> tuple[list[str], int]:
    """(the lines, the number of operations) of a layout applied as the figures say. A GenP that
    branches is written as a call."""
    known = _Known(reader)
    block = applied.block
    expanded = isinstance(block, ExpandBy)
    inner = block.layout if expanded else block
    packed = expanded and block.guard == "physical"
    values = [_leaf(known, v) for v in applied.values]
    if applied.inverse:
        flat = values[0]
        if packed:
            flat = flattened(block.n_prime, taken_apart(block.n, flat))
        results = list(inner.backward(PLAIN, flat))
    else:
        flat = inner.forward(PLAIN, [0 if _is(v.args[0], 0) else v for v in values])
        if packed:
            flat = flattened(block.n, taken_apart(block.n_prime, flat))
        results = [flat]
    results = [r if isinstance(r, Formula) else _leaf(known, r) for r in results]
    lines, count = _statements(results, names)
    if expanded and not (packed and applied.inverse):
        what = "position" if packed else "index"
        lines.append(f"-1 where the {what}'s coordinates are not in {_shape(block.n)}")
    return lines, count


def _shape(sizes: Sequence[Any]) -> str:
    return " x ".join(factor_text(Expr.of(n)) for n in sizes)


def _statements(results: list[Formula], names: Sequence[str]) -> tuple[list[str], int]:
    order: list[Formula] = []
    uses: dict[int, int] = {}
    seen: set[int] = set()

    def visit(f: Formula) -> None:
        uses[f.place] = uses.get(f.place, 0) + 1
        if f.place in seen:
            return
        seen.add(f.place)
        for a in f.args:
            if isinstance(a, Formula):
                visit(a)
        order.append(f)

    for r in results:
        visit(r)
    texts: dict[int, tuple[str, int]] = {}
    lines: list[str] = []
    count = 0
    last = {r.place for r in results} if len(results) == 1 else set()
    for f in order:
        text, binding = _text(f, texts)
        if f.op == "leaf":
            count += operators(f.args[0])
        else:
            count += 1
            if f.place not in last and (uses[f.place] > 1 or len(text) > INLINE):
                lines.append(f"t{len(lines) + 1} = {text}")
                text, binding = f"t{len(lines)}", 9
        texts[f.place] = text, binding
    if len(names) != len(results):
        names = [f"index {k}" for k in range(len(results))] if len(results) > 1 else ["result"]
    lines += [f"{n} = {texts[r.place][0]}" for n, r in zip(names, results, strict=True)]
    return lines, count


def _text(f: Formula, texts: dict[int, tuple[str, int]]) -> tuple[str, int]:
    if f.op == "leaf":
        text = repr(f.args[0])
        single = text.isidentifier() or text.isdigit()
        return text, 9 if single else 5 if len(f.args[0].terms) > 1 else 6
    if f.op not in BINDING:
        return f"{f.op}({', '.join(texts[a.place][0] for a in f.args)})", 9
    binding = BINDING[f.op]
    sides = []
    for k, a in enumerate(f.args):
        text, own = texts[a.place]
        tight = own > binding or (own == binding and k == 0)
        sides.append(text if tight else f"({text})")
    return (f"{sides[0]}*{sides[1]}" if f.op == "*" else f"{sides[0]} {f.op} {sides[1]}"), binding


def operators(e: Expr) -> int:
    """How many operators the text of an expression has."""
    words = repr(e).replace("*", " * ").split()
    return sum(w in BINDING for w in words)
