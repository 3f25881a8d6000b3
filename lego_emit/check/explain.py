"""unit.explain(): from a layout's own formulas to what is emitted, for someone who wants to check.

The generation is run once more with a Recorder in force (steps.py). What it tells is put into the
user's own symbols: the nest of divisions that Figs. 4, 5 and 9 of the paper give, each division
that was simplified with its rule (Table II) and what allows it, the forms that were priced, and the
program that was taken.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ..algebra.digits import flattened, taken_apart
from ..algebra.expand import ExpandBy
from ..algebra.plain import PLAIN
from ..arith.expr import Cond, Expr
from ..arith.knowledge import RECORDER, using
from ..arith.rebuild import unsubstitute
from ..arith.terms import Atom
from ..errors import LegoError, TargetError, VerifyError, nearest
from ..ir.program import Function, Node, Program
from .steps import Application, Division, Merge, Proof, Recorder, Told, Tried

WIDTH = 100
NEST_LINES = 30  # of a layout's own formula that are shown
FORMS = 8  # that are shown
LONG = 200  # characters of one side of a step, beyond which its parts are named
PART = 24  # characters of a part that is
INLINE = 60  # characters of a part that needs no name

# Table II's rules are counted from the top.
RULES = {
    "multiples": (
        "multiples of the divisor come out (Table II, rules 1 and 2)",
        "(d*q + r) // d = q + r // d  and  (d*q + r) % d = r % d",
    ),
    "fits": (
        "multiples of the divisor come out, what is smaller stays (Table II, rules 1, 2 and 5)",
        "(d*q + r) // d = q  and  (d*q + r) % d = r,  where 0 <= r < d",
    ),
    "small": (
        "what is smaller than the divisor (Table II, rules 4 and 5)",
        "x // d = 0  and  x % d = x,  where 0 <= x < d",
    ),
    "digits": (
        "digits below a border do not reach it (ours, from rules 1 and 2 of Table II)",
        "(g*h + l) // (g*c) = h // c  and  (g*h + l) % (g*c) = g*(h % c) + l,  where 0 <= l < g",
    ),
    "nested": (
        "a digit of a digit is a digit (ours)",
        "(x // l) // b = x // (l*b)  and  (x // l) % b = x % (l*b) // l",
    ),
    "exact": (
        "one size divides the other (Table II, rules 1 and 2 with r = 0)",
        "(d*q) // d = q  and  (d*q) % d = 0",
    ),
    "merged": (
        "quotient and remainder of one value (Table II, rule 7)",
        "d*(x // d) + x % d = x",
    ),
    "taken off": (
        "what a quotient leaves is the remainder (Table II, rule 7 turned round)",
        "x - d*(x // d) = x % d",
    ),
}


class Generated(Protocol):
    """A unit that generate() made. make: makes its program again."""

    @property
    def program(self) -> Program: ...

    @property
    def functions(self) -> tuple[Function, ...]: ...

    @property
    def make(self) -> Callable[[], Program] | None: ...


@dataclass(frozen=True)
class Step:
    """One equality that was used: before = after wherever the parameters are in their ranges.

    function: whose; before, after: Exprs in the user's symbols (lego_emit.arith.evaluate gives their
    values); rule: a key of RULES; because: what allows it, as text; proof: how that was shown.
    bounds: (value, bound) where that is 0 <= value < bound; where: the conditions of the branch in
    which it holds.
    """

    function: str
    before: Expr
    after: Expr
    rule: str
    because: str = ""
    proof: str = ""
    bounds: tuple[Expr, Expr] | None = None
    where: tuple[Cond, ...] = ()


def steps(unit: Generated, name: str | None = None) -> list[Step]:
    """The steps of a unit's functions, in order; name: of one of them."""
    return [s for found in _again(unit, name) for s in found.steps]


def explain(unit: Generated, name: str | None = None) -> str:
    """See Emitted.explain."""
    lines: list[str] = []
    found = _again(unit, name)
    for one in found:
        lines += _function(one)
    used = dict.fromkeys(s.rule for one in found for s in one.steps)
    if used:
        lines.append("Rules")
        for rule in used:
            lines.append(f"  {RULES[rule][0]}")
            lines.append(f"    {RULES[rule][1]}")
    return "\n".join(lines).rstrip() + "\n"


