"""unit.certificate(): what an emitted file promises, and how each promise is known.

It is data, for a checker that shares no code with what made the file: lego_emit.proofcheck proves the
same statements again, from the text and the layout alone.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, cast

from ..emit.printer import Printer
from ..errors import VerifyError
from ..files import write_if_changed
from ..html import code
from ..ir.nodes import Node
from ..ir.program import Function, Group
from ..ir.relations import says
from .steps import NO_DIVISION, Step, Told, told

FORMAT = 1
# What is stated of each function, in the order of the certificate.
STATEMENTS = {
    "fits": "every value on the way fits the index type",
    "divisions": "no divisor is zero, and where a division truncates, its divisor is positive and its dividend not negative",
    "shifts": "every shift is by at least 0 and less than the width, every place of a table within it",
    "range": "every result lies in its promised range",
    "round trip": "inv(apply(i)) = i, and apply(inv(p)) = p, but where an index is masked",
    "definition": "the results are those of the definition",
}
# Of a condition on sizes: it is read again beside the header's.
CONDITION = "it holds exactly where every precondition on the sizes does"
NAMES = {"fits": "overflow", "range": "ranges"}  # in a header
SHIFT = "div.shift"  # by which a division by prepared numbers is exact
RANGES = "ranges of the operands"
ASSUMED = "assumed in the header"
TESTED = "each part of a condition computes what the parts before it show to fit"
REARRANGED = "the header's conditions, sums and products on one side as quotients on the other"


@dataclass(frozen=True, repr=False)
class Certificate:
    """What is certified of a file. data: a dict of strings, numbers, lists and dicts."""

    data: Mapping[str, Any]

    @property
    def json(self) -> str:
        """The file's text: the same bytes everywhere."""
        return json.dumps(self.data, indent=1, ensure_ascii=True) + "\n"

    @property
    def covers(self) -> list[str]:
        """What is stated of every function, in a few words."""
        found = [
            {s["says"]: s["known"] for s in f["statements"]}
            for f in self.data["functions"]
            if f["role"] != "fits"
        ]
        said = []
        for key in STATEMENTS:
            known = [by for statements in found for by in statements.get(key, ())]
            promised = key != "range" or any(by["result"] for by in known)
            if promised and all(statements.get(key) for statements in found):
                assumed = any(by["by"] == ASSUMED for by in known)
                said.append(NAMES.get(key, key) + (": assumed" if assumed else ""))
        return said

    def save(self, path: str | PathLike[str]) -> bool:
        """Write it (atomically; an unchanged file is left alone); True where it changed."""
        return write_if_changed(path, self.json)

    def __str__(self) -> str:
        lines = []
        for function in self.data["functions"]:
            lines.append(function["name"])
            for statement in function["statements"]:
                known = "; ".join(dict.fromkeys(by["by"] for by in statement["known"]))
                lines.append(f"  {statement['says']}: {known}")
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        names = ", ".join(f["name"] for f in self.data["functions"])
        return f"<certificate of {names} in {self.data['language']}>"

    def _repr_html_(self) -> str:
        return code(str(self))


def certificate(unit: Any, name: str | None = None) -> Certificate:
    """The certificate of a unit, or of one of its functions, as Emitted.certificate returns it."""
    if any(f.wrapping for f in unit.program.functions):
        raise VerifyError(
            f"{unit.program.name} wraps, and a certificate proves that nothing does; verify() and "
            "self_check compare it with its definition"
        )
    if any(f.receiver for f in unit.program.functions):
        raise VerifyError(
            f"{unit.program.name} has methods, and a certificate is of functions: make it of the unit without "
            "methods=, whose formulas are the same"
        )
    for node in (n for f in unit.program.functions for n in f.nodes()):
        if node.op in ("loop", "switch"):
            raise VerifyError(
                f"{unit.program.name} has a {node.op}, of which a certificate knows nothing; verify() runs it"
            )
    for table in (t for f in unit.program.functions for t in f.arrays):
        raise VerifyError(
            f"{unit.program.name} reads {table.name} at an index that is no constant, of which a certificate "
            "knows nothing; verify() runs it"
        )
    if any(f.packing is not None for f in unit.program.functions):
        raise VerifyError(
            f"{unit.program.name} is fields of words, which have no certificate; verify() reads and sets them"
        )
    printed = unit.program.printed
    if printed is not None and not any(n.op == SHIFT for f in printed.functions for n in f.nodes()):
        raise VerifyError(
            f"{unit.program.name} divides by a rounded reciprocal in {unit.printer.title}, of which a "
            "certificate knows nothing; leave prepare= out, or verify()"
        )
    if unit.program.parts:
        raise VerifyError(
            f"{unit.program.name} holds several subjects; a certificate is made of one: generate it alone"
        )
    known = {found.function.name: found for found in told(unit)}
    chosen = {found.function.name for found in told(unit, name)}
    pair = unit.is_pair
    functions = []
    for position, function in enumerate(unit.program.functions):
        found = known.get(_own_name(function, known))
        if found is None or found.function.name not in chosen:
            continue
        role = ("apply", "inv")[position] if pair else _role(unit, function)
        functions.append(_function(unit, function, found, role))
    if len(functions) == len(unit.program.functions):
        functions += [_condition(f, functions) for f in unit.program.fits]
    return Certificate(
        {
            "certificate": "lego-emit",
            "format": FORMAT,
            "language": unit.printer.name,
            "sha256": hashlib.sha256(unit.source.encode()).hexdigest(),
            "subject": unit.program.name,
            "fixed": dict(unit.fixed),
            "functions": functions,
        }
    )


