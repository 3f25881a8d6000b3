"""The check of every emission: the lowered program and its definition at points of the header.

It shares the program's nodes with the way to it, and nothing else: what the definition gives comes
from the function itself or from the layouts' reference evaluator, on integers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isqrt
from typing import Any

from ..errors import IndexRangeError, InternalError, LegoError, TraceError, error_text
from ..ir.nodes import Node
from ..ir.program import Function
from ..ir.relations import says
from ..table_lookup import NoElement
from ..trace.definition import Definition, results_of
from .points import Points, Values

TWICE = 2  # points at which the definition is called a second time
REPORT = "This is a fault of lego_emit: please report it, with the definition and the options"
NONE = "no point meets what its header assumes"
SAME = "it must give the same for the same arguments every time"


@dataclass(frozen=True)
class SelfCheck:
    """What was compared before a unit was given out.

    points: of each function, how many points the program and the definition agree at. reason: why
    no point of some function was compared; "" where all were."""

    points: Mapping[str, int]
    reason: str = ""


def check_emission(function: Function, definition: Definition | None) -> tuple[int, str]:
    """(the points compared, why there is none). definition: None where it has no values on integers.

    Raises InternalError where the program gives something else than the definition, TraceError
    where the definition is to blame: it gives other results for the same arguments, or for
    arguments of another type.
    """
    if definition is None:
        return 0, "the definition has no values on integers"
    if any(not t.is_sized or not t.values for t in function.tables):
        return 0, "its tables are given when it runs"
    named = [name for name, _ in function.outputs]
    said = [named.index(name) for name, _ in function.formulas]
    formulas = ((f"{name} as said", node) for name, node in function.formulas)
    run, count = compiled(replace(function, outputs=(*function.outputs, *formulas))), 0
    failed: BaseException | None = None  # the last error of the definition's own
    least, most = function.index_type.ends
    refused: tuple[str, LegoError] | None = (
        None  # where a layout has no value, though it has elsewhere
    )
    bases = {p.name: p.base for p in function.params if p.base}
    for values in Points(function, definition.stays_small).draw(definition.points):
        zero = {n: v - bases.get(n, 0) for n, v in values.items()} if bases else values
        try:
            wanted = results_of(definition(zero))
            again = results_of(definition(zero)) if count < TWICE else wanted
        except LegoError as error:
            if not definition.is_total and not isinstance(error, IndexRangeError):
                failed = error.with_traceback(None)  # which holds all that is here
                continue
            refused = refused or (_place(values), error)
            continue
        except (Exception, SystemExit) as error:
            failed = error.with_traceback(None)
            continue
        if again != wanted:
            raise TraceError(
                f"{definition.name} gave {_listed(wanted)} when it was called first, then "
                f"{_listed(again)}; {SAME}"
            )
        try:
            both = run(values)
        except InternalError as error:  # of a loop
            raise InternalError(
                f"{function.name}: {error}{_place(values)}; nothing was emitted. {REPORT}"
            ) from None
        except NoElement:  # of an array of any length; it may be read where nothing needs it
            continue
        found, plain = both[: len(named)], both[len(named) :]
        if found != function.called(wanted):
            raise _difference(function, definition, values, zero, found, wanted)
        if plain != (due := [found[k] for k in said]):
            raise InternalError(
                f"{function.name}: its plain formula gives {_listed(plain)}{_place(values)}, where the "
                f"definition gives {_listed(due)}; nothing was emitted. {REPORT}"
            )
        if not function.unseen and not all(least <= v <= most for v in found):
            raise InternalError(
                f"{function.name}: {_listed(found)}{_place(values)} is no {function.index_type}, and "
                f"no precondition says so; nothing was emitted. {REPORT}"
            )
        count += 1
    if refused and count:
        place, error = refused
        raise InternalError(
            f"{function.name}: its header allows{place}, where the definition has no value: {error}; "
            f"nothing was emitted. {REPORT}"
        ) from error
    if count or failed is None:
        return count, "" if count else str(refused[1]) if refused else NONE
    if refused or isinstance(failed, LegoError):
        return 0, str(refused[1] if refused else failed)
    return 0, f"{definition.name}: {type(failed).__name__}: {error_text(failed)}"


def _difference(
    function: Function,
    definition: Any,
    values: Values,
    zero: Values,
    found: list[int],
    wanted: list[int],
) -> LegoError:
    """The error that names who is wrong."""
    place = _place(values)
    if (on_constants := getattr(definition, "on_constants", None)) is not None:
        try:
            other = results_of(on_constants(zero))
        except (Exception, SystemExit):
            other = wanted
        if other != wanted:
            return TraceError(
                f"{definition.name} gives {_listed(wanted)}{place}, but {_listed(other)} where the "
                f"same numbers are symbols: it looks at the type of its arguments, which only "
                f"their values may decide; compare values instead"
            )
    due = function.called(wanted)
    if getattr(definition, "shows_symbols", False):
        return TraceError(
            f"{definition.name} gives {_listed(due)}{place}, and {_listed(found)} as a function of "
            f"symbols: it makes text of its arguments (repr, str, format), and a symbol's says "
            f"nothing of its value; compute with values instead"
        )
    return InternalError(
        f"{function.name}: the lowered program gives {_listed(found)}{place}, where the definition "
        f"gives {_listed(due)}; nothing was emitted. {REPORT}"
    )


def _place(values: Values) -> str:
    where = ", ".join(f"{n} = {v}" for n, v in values.items())
    return f" at {where}" if where else ""


def _listed(values: list[int]) -> str:
    return str(values[0]) if len(values) == 1 else str(tuple(values))


class _Table:
    def __init__(self, entries: Any):
        self.entries = entries

    def __getitem__(self, place: int) -> int:
        return self.entries.at(place)


# What Python makes of an operation, by its sign or its name. The table of operations says the same of
# their values, but that one took part in the search for the program.
_PYTHON: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv,
    "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "and": lambda a, b: a and b,
    "or": lambda a, b: a or b, "neg": operator.neg, "not": operator.invert, "lnot": operator.not_,
    "int": int, "min": min, "max": max, "isqrt": isqrt, "select": lambda c, a, b: a if c else b,
    "lookup": lambda table, *args: table.read(*args),
}  # fmt: skip
_CHOICES = ("select", "land", "lor")  # of their operands not all are asked for


def compiled(function: Function) -> Callable[[Values], list[int]]:
    """The lowered program as a Python function of its parameters' values."""
    try:
        return _in_order(function) or _as_text(function)
    except RecursionError:
        return _as_text(function)