# -- generating again ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    """One function, with all that was told of it."""

    function: Function
    told: Told
    steps: list[Step]
    applied: list[Application]
    reader: _Reader


def _again(unit: Generated, name: str | None) -> list[_Found]:
    if unit.make is None:
        raise TargetError(
            f"{unit.program.name} was not made by generate(): there is nothing to explain"
        )
    recorder = Recorder()
    token = RECORDER.set(recorder)
    try:
        program = unit.make()
    finally:
        RECORDER.reset(token)
    known = [f.name for f in program.functions]
    emitted = [f.name for f in unit.functions]
    if name is not None and name not in (*known, *emitted):
        raise TargetError(
            f"no function {name!r} in {unit.program.name}; it has {', '.join(emitted)}."
            f"{nearest(name, emitted)}"
        )
    found = []
    for function, told, as_emitted in zip(
        program.functions, recorder.functions, emitted, strict=True
    ):
        if name is None or name in (function.name, as_emitted):
            entries = recorder.entries(told)
            reader = _Reader(function.name, told, recorder.stand_ins)
            applied = [e for e in entries if isinstance(e, Application)]
            shown = [
                Application(a.block, tuple(map(reader.own, a.values)), a.inverse) for a in applied
            ]
            found.append(_Found(function, told, reader.steps(entries), _once(shown), reader))
    return found


def _once(applied: Iterable[Application]) -> list[Application]:
    """Each application once; a second run of a branch repeats them."""
    found: dict[tuple, Application] = {}
    for a in applied:
        found.setdefault((id(a.block), a.values, a.inverse), a)
    return list(found.values())


# -- steps ---------------------------------------------------------------------------------------