def _own_name(function: Function, known: Mapping[str, Told]) -> str:
    """The function's name before a prefix, a style or a language's keywords changed it."""
    if function.name in known:
        return function.name
    record = function.record
    return record.function.name if record is not None and record.function else function.name


def _role(unit: Any, function: Function) -> str:
    """Whether it is the apply of a layout without inverse, or a function that the user wrote."""
    alone = len(unit.program.functions) == 1 and not function.axes
    return "apply" if alone and any(p.axis for p in function.params) else "function"


def _function(unit: Any, function: Function, found: Told, role: str) -> dict[str, Any]:
    function = function.spoken
    return {
        "name": function.name,
        "of": found.function.name,
        "role": role,
        **({"prepare": function.prepare} if function.prepare else {}),
        "index type": function.index_type,
        "base": _base(function),
        "parameters": _parameters(unit, function, role),
        "results": [name for name, _ in function.outputs],
        **_result_types(unit, function),
        "given": [
            *filter(None, function.ranges.values()),
            *function.assumptions,
            *_prepared(unit, function),
        ],
        "statements": [
            {"says": key, "text": text, "known": made}
            for key, text in STATEMENTS.items()
            if (made := _known(key, unit, function, found, role))
        ],
        "steps": [_step(step, found) for step in found.steps],
    }


def _prepared(unit: Any, function: Function) -> list[str]:
    """What the function that prepares its sizes supposes beside their ranges."""
    own = unit.program.printed.functions if function.prepare else ()
    said = [a for f in own if f.name == function.prepare for a in f.spoken.assumptions]
    return [a for a in said if a not in function.assumptions]


def _parameters(unit: Any, function: Function, role: str) -> list[dict[str, Any]]:
    """The parameters in the order of the text, and, as "fixed", the members that sizes= fixes."""
    of, params = {new: old for old, new in function.renamed}, {p.name: p for p in function.params}
    found = []
    for one in function.entries:
        for k, name in enumerate(one.members if isinstance(one, Group) else [one.name]):
            if isinstance(name, int):
                group = cast(Group, one)
                own = Printer.member(unit.printer, group, k)
                made = {"name": own, "of": own, "is": "fixed", "base": 0}
                kind = group.types[k] if group.types else ""
            else:
                p, old = params[name], of.get(name, name)
                made = {"name": name, "of": old, "is": _kind(p, function, role), "base": p.base}
                made |= {"prepared": True} if p.prepared else {}
                kind = p.type
            found.append({**made, "type": kind} if kind and unit.printer.declares else made)
    return found


def _result_types(unit: Any, function: Function) -> dict[str, list[str]]:
    """What the results are declared as, "" for the index type, where one is."""
    stated = any(function.types) and unit.printer.declares
    return {"types": list(function.types)} if stated else {}


def _condition(fits: Function, functions: list[dict[str, Any]]) -> dict[str, Any]:
    """What is certified of the condition on the sizes of some functions."""
    nodes = list(dict.fromkeys(n for n in fits.nodes() if n.args))
    of = {new: old for old, new in fits.renamed}
    return {
        "name": fits.name,
        "of": ", ".join(f["name"] for f in functions),
        "role": "fits",
        "index type": fits.index_type,
        "base": 0,
        "parameters": [
            {
                "name": p.name,
                "of": of.get(p.name, p.name),
                "is": "size",
                "base": 0,
            }
            for p in fits.params
        ],
        "results": ["fits"],
        "given": [],
        "statements": [
            {
                "says": key,
                "text": STATEMENTS[key],
                "known": [{"by": TESTED, "operations": len(nodes)}],
            }
            for key in ("fits", "divisions", "shifts")
        ]
        + [{"says": "preconditions", "text": CONDITION, "known": [{"by": REARRANGED}]}],
        "steps": [],
    }


