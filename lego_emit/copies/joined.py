"""One file of functions and copies, whose helpers it has once."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

from ..algebra.block import Block
from ..emit import registry
from ..emit.naming import AS_WRITTEN, Naming, of_module
from ..emit.nests import Routines, forms_of
from ..emitted import Emitted, emit_program
from ..errors import AssumptionError, TraceError
from ..ir.program import Program
from ..trace.definition import symbols_in


def joined(
    name: str,
    units: Sequence[Emitted],
    target: str,
    naming: Naming = AS_WRITTEN,
    header: Iterable[str] = (),
    index_types: Iterable[str] = (),
) -> Emitted:
    """The unit of several units' functions and copies in one language.

    name: of the file. units: what generate() and copy() gave for that language, functions first. naming,
    header, index_types: of the file.

    Raises TraceError where two of them have one name, as the language spells it, or what comes with one has.

        >>> from lego_emit import Row, generate, pack
        >>> tiles = Row(4, 4, 8, 8)
        >>> unit = joined("t", [generate(tiles, "c", name="t"), pack(tiles, "c", of=(32, 32))], "c")
        >>> [f.name for f in unit.functions]
        ['t_apply', 't_inv', 'pack_source_bytes', 'pack_destination_bytes']
    """
    programs = [unit.lowered or unit.program for unit in units]
    functions = tuple(f for p in programs for f in p.functions)
    routines = Routines(r for p in programs for r in p.routines)
    printer = registry.printer(target)
    spelled = printer.spelling(naming).naming
    found: dict[str, str] = {}  # names by what they are in the text
    called = [(f.name, spelled.public(f.name)) for f in functions]
    for r in routines:
        own = forms_of(printer).file_names(spelled, spelled.public(r.name))
        called += [(r.name, text) for text in own]
    for own, text in called:
        key = text.lower() if printer.case_insensitive else text
        if (other := found.get(key)) is not None:
            twice = f"{text} twice, of {other} and {own}"
            one = f"two functions {own}" if own == other else twice
            raise TraceError(f"{name} would have {one}; give one of them another name")
        found[key] = own
    first = programs[0]
    program = Program(
        name,
        functions,
        "; ".join(dict.fromkeys(p.title for p in programs)),
        parts=tuple(len(own) for p in programs for own in p.subjects),
        header=tuple(header),
        hints=first.hints,
        checks=first.checks,
        routines=routines,
    )
    naming = of_module(printer, replace(first, name=name), naming)
    return emit_program(program, target, naming=naming, index_types=index_types)


def sizes_left(
    sizes: Mapping[str, int] | None, used: Iterable[str], layouts: Iterable[Block]
) -> dict[str, int]:
    """The sizes without those that functions, which made the layouts, have used up."""
    used, known = {*used}, {n for layout in layouts for n in symbols_in(layout)}
    return {n: value for n, value in (sizes or {}).items() if n in known or n not in used}


def order_of(params: Iterable[str], layouts: Iterable[Block]) -> list[str]:
    """The names of a definition's parameters that are sizes of the layouts, each once."""
    known = {n for layout in layouts for n in symbols_in(layout)}
    return [n for n in dict.fromkeys(params) if n in known]


def apart(
    given: Mapping[str, Any], functions: Iterable[Any], copies: Sequence[Sequence[Block]]
) -> list[dict[str, Any]]:
    """What `sizes` and `assume` of a file say of its functions together, and of each of its copies: of all that have
    these sizes.

    given: options of the file. functions: what they are made of. copies: the layouts of each.

    Raises AssumptionError where a file without functions has no copy that an assumption, or a size, is of.
    """
    functions = [*functions]
    known = [{n for layout in layouts for n in symbols_in(layout)} for layouts in copies]
    own = {n for one in functions for n in _declared(one)}
    sizes = dict(given.get("sizes") or {})
    told = [(text, _names_in(text)) for text in given.get("assume") or ()]
    if not functions:
        for text, names in [*((f"size {n!r}", {n}) for n in sizes), *told]:
            if not any(names <= k for k in known):
                listed = ", ".join(dict.fromkeys(n for k in known for n in sorted(k))) or "none"
                raise AssumptionError(f"no copy has what {text!r} is of; their sizes are {listed}")

    def said(names: set[str], also: bool) -> dict[str, Any]:
        """What is of these names, and where functions may have others what no copy takes."""

        def is_of(some: set[str]) -> bool:
            return some <= names or (also and not any(some <= k for k in known))

        return {
            "sizes": {n: value for n, value in sizes.items() if is_of({n})},
            "assume": [text for text, some in told if is_of(some)],
        }

    return [said(own, True), *(said(k, False) for k in known)]


def _declared(subject: Any) -> Iterable[str]:
    """The names that a function or a layout has at least."""
    return symbols_in(subject) if isinstance(subject, Block) else signature(subject).parameters


def _names_in(text: str) -> set[str]:
    tree = [*ast.walk(ast.parse(text.strip(), mode="eval"))]
    called = {id(node.func) for node in tree if isinstance(node, ast.Call)}
    return {node.id for node in tree if isinstance(node, ast.Name) and id(node) not in called}