class _Reader:
    """Makes steps of what was recorded for one function."""

    def __init__(self, name: str, told: Told, stand_ins: dict[str, Expr]):
        self.name, self.facts = name, told.facts
        self.stand_ins = stand_ins
        self._found: dict[tuple[str, str], Step] = {}

    def own(self, e: Expr) -> Expr:
        """e in the user's symbols."""
        e = unsubstitute(e, self.facts)
        while any(s in self.stand_ins for s in e.symbols()):
            e = unsubstitute(_replaced(e, self.stand_ins), self.facts)
        return e

    def steps(self, entries: Iterable[Any]) -> list[Step]:
        self._found = {}
        with using(self.facts):
            for entry in entries:
                if isinstance(entry, Division):
                    self._division(entry)
                elif isinstance(entry, Merge):
                    self._merge(entry)
        return list(self._found.values())

    def _add(
        self,
        before: Expr,
        after: Expr,
        rule: str,
        bounds: tuple[Expr, Expr] | None,
        proof: str,
        where: tuple[Cond, ...],
    ) -> None:
        before, after = self.own(before), self.own(after)
        where = tuple(c.rebuild(self.own) for c in where)
        if before.same(after) or before.constant is not None or repr(before) == repr(after):
            return
        because = "" if bounds is None else _between(*bounds)
        step = Step(self.name, before, after, rule, because, proof, bounds, where)
        self._found.setdefault((before.key, after.key), step)

    def _division(self, d: Division) -> None:
        if d.dividend.constant is not None and d.divisor.constant is not None:
            return
        quotient, remainder = d.quotient, d.remainder
        bounds, proof = None, ""
        parts: list[Division | Merge] = []
        if d.kind == "split":
            assert d.border is not None
            g, high, low, inner = d.border
            rule = "digits"
            bounds, proof = self._range(d.proof)
            goes_on = [p for p in d.parts if isinstance(p, Division) and p.dividend.same(high)]
            if inner.constant != 1 and high.constant is None and goes_on:
                parts = d.parts
                quotient = d.whole + Expr.atom(Atom("digit", high, inner, None))
                # the raw product: what it simplifies to is the next steps' business
                remainder = _raw_sum(low, _raw_product(g, Atom("digit", high, Expr.of(1), inner)))
        elif d.kind == "nested":
            rule, proof = "nested", "for every value"
        elif d.kind == "exact":
            rule = "exact"
            proof = "divisibility"
        elif d.kind == "fit" and d.proof is not None:
            rule = "fits" if d.whole.terms else "small"
            bounds, proof = self._range(d.proof)
        elif d.kind == "fit":
            rule, proof = "exact", "the divisor is a factor of every term"
        else:
            rule = "multiples"
            proof = "for every value" if not d.signed else "where the divisor is not 0"
        used = self._divisibility(d)
        if used and proof:
            proof = f"{proof}, with {used}"
        kinds = ("fdiv", "fmod") if d.signed else None
        one, a, b = Expr.of(1), d.dividend, d.divisor
        before = Atom("fdiv", a, b) if kinds else Atom("digit", a, b, None)
        if rule == "exact" and repr(self.own(Expr.atom(before))) == repr(self.own(quotient)):
            return  # it says nothing that the Known does not
        self._add(Expr.atom(before), quotient, rule, bounds, proof, d.where)
        before = Atom("fmod", a, b) if kinds else Atom("digit", a, one, b)
        self._add(Expr.atom(before), remainder, rule, bounds, proof, d.where)
        for part in parts:
            if isinstance(part, Division):
                self._division(part)
            else:
                self._merge(part)

    def _range(self, proof: Proof | None) -> tuple[tuple[Expr, Expr] | None, str]:
        """((value, bound) of 0 <= value < bound, how that was shown)."""
        if proof is None:
            return None, "for every value"
        how, single = proof.how, proof.value.single
        if proof.known is not None:
            how = f"from {_relation(self.own(proof.known))}"
        elif single is not None and single.kind == "group" and single.args[2] is not None:
            how = "the range of a block that is a bijection"
        elif single is not None and single.kind == "sym" and single.args[0] in self.facts.ranges:
            hi = self.facts.ranges[single.args[0]].hi
            if hi is not None and hi.same(proof.bound - 1):
                how = f"the range of {self.own(proof.value)!r}"
        return (self.own(proof.value), self.own(proof.bound)), how

    def _divisibility(self, d: Division) -> str:
        """The products that sizes were taken for, where a division rests on them."""
        facts = self.facts
        above = {s for m in d.dividend.terms for a in m if a.kind == "sym" for s in a.args}
        below = d.divisor.symbols()
        found = []
        for name, value in sorted(facts.substitutions.items()):
            parts = value.symbols()
            if below & parts and parts <= above and parts & facts.quotients.keys():
                if not parts <= below:
                    made = [unsubstitute(Expr.atom(Atom("sym", p)), facts) for p in sorted(parts)]
                    found.append(f"{name} = {'*'.join(map(_factor, made))}")
        return " and ".join(found)

    def _merge(self, m: Merge) -> None:
        common = {k for k, c in m.before.terms.items() if m.after.terms.get(k) == c}
        before = Expr({k: c for k, c in m.before.terms.items() if k not in common})
        after = Expr({k: c for k, c in m.after.terms.items() if k not in common})
        digits = [c for k, c in before.terms.items() if any(a.kind == "digit" for a in k)]
        rule = "taken off" if digits and len({c > 0 for c in digits}) > 1 else "merged"
        if len(digits) == 1:
            rule = "taken off"
        self._add(before, after, rule, None, "for every value", m.where)


def _replaced(e: Expr, values: dict[str, Expr]) -> Expr:
    """e with symbols replaced, and nothing simplified."""
    memo: dict[Any, Any] = {}

    def walk(value: Any) -> Any:
        if isinstance(value, Cond):
            return value.rebuild(walk)
        if not isinstance(value, Expr):
            return value
        terms: dict[tuple[Atom, ...], int] = {}
        for mono, c in value.terms.items():
            made = tuple(sorted(map(walk_atom, mono), key=lambda a: a.key))
            terms[made] = terms.get(made, 0) + c
        return _flat(Expr({m: c for m, c in terms.items() if c}))

    def walk_atom(atom: Atom) -> Atom:
        if atom not in memo:
            if atom.kind == "sym":
                value = values.get(atom.args[0])
                memo[atom] = (
                    atom
                    if value is None
                    else value.single or Atom("group", value, None, None, False)
                )
            else:
                memo[atom] = Atom(atom.kind, *map(walk, atom.args))
        return memo[atom]

    return walk(e)


