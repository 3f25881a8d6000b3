"""unit.explain(): from a layout's own formulas to what is emitted, for someone who wants to check.

What was done and tried when the unit was made (the records of its functions) is put into the user's
own symbols: the nest of divisions that Figs. 4, 5 and 9 of the paper give, each division that was
simplified with its rule (Table II) and what allows it, the forms that were priced, and the program
that was taken.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ..algebra.masked import ExpandBy
from ..arith.expr import Cond, Expr
from ..arith.steps import Log
from ..arith.terms import Atom
from ..errors import LegoError
from ..html import code, folded
from ..ir.nodes import Node
from ..ir.program import Function
from ..ir.relations import inlined, says
from ..lower.lowering import Attempt, identities
from ..trace.layouts import Application
from .formula import nest
from .minimal import proof_of
from .steps import Step, Told, Unit, between, told

WIDTH = 100
NEST_LINES = 30  # of a layout's own formula that are shown
FORMS = 8  # that are shown
RULES = "Rules"
LONG = 200  # characters of one side of a step, beyond which its parts are named
PART = 24  # characters of a part that is
NO_FORMULA = (LegoError, TypeError, ValueError, AttributeError)  # of a GenP that branches


class Explanation(str):
    """What explain() says: the text, each function's part and the rules from its first column on."""

    __slots__ = ()

    @property
    def parts(self) -> list[str]:
        """One for each function, and one for the rules."""
        return re.split(r"\n(?=\S)", self)

    def __repr__(self) -> str:
        heads = [part.partition("\n")[0] for part in self.parts]
        return f"<explanation of {', '.join(head for head in heads if head != RULES)}>"

    def _repr_html_(self) -> str:
        made = [part.partition("\n") for part in self.parts]
        return "".join(folded(head, code(rest), head != RULES) for head, _, rest in made)


def explain(unit: Unit, name: str | None = None) -> Explanation:
    """The explanation of a unit, or of one of its functions, as Emitted.explain returns it."""
    lines: list[str] = []
    found = told(unit, name)
    for one in found:
        lines += _function(one)
    used = dict.fromkeys(s.law for one in found for s in one.steps)
    if used:
        lines.append(RULES)
        for law in used:
            lines.append(f"  {law.says}")
            lines.append(f"    {law.equation}")
    return Explanation("\n".join(lines).rstrip() + "\n")


def naive_operations(unit: Unit) -> dict[str, int]:
    """For each function the operations of the formulas that the paper's figures give for what it
    applies, equal ones once; a function without such formulas is left out."""
    counts: dict[str, int] = {}
    for found in told(unit):
        applied = _applied(found)
        names = [n for n, _ in found.function.outputs]
        if not applied or any(a.block.results is not None for a in applied):
            continue
        with suppress(*NO_FORMULA):
            counts[found.function.name] = sum(nest(a, found.reader, names)[1] for a in applied)
    return counts


def _applied(found: Told) -> list[Application]:
    """The layouts that were applied, each once: a second run of a branch repeats them."""
    unique: dict[tuple, Application] = {}
    for a in found.entries:
        if isinstance(a, Application):
            values = tuple(map(found.reader.own, a.values))
            shown = Application(a.block, values, a.inverse)
            unique.setdefault((id(a.block), identities(values), a.inverse), shown)
    return list(unique.values())


def _distinct(forms: Iterable[Attempt]) -> list[Attempt]:
    """Each form once, the first time that it was priced."""
    found: dict[tuple[Node, ...], Attempt] = {}
    for form in forms:
        found.setdefault(tuple(form.candidate.roots), form)
    return list(found.values())


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


def _function(found: Told) -> list[str]:
    function = found.function
    names = ", ".join(p.name for p in function.params)
    lines = [f"{function.name}({names})", ""]
    ranges = [p.range_text for p in function.params if p.range_text]
    known = [*ranges, *function.assumptions]
    if known:
        lines += ["  Known", *_wrapped("; ".join(known), "    "), ""]
    lines += _naive(found)
    lines += _told(found.steps)
    lines += _rewritten(found)
    lines += _forms(found)
    lines += _program(function)
    return lines


def _naive(found: Told) -> list[str]:
    lines: list[str] = []
    for a in _applied(found):
        figures = "Figs. 5 and 9" if isinstance(a.block, ExpandBy) else "Figs. 4 and 5"
        values = ", ".join(map(repr, a.values))
        what = "inv" if a.inverse else "apply"
        block = _folded(repr(a.block), found)
        lines += _wrapped(f"{block}.{what}({values})", "  ")
        if a.block.results is not None:
            lines += ["  the images of the bits that are set, added over F2", ""]
            continue
        lines += [f"  by {figures} alone"]
        try:
            formula, count = nest(a, found.reader, [n for n, _ in found.function.outputs])
        except NO_FORMULA:
            why = (
                "one of its layouts, by a tag" if a.block.tags else "its GenP branches on an index"
            )
            lines += [f"    ({why}: no single formula)", ""]
            continue
        shown = formula
        if len(formula) > NEST_LINES:
            left = len(formula) - NEST_LINES
            shown = [*formula[: NEST_LINES - 1], f"... {left} more", formula[-1]]
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
            because = between(*map(names.short, step.bounds))
        for text in names.new:
            lines += _wrapped(text, " " * len(head))
        names.new = []
        for s in together:
            lines += _equation(s, head)
            head = " " * len(head)
        pad = " " * len(head)
        lines += _wrapped(step.law.says, pad, "  ")
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


