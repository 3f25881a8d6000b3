"""The formula that the paper's figures give for a layout when nobody simplifies it, for a reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra.digits import ravel, unravel
from ..algebra.integer_eval import PLAIN
from ..algebra.masked import ExpandBy, Masked
from ..algebra.written import Written, is_number
from ..arith.expr import Expr
from ..errors import VerifyError
from ..notation import BINDING, Spelled, call, entry, infix, is_name
from ..table_lookup import Entries
from ..trace.layouts import Application
from .steps import Reader, factor_text

INLINE = 60  # characters of a part that needs no name


class Formula(Written):
    """An integer that remembers how it is made; equal ones are one."""

    __slots__ = ("args", "known", "op", "place")
    __hash__ = object.__hash__

    def __init__(self, known: _Known, op: str, args: tuple):
        self.known, self.op, self.args = known, op, args
        self.place = len(known)

    def of(self, op: str, *args: Any) -> Formula:
        """The one formula of an operation over these operands."""
        operands = tuple(a if isinstance(a, Formula) else _leaf(self.known, a) for a in args)
        key = (op, *(a.place for a in operands))
        if key not in self.known:
            self.known[key] = Formula(self.known, op, operands)
        return self.known[key]

    def __neg__(self) -> Any:
        return self.made("-", 0, self)

    def isqrt(self) -> Formula:
        """The integer square root, as a formula."""
        return self.of("isqrt", self)

    def looked_up(self, entries: Entries) -> Formula:
        """The entry of a table, as a formula."""
        return self.of(f"{entries.name}[]", self)

    def compared(self, op: str, other: Any) -> Any:
        """A branch, which a formula has not."""
        raise VerifyError("a condition on an index is not followed here")

    def __bool__(self) -> bool:
        return self.compared("!=", 0)


class _Known(dict):
    """The formulas of one nest, by how they are made; sizes are read in the user's symbols."""

    def __init__(self, reader: Reader):
        super().__init__()
        self.reader = reader


def _leaf(known: _Known, value: Any) -> Formula:
    e = known.reader.own(Expr.of(value))
    return known.setdefault(("leaf", repr(e)), Formula(known, "leaf", (e,)))


def nest(applied: Application, reader: Reader, names: Sequence[str]) -> tuple[list[str], int]:
    """(the lines, the number of operations) of a layout applied as the figures say. A GenP that
    branches is written as a call."""
    known = _Known(reader)
    block = applied.block
    inner = block.layout if isinstance(block, Masked) else block
    packed = block if isinstance(block, ExpandBy) and block.guard == "physical" else None
    values = [_leaf(known, v) for v in applied.values]
    if applied.inverse:
        flat = values[0]
        if packed:
            flat = ravel(packed.n_prime, unravel(packed.n, flat))
        results = list(inner.backward(PLAIN, flat))
    else:
        flat = inner.forward(PLAIN, [0 if is_number(v.args[0], 0) else v for v in values])
        if packed:
            flat = ravel(packed.n, unravel(packed.n_prime, flat))
        results = [flat]
    results = [r if isinstance(r, Formula) else _leaf(known, r) for r in results]
    lines, count = _statements(results, names)
    if inner is not block and (block.masks_inverse if applied.inverse else block.masks):
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
    texts: dict[int, Spelled] = {}
    lines: list[str] = []
    count = 0
    last = {r.place for r in results} if len(results) == 1 else set()
    for f in order:
        said = _text(f, texts)
        if f.op == "leaf":
            count += operators(f.args[0])
        else:
            count += 1
            if f.place not in last and (uses[f.place] > 1 or len(said.text) > INLINE):
                lines.append(f"t{len(lines) + 1} = {said.text}")
                said = Spelled(f"t{len(lines)}")
        texts[f.place] = said
    if len(names) != len(results):
        names = [f"index {k}" for k in range(len(results))] if len(results) > 1 else ["result"]
    lines += [f"{n} = {texts[r.place].text}" for n, r in zip(names, results, strict=True)]
    return lines, count


def _text(f: Formula, texts: dict[int, Spelled]) -> Spelled:
    if f.op == "leaf":
        text = repr(f.args[0])
        single = is_name(text) or text.isdigit()
        return Spelled(text, "" if single else "+" if len(f.args[0].terms) > 1 else "//")
    args = [texts[a.place] for a in f.args]
    if f.op.endswith("[]"):
        return entry(f.op.removesuffix("[]"), *args)
    return infix(f.op, *args) if f.op in BINDING else call(f.op, args)


def operators(e: Expr) -> int:
    """How many operators the text of an expression has."""
    words = repr(e).replace("*", " * ").split()
    return sum(BINDING.get(w, 0) > 0 for w in words)