def _flat(e: Expr) -> Expr:
    """e with sums that stand alone as terms opened."""
    terms: dict[tuple[Atom, ...], int] = {}
    for mono, c in e.terms.items():
        opened = {mono: 1}
        if len(mono) == 1 and mono[0].kind == "group":
            opened = mono[0].args[0].terms
        for m, k in opened.items():
            terms[m] = terms.get(m, 0) + c * k
    return Expr({m: c for m, c in terms.items() if c})


def _raw_product(g: Expr, atom: Atom) -> Expr:
    return Expr({tuple(sorted((*m, atom), key=lambda a: a.key)): c for m, c in g.terms.items()})


def _raw_sum(a: Expr, b: Expr) -> Expr:
    terms = dict(a.terms)
    for m, c in b.terms.items():
        terms[m] = terms.get(m, 0) + c
    return Expr({m: c for m, c in terms.items() if c})


def _factor(e: Expr) -> str:
    text = repr(e)
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _between(value: Expr, bound: Expr) -> str:
    return f"0 <= {value!r} < {bound!r}"


def _relation(known: Expr) -> str:
    """known >= 0 as a comparison of two sides."""
    left = Expr({m: -c for m, c in known.terms.items() if c < 0 and m})
    right = Expr({m: c for m, c in known.terms.items() if c > 0 and m})
    constant = known.terms.get((), 0)
    if constant == -1 and right.terms:
        return f"{left!r} < {right!r}"
    if constant > 0:
        right = right + constant
    elif constant < 0:
        left = left - constant
    return f"{left!r} <= {right!r}"


# -- the layout's own formula --------------------------------------------------------------------


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
        key = (op, *(a.place if isinstance(a, Formula) else a for a in args))
        if key not in self.known:
            self.known[key] = Formula(self.known, op, args)
        return self.known[key]

    def leaf(self, value: Any) -> Formula:
        return value if isinstance(value, Formula) else _leaf(self.known, value)

    def __neg__(self) -> Any:
        return self.made("-", 0, self)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self.made("//", self, other), self.made("%", self, other)

    def isqrt(self) -> Formula:
        return self.of("isqrt", self)

    def _compared(self, other: Any) -> Any:
        raise VerifyError("a condition on an index is not followed here")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared  # type: ignore[assignment]
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self._compared(0)


def _is(value: Any, number: int) -> bool:
    if isinstance(value, Expr):
        return value.constant == number
    return isinstance(value, int) and value == number


class _Known(dict):
    """The formulas of one nest, by how they are made; sizes are read in the user's symbols."""

    def __init__(self, reader: _Reader):
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


def _nest(applied: Application, reader: _Reader, names: Sequence[str]) -> tuple[list[str], int]:
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
    return " x ".join(_factor(Expr.of(n)) for n in sizes)


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
            count += _operators(f.args[0])
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


def _operators(e: Expr) -> int:
    words = repr(e).replace("*", " * ").split()
    return sum(w in BINDING for w in words)


# -- the program ---------------------------------------------------------------------------------

# Python's own precedence; -1 and below: conditions
_INFIX = {
    "add": ("+", 5), "sub": ("-", 5), "mul": ("*", 6), "div": ("//", 6), "mod": ("%", 6),
    "floordiv": ("//", 6), "floormod": ("%", 6), "shl": ("<<", 4), "shr": (">>", 4),
    "and": ("&", 3), "xor": ("^", 2), "or": ("|", 1), "lt": ("<", 0), "le": ("<=", 0),
    "gt": (">", 0), "ge": (">=", 0), "eq": ("==", 0), "ne": ("!=", 0),
    "land": ("and", -1), "lor": ("or", -2),
}  # fmt: skip


def _python(node: Node, need: int = -9) -> str:
    """A node as Python text, parenthesized where it binds less than needed."""
    if node.op in ("const", "var"):
        text = str(node.value)
        return f"({text})" if text.startswith("-") and need > 0 else text
    if node.op in _INFIX:
        sign, binding = _INFIX[node.op]
        step = 1 if binding > 0 else 2  # comparisons chain in Python
        left = _python(node.args[0], binding if binding > 0 else binding + step)
        right = _python(node.args[1], binding + 1 if binding > 0 else binding + step)
        text = f"{left}*{right}" if sign == "*" else f"{left} {sign} {right}"
        return f"({text})" if need > binding else text
    if node.op == "select":
        condition, then, otherwise = node.args
        text = f"{_python(then, -2)} if {_python(condition, -2)} else {_python(otherwise, -3)}"
        return f"({text})" if need > -4 else text
    if node.op in ("neg", "not", "lnot"):
        sign = {"neg": "-", "not": "~", "lnot": "not "}[node.op]
        text = sign + _python(node.args[0], 7)
        return f"({text})" if need > 5 else text
    return f"{node.op}({', '.join(_python(a) for a in node.args)})"


