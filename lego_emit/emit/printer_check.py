"""The check of a printer that another package brings, when it is first asked for.

A printer is tables that nothing looks at before a spelling is needed. A slip in them would be an
IndexError or a KeyError in the middle of some file, or a call without a definition; here it is one
error that names the language, the table and the key. `tests/test_plugins.py` checks our own printers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from ..errors import TargetError, did_you_mean, error_text, short_repr
from ..ir.index_types import INDEX_TYPES
from ..operations import OPS
from .printer import Op, Printer

TABLES = ("types", "ops", "typed_ops", "helpers", "index_names")
COLLECTIONS = (
    *("aliases", "related", "default_index", "kernel_types", "truths", "comments", "reserved"),
    *("reserved_functions", "builtins", "taken_namespaces"),
)
# What each form is given beside the operands, which are numbered.
FORMS = {"declaration": (0, ("name", "expr", "T")), "cast": (1, ("T",))}
SPELLING = ("T", "unit")
# Who overrides one of these may have texts of a form of its own.
READERS = ("op", "expression", "fitted_views")


def check_printer(printer: Printer, name: str) -> None:
    """Raise TargetError for what no file can be printed with. name: what the printer's package calls
    the language."""
    for problem in _problems(printer, name):
        raise TargetError(f"{printer.title or type(printer).__name__}: {problem}")
    if not printer.index_types:  # which raises of its own for a type that says too little
        raise TargetError(f"{printer.title}: types is empty; give the spelling of int64, for one")
    for problem in _type_problems(printer):
        raise TargetError(f"{printer.title}: {problem}")


def _problems(printer: Printer, name: str) -> Iterator[str]:
    """What is wrong with the attributes and with the tables of texts, the first one first."""
    if printer.name != name:
        yield (
            f"name is {short_repr(printer.name)}, and its package's entry point {name!r}; give both "
            "one name"
        )
    for attribute in ("title", "extension"):
        if not isinstance(text := getattr(printer, attribute), str) or not text:
            yield f"{attribute} is {short_repr(text)}; give it a text"
    if not printer.extension.startswith("."):
        yield f"extension is {short_repr(printer.extension)}; write it with its dot"
    for attribute in TABLES:
        if not isinstance(table := getattr(printer, attribute), Mapping):
            yield f"{attribute} is {short_repr(table)}; give a dict"
    for attribute in COLLECTIONS:
        words = getattr(printer, attribute)
        if isinstance(words, str) or not isinstance(words, Collection):
            yield f"{attribute} is {short_repr(words)}; give a tuple or a set of texts"
    for attribute in ("types", "helpers"):
        for key, text in getattr(printer, attribute).items():
            if not isinstance(text, str):
                yield f"{attribute}[{str(key)!r}] is {short_repr(text)}; give a text"
    for attribute, (operands, names) in FORMS.items():
        if said := _misprinted(getattr(printer, attribute), operands, names):
            yield f"{attribute} {said}"
    yield from _spelling_problems(printer, "ops", printer.ops)
    for index_type, ops in printer.typed_ops.items():
        where = f"typed_ops[{str(index_type)!r}]"
        if not isinstance(ops, Mapping):
            yield f"{where} is {short_repr(ops)}; give a dict as ops is"
        else:
            yield from _spelling_problems(printer, where, ops)


def _spelling_problems(printer: Printer, where: str, ops: Mapping[str, Op]) -> Iterator[str]:
    """What is wrong with spellings. where: what the table is called."""
    read_here = not _overrides(printer, READERS)
    for key, op in ops.items():
        place = f"{where}[{short_repr(key)}]"
        if not isinstance(op, Op):
            yield f"{place} is {short_repr(op)}; give an Op, which infix() and call() make"
        elif said := _op_problem(printer, key, op) if read_here else "":
            yield f"{place} {said}"


def _op_problem(printer: Printer, key: str, op: Op) -> str:
    """What is wrong with the spelling of an operation; "" where nothing is."""
    if not isinstance(op.needs, tuple):
        return f"has the needs {short_repr(op.needs)}; give a tuple of numbers, as (13,)"
    arity = len(OPS[key].takes.rstrip("*")) if key in OPS else len(op.needs)
    if len(op.needs) != arity:
        return (
            f"has needs for {len(op.needs)} operand{'s' * (len(op.needs) != 1)}, and {key} has {arity}; "
            "give one number for each"
        )
    if not all(isinstance(number, int | float) for number in (op.prec, *op.needs)):
        return "binds by what is no number; give prec and needs numbers"
    if said := _misprinted(op.text, arity, SPELLING):
        return said
    marks = [f"\0{k}\0" for k in range(arity)]
    printed = op.text.format(*marks, **dict.fromkeys(SPELLING, ""))
    for k, mark in enumerate(marks):
        if key in OPS and mark not in printed:
            return f"is {op.text!r}, without its operand {k}; write {{{k}}} where it belongs"
    if op.helper is not None and op.helper not in printer.helpers:
        return (
            f"calls the helper {short_repr(op.helper)}, which is not in helpers; define it there."
            f"{did_you_mean(str(op.helper), map(str, printer.helpers))}"
        )
    return ""


def _misprinted(text: Any, operands: int, names: Sequence[str]) -> str:
    """Why a text cannot be filled in with so many operands and with these names; "" where it can."""
    if not isinstance(text, str):
        return f"is {short_repr(text)}; give a text"
    try:
        text.format(*["x"] * operands, **dict.fromkeys(names, "x"))
    except Exception as error:
        fields = [*(f"{{{k}}}" for k in range(operands)), *(f"{{{n}}}" for n in names)]
        return (
            f"is {text!r}, which cannot be filled in ({type(error).__name__}: {error_text(error)}); "
            f"it may have {', '.join(fields)}, and {{{{ and }}}} for braces"
        )
    return ""


def _type_problems(printer: Printer) -> Iterator[str]:
    """What is wrong with the names of index types in other attributes than types."""
    own = printer.index_types
    has = ", ".join(own)
    if not printer.default_index:
        yield f"default_index is empty; name types that auto may choose from ({has})"
    named = {a: getattr(printer, a) for a in ("default_index", "kernel_types", "typed_ops")}
    for attribute, index_types in named.items():
        for t in index_types:
            if t not in own:
                yield (
                    f"{attribute} names {short_repr(t)}, which is not in types ({has}); set "
                    f"{attribute} to some of those, or give types its spelling"
                )
    for key, pair in printer.index_names.items():
        if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] not in own:
            yield (
                f"index_names[{short_repr(key)}] is {short_repr(pair)}; give an index type that is in "
                f"types ({has}), and its spelling"
            )
        if key == "auto" or key in own or key in INDEX_TYPES:
            yield f"index_names has {key!r}, which index_type= takes already; name it otherwise"


def _overrides(printer: Printer, methods: Sequence[str]) -> bool:
    """Whether a printer has one of these methods of its own."""
    kind: type[Printer] = type(printer)
    owners: list[Callable[..., Any]] = [getattr(kind, method) for method in methods]
    return owners != [getattr(Printer, method) for method in methods]