def _base(function: Function) -> int | list[int]:
    """What the 0 of every result is called, or of each."""
    starts = [*function.starts]
    return starts if len({*starts}) > 1 else starts[0]


def _kind(param: Any, function: Function, role: str) -> str:
    if param.name in dict(function.axes):
        return "axis"
    of_layout = role in ("apply", "inv")  # all but its indices are sizes
    return "index" if (param.axis if of_layout else not param.size) else "size"


def _known(key: str, unit: Any, function: Function, found: Told, role: str) -> list[dict[str, Any]]:
    nodes = list(dict.fromkeys(n for n in function.nodes() if n.args))
    match key:
        case "fits":
            return _fits(function, nodes)
        case "divisions":
            divided = [n for n in nodes if n.op in ("div", "mod", "floordiv", "floormod")]
            return [{"by": RANGES, "operations": len(divided)}]
        case "shifts":
            moved = [n for n in nodes if n.op in ("shl", "shr", "lookup")]
            return [{"by": RANGES, "operations": len(moved)}]
        case "range":
            return [
                {"by": RANGES, "result": promise.says(name)}
                for (name, _), promise in zip(function.outputs, function.promises, strict=True)
            ]
        case "round trip":
            if role not in ("apply", "inv") or len(unit.program.functions) != 2:
                return []
            by = "both are the definition's, a bijection but for masked indices (Figs. 4, 5, 7 and 9)"
            return [{"by": by}]
        case _:
            return _definition(found)


def _fits(function: Function, nodes: list[Node]) -> list[dict[str, Any]]:
    least, most = function.index_type.ends
    values = [n for n in nodes if not n.is_bool]
    inside = [
        n for n in values if n.lo is not None and n.hi is not None and least <= n.lo <= n.hi <= most
    ]
    known: list[dict[str, Any]] = [{"by": RANGES, "operations": len(inside)}]
    if len(inside) < len(values):
        said = [text for text in map(says, function.assumed)]
        by = ASSUMED if function.unseen else "what the header assumes"
        known.append({"by": by, "operations": len(values) - len(inside), "assumes": said})
    return known


def _definition(found: Told) -> list[dict[str, Any]]:
    known: list[dict[str, Any]] = []
    laws = Counter(step.law for step in found.steps)
    for law, count in laws.items():
        algebra = "order, choices and bits" if law in NO_DIVISION else "digit algebra"
        known.append({"by": f"{algebra}: {law.says}", "steps": count})
    winner = found.winner
    words = ", ".join(winner.words) if winner is not None else ""
    if winner is not None and winner.domains:
        for domain in dict.fromkeys(winner.domains):
            known.append({"by": f"exhaustive table: {words}", "values": len(domain)})
    elif words:
        known.append({"by": f"form: {words}"})
    for before, after in found.record.problem.written.changes:
        known.append({"by": "Z3: what rewrite= gives is equal", "before": before, "after": after})
    return known or [{"by": "as it stands in the definition, sums and products multiplied out"}]


def _step(step: Step, found: Told) -> dict[str, Any]:
    made: dict[str, Any] = {
        "rule": step.law.name,
        "before": repr(step.before),
        "after": repr(step.after),
    }
    if step.bounds is not None:
        value, bound = step.bounds
        made["because"] = f"0 <= {value!r} < {bound!r}"
    elif step.because:
        made["because"] = step.because
    made["by"] = step.proof
    if step.where:
        made["where"] = [repr(c) for c in step.where]
    queries = _queries(step, found)
    if queries:
        made["queries"] = queries
    return made


def _queries(step: Step, found: Told) -> list[dict[str, str]]:
    """What Z3 was asked, where a step rests on it."""
    if "Z3" not in step.proof:
        return []
    from ..arith.z3_prover import prove_nonneg, query

    analyzer = found.record.problem.analyzer
    made = []
    for e in step.asked:
        with analyzer.scope():
            for condition in step.where:
                analyzer.assume(condition)
            shown = analyzer.prover.proofs.shown(e)[0]
            if shown == "Z3" and prove_nonneg(analyzer.facts, e):
                made.append({"smt2": query(analyzer.facts, e), "result": "unsat"})
    return made