def _in_order(function: Function) -> Callable[[Values], list[int]] | None:
    """The program as a list of operations, done one after the other at each point; None where one may
    have no value in a branch that is not taken."""
    given = [p.name for p in function.params]
    names = {name: place for place, name in enumerate(given)}
    start: list[Any] = [*given]  # of all values: the parameters', then numbers and tables
    steps: list[tuple[int, Callable[..., Any], tuple[int, ...]]] = []
    places: dict[int, int] = {}  # of nodes, by identity
    chooses = partial = False

    def place(node: Node) -> int:
        nonlocal chooses, partial
        if node.op == "var":
            return names[str(node.value)]
        at = places.get(id(node))
        if at is None:
            args = tuple(map(place, node.args))
            at = places[id(node)] = len(start)
            start.append(node.value)
            if args:
                rounds = node.args[0].value if node.args[0].op == "round" else None
                done = rounds.run(compiled) if rounds else _PYTHON[node.row.sign or node.op]
                steps.append((at, done, args))
                chooses = chooses or node.op in _CHOICES
                partial = partial or not _is_total(node)
        return at

    for name, node in function.body:
        names[name] = place(node)
    ends = [place(node) for _, node in function.outputs]
    if chooses and partial:
        return None
    count = len(given)

    def run(values: Values) -> list[int]:
        found = start.copy()
        found[:count] = [values[name] for name in given]
        for at, operation, args in steps:
            if len(args) == 2:
                a, b = args
                found[at] = operation(found[a], found[b])
            else:
                found[at] = operation(*[found[a] for a in args])
        return [int(found[at]) for at in ends]

    return run


def _is_total(node: Node) -> bool:
    """Whether an operation is seen to have a value for all values of its first operand."""
    defined, last = node.row.defined, node.args[-1]
    if defined is None:
        return node.op not in ("lookup", "loop", "switch")
    return len(node.args) == 2 and last.op == "const" and defined(0, last.value)


def _as_text(function: Function) -> Callable[[Values], list[int]]:
    """The program as Python's own code."""

    def interpreted(values: Values) -> list[int]:
        return [int(v) for v in function.evaluate(values).values()]

    if any(node.op == "round" for node in function.nodes()):
        return interpreted
    names: dict[str, Any] = {"isqrt": isqrt, "int": int, "min": min, "max": max}
    lines = [f"def run({', '.join(p.name for p in function.params)}):"]
    try:
        for name, node in function.body:
            lines.append(f"    {name} = {says(node)}")
        outputs = ", ".join(f"int({says(node)})" for _, node in function.outputs)
        lines.append(f"    return [{outputs}]")
        for node in function.nodes():
            if node.op == "table":
                table = names.setdefault(str(node.value), _Table(node.value))
                if not isinstance(table, _Table) or table.entries != node.value:
                    return interpreted  # two tables of one name
        if not names.keys().isdisjoint([*(p.name for p in function.params), *dict(function.body)]):
            return interpreted  # a name of the user's is that of a function here, or of a table
        exec("\n".join(lines), names)
    except (SyntaxError, MemoryError, RecursionError, ValueError):  # too deep, or too long
        return interpreted
    run = names["run"]
    return lambda values: run(**values)