def _rewritten(found: Told) -> list[str]:
    changed = found.record.problem.written.changes
    if not changed:
        return []
    lines = ["  Rewritten by rewrite=, proven to be equal"]
    for before, after in changed:
        lines += _wrapped(before, "    ")
        lines += _wrapped(f"= {after}", "      ", "  ")
    return [*lines, ""]


def _keys(step: Step) -> list[str]:
    """The conditions of its branch, in a form whose == is plain."""
    return [c.key for c in step.where]


def _one_division(a: Step, b: Step) -> bool:
    x, y = a.before.single, b.before.single
    if x is None or y is None or (a.law, a.because, _keys(a)) != (b.law, b.because, _keys(b)):
        return False
    if x.kind == "digit":
        return y.kind == "digit" and x is Atom("digit", y.args[0], y.args[2], None)
    return (x.kind, y.kind) == ("floordiv", "floormod") and identities(x.args) == identities(y.args)


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
        key = value.identity
        if key not in self._memo:
            terms: dict[tuple[Atom, ...], int] = {}
            for mono, c in value.terms.items():
                made = tuple(sorted(map(self._atom, mono), key=lambda a: a.key))
                terms[made] = terms.get(made, 0) + c
            self._memo[key] = Expr({m: c for m, c in terms.items() if c})
        return self._memo[key]

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
    for name, value in told.record.problem.analyzer.facts.substitutions.items():
        text = re.sub(rf"(?<![\w*]){re.escape(repr(value))}(?![\w*])", name, text)
    return text


def _forms(told: Told) -> list[str]:
    best: dict[tuple, Attempt] = {}
    for form in _distinct(told.record.forms):
        key = _words(form, told.record.problem.log)
        known = best.get(key)
        better = known is None or (form.cost, form.operations) < (known.cost, known.operations)
        if form is told.winner or (better and known is not told.winner):
            best[key] = form
    if not best:
        return []
    ordered = sorted(best.items(), key=lambda f: (f[1].cost, f[1].operations, f[0]))
    ordered.sort(key=lambda f: f[1] is not told.winner)
    lines = [
        f'  Forms and their cost by "{told.record.model}", the one that was taken first',
        "    cost  operations",
    ]
    for words, form in ordered[:FORMS]:
        head = f"  {round(form.cost, 3):6g}  {form.operations:10}  "
        lines += _hung(", ".join(words), head)
    if len(ordered) > FORMS:
        lines.append(f"          and {len(ordered) - FORMS} more")
    winner = told.winner
    if winner is not None and any(f.cost < winner.cost for f in best.values()):
        lines.append("          (the cheaper ones need more than 32 bits on the way)")
    return [*lines, ""]


def _words(form: Attempt, plain: Log) -> tuple[str, ...]:
    words = form.words or ("digits as they stand",)
    if any(n.op == "lookup" for root in form.candidate.roots for n in root.walk()):
        words = ("a look-up in a table", *form.words)
    elif form.log is not None and form.log is not plain:
        words = ("a flat position kept whole", *words)
    checked = [f"checked on all {len(d):,} values of {d[0]}..{d[-1]}" for d in form.domains]
    return (*words, *dict.fromkeys(checked))


def _program(function: Function) -> list[str]:
    count = _count(function.op_count, "operation")
    less = function.op_count_hoisted
    without = f" ({less} without those on sizes alone)" if less != function.op_count else ""
    lines = [f"  Emitted: {count}{without}, cost {function.cost:g}"]
    for name, node in (*function.body, *function.outputs):
        lines += _wrapped(f"{name} = {says(node)}", "    ")
        if node.op == "switch":
            lines += _cases(node)
    proof = proof_of(function)
    if proof is not None:
        lines += ["", *_wrapped(proof.says, "  ", "  ")]
    return [*lines, ""]


def _cases(node: Node) -> list[str]:
    """The cases of a switch that give one of its results."""
    cases, lines = node.args[0].value, list[str]()
    given = node.args[cases.first :]
    for key, label, part in zip(cases.keys, cases.labels, cases.parts, strict=True):
        values = {p.name: arg for p, arg in zip(part.params, given, strict=True)}
        body = [*part.body, (cases.shown[1 + cases.item], part.outputs[cases.item][1])]
        texts = (f"{name} = {says(inlined(value, values))}" for name, value in body)
        lines += _wrapped(f"{label or key}: {'; '.join(texts)}", "      ")
    return lines


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