# -- the text ------------------------------------------------------------------------------------


def _wrapped(text: str, indent: str, more: str = "    ") -> list[str]:
    for sign in ("//", "%", "<", "<=", "if", "else"):
        text = text.replace(f" {sign} ", f"\0{sign}\0")
    found = textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + more,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in found]


def _hung(text: str, head: str) -> list[str]:
    """Wrapped lines, the first one after a head."""
    pad = " " * len(head)
    first, *others = _wrapped(text, pad, "  ")
    return [head + first[len(pad) :], *others]


def _function(found: _Found) -> list[str]:
    function = found.function
    names = ", ".join(p.name for p in function.params)
    lines = [f"{function.name}({names})", ""]
    ranges = [p.range_text for p in function.params if p.range_text]
    known = [*ranges, *function.assumptions]
    if known:
        lines += ["  Known", *_wrapped("; ".join(known), "    "), ""]
    lines += _naive(found)
    lines += _told(found.steps)
    lines += _forms(found.told)
    lines += _program(function)
    return lines


def _naive(found: _Found) -> list[str]:
    lines: list[str] = []
    for a in found.applied:
        figures = "Figs. 5 and 9" if isinstance(a.block, ExpandBy) else "Figs. 4 and 5"
        values = ", ".join(map(repr, a.values))
        what = "inv" if a.inverse else "apply"
        block = _folded(repr(a.block), found.told)
        lines += [*_wrapped(f"{block}.{what}({values})", "  "), f"  by {figures} alone"]
        try:
            nest, count = _nest(a, found.reader, [n for n, _ in found.function.outputs])
        except (LegoError, TypeError, ValueError, AttributeError):
            lines += ["    (its GenP branches on an index: no single formula)", ""]
            continue
        shown = nest
        if len(nest) > NEST_LINES:
            left = len(nest) - NEST_LINES
            shown = [*nest[: NEST_LINES - 1], f"... {left} more", nest[-1]]
        for line in shown:
            lines += _wrapped(line, "    ")
        lines += [f"    {_count(count, 'operation')}", ""]
    return lines


def _told(found: list[Step]) -> list[str]:
    if not found:
        return ["  Steps: none", ""]
    lines = ["  Steps"]
    names = _Names()
    number = 0
    k = 0
    while k < len(found):
        step = found[k]
        together = [step]
        if k + 1 < len(found) and _one_division(step, found[k + 1]):
            together.append(found[k + 1])
        k += len(together)
        number += 1
        head = f"  {number:3}. "
        together = [
            replace(s, before=names.short(s.before), after=names.short(s.after)) for s in together
        ]
        because = step.because
        if step.bounds is not None:
            because = _between(*map(names.short, step.bounds))
        for text in names.new:
            lines += _wrapped(text, " " * len(head))
        names.new = []
        for s in together:
            lines += _equation(s, head)
            head = " " * len(head)
        pad = " " * len(head)
        lines += _wrapped(RULES[step.rule][0], pad, "  ")
        if because:
            proof = step.proof if step.proof.startswith("from") else f"by {step.proof}"
            lines += _wrapped(f"because {because}, {proof}", pad, "  ")
        elif step.proof:
            lines += _wrapped(
                f"holds {step.proof}" if step.proof.startswith("for") else f"by {step.proof}",
                pad,
                "  ",
            )
        if step.where:
            lines += _wrapped(f"where {' and '.join(map(repr, step.where))}", pad, "  ")
    return [*lines, ""]


def _keys(step: Step) -> list[str]:
    """The conditions of its branch, in a form whose == is plain."""
    return [c.key for c in step.where]


def _one_division(a: Step, b: Step) -> bool:
    x, y = a.before.single, b.before.single
    if x is None or y is None or (a.rule, a.because, _keys(a)) != (b.rule, b.because, _keys(b)):
        return False
    if x.kind == "digit":
        return y.kind == "digit" and x.args == (y.args[0], y.args[2], None)
    return (x.kind, y.kind) == ("fdiv", "fmod") and x.args == y.args


class _Names:
    """Names for parts of one function's steps that are too long to read."""

    def __init__(self) -> None:
        self.new: list[str] = []  # the definitions since they were last shown
        self._memo: dict[Any, Any] = {}

    def short(self, e: Expr) -> Expr:
        """e with its long parts named, where it is long."""
        return self._walk(e) if len(repr(e)) > LONG else e

    def _walk(self, value: Any) -> Any:
        if isinstance(value, Cond):
            return value.rebuild(self._walk)
        if not isinstance(value, Expr):
            return value
        if value not in self._memo:
            terms: dict[tuple[Atom, ...], int] = {}
            for mono, c in value.terms.items():
                made = tuple(sorted(map(self._atom, mono), key=lambda a: a.key))
                terms[made] = terms.get(made, 0) + c
            self._memo[value] = Expr({m: c for m, c in terms.items() if c})
        return self._memo[value]

    def _atom(self, atom: Atom) -> Atom:
        if atom not in self._memo:
            made = atom if atom.kind == "sym" else Atom(atom.kind, *map(self._walk, atom.args))
            text = repr(Expr.atom(made))
            if len(text) > PART:
                name = f"v{sum(isinstance(k, str) for k in self._memo) + 1}"
                self._memo[name] = name
                self.new.append(f"{name} = {text}")
                made = Atom("sym", name)
            self._memo[atom] = made
        return self._memo[atom]


def _equation(step: Step, head: str) -> list[str]:
    before, after = repr(step.before), repr(step.after)
    line = f"{head}{before} = {after}"
    if len(line) <= WIDTH:
        return [line]
    return [*_hung(before, head), *_wrapped(f"= {after}", " " * len(head) + "  ", "  ")]


def _folded(text: str, told: Told) -> str:
    """A layout's text with BM*(M // BM) put back to M."""
    for name, value in told.facts.substitutions.items():
        text = re.sub(rf"(?<![\w*]){re.escape(repr(value))}(?![\w*])", name, text)
    return text


def _forms(told: Told) -> list[str]:
    best: dict[tuple, Tried] = {}
    for form in told.forms:
        key = _words(form)
        known = best.get(key)
        better = known is None or (form.cost, form.operations) < (known.cost, known.operations)
        if form is told.winner or (better and known is not told.winner):
            best[key] = form
    if not best:
        return []
    ordered = sorted(best.items(), key=lambda f: (f[1].cost, f[1].operations, f[0]))
    ordered.sort(key=lambda f: f[1] is not told.winner)
    lines = [
        f'  Forms and their cost by "{told.model}", the one that was taken first',
        "    cost  operations",
    ]
    for words, form in ordered[:FORMS]:
        head = f"  {form.cost:6g}  {form.operations:10}  "
        lines += _hung(", ".join(words), head)
    if len(ordered) > FORMS:
        lines.append(f"          and {len(ordered) - FORMS} more")
    winner = told.winner
    if winner is not None and any(f.cost < winner.cost for f in best.values()):
        lines.append("          (the cheaper ones need more than 32 bits on the way)")
    return [*lines, ""]


def _words(form: Tried) -> tuple[str, ...]:
    words = form.words or ("digits as they stand",)
    if form.whole:
        words = ("a flat position kept whole", *words)
    checked = [f"checked on all {len(d):,} values of {d[0]}..{d[-1]}" for d in form.domains]
    return (*words, *dict.fromkeys(checked))


def _program(function: Function) -> list[str]:
    count = _count(function.op_count, "operation")
    less = function.op_count_hoisted
    without = f" ({less} without those on sizes alone)" if less != function.op_count else ""
    lines = [f"  Emitted: {count}{without}, cost {function.cost:g}"]
    for name, node in (*function.body, *function.outputs):
        lines += _wrapped(f"{name} = {_python(node)}", "    ")
    return [*lines, ""]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


__all__ = ["RULES", "Step", "explain", "steps"]
