"""From a lowered program to a file: names made legal, text printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import TargetError
from ..ir.nodes import Node
from ..ir.program import Function, Group, Program
from ..ir.relations import renamed, with_tables
from ..table_lookup import Entries
from . import registry
from .naming import AS_WRITTEN, Naming, as_written, fresh, keys_of
from .printer import Printer
from .unit import Unit

if TYPE_CHECKING:
    from .methods import Receivers
    from .structs import Structs

MOST_ENTRIES = 4096  # of a constant table


def emit(
    program: Program,
    target: str,
    sizes: Mapping[str, int] | None = None,
    naming: Naming = AS_WRITTEN,
    index_types: Iterable[str] = (),
) -> Unit:
    """Print a lowered program for a target. sizes: the parameters that are numbers in it; naming: how
    names are spelled; index_types: those that were asked for, which may have other spellings."""
    printer = registry.printer(target).spelling(naming, index_types)
    if program.hints and not printer.has_hints:
        known = [n for n, other in registry.working().items() if other.has_hints]
        raise TargetError(
            f"{printer.title} has no way to tell its compiler ranges; {', '.join(known)} have. An "
            "unsigned index_type says as much of signs"
        )
    for table, _ in program.tables:
        if len(table) > MOST_ENTRIES:
            raise TargetError(
                f"{program.name}: a table of {len(table)} entries; a file holds at most "
                f"{MOST_ENTRIES} of each. Give the positions by a formula, as a GenP, or name a "
                'table that is known at run time only: Lookup(dims, "name")'
            )
    if any(f.receiver and f.receiver.native for f in program.functions):
        from .methods import in_no_namespace

        printer = in_no_namespace(printer)
    if not printer.has_packed and any(f.packing is not None for f in program.functions):
        known = [n for n, other in registry.working().items() if other.has_packed]
        raise TargetError(f"{printer.title} has no fields of words; {', '.join(known)} have")
    if any(f.static for f in program.functions):
        from .static import placed

        program = placed(program, printer)
    if any(p.prepared for f in program.functions for p in f.params):
        from .prepared import called, shown, whole_groups

        program = whole_groups(program)
        whole, printer = shown(program, printer)
        legal = _legalize(whole, printer, program)
        source, legal = printer.emit(legal), called(_legalize(program, printer, program), legal)
    else:
        legal = _legalize(program, printer, program)
        source = printer.emit(legal)
    for function in legal.functions:
        known = function.receiver or function
        if known.name not in source:
            raise TargetError(
                f"{printer.title}: the file has no function {function.name}; let the template of "
                f"{type(printer).__name__} print each of functions"
            )
    known, plain = legal, as_written(printer)
    if plain is not printer:
        known = _legalize(program, plain, program)
    return Unit(source, legal, printer, dict(sizes or {}), known)


def _legalize(program: Program, printer: Printer, plain: Program) -> Program:
    """Rename what the language reserves; functions share one scope, each function's parameters,
    statements and outputs another. plain: the same, all sizes as parameters."""
    naming = printer.naming
    unit = printer.unit_name(naming.unit(program.name))
    helpers = (f"{unit}_{helper}" for helper in printer.helpers)
    taken = {h.lower() if printer.case_insensitive else h for h in helpers}
    taken |= printer.unit_scope(unit)
    if program.natives:
        from .natives import words

        taken |= {key for word in words(program) for key in keys_of(word, printer)}
    naming.check_apart([f.name for f in program.functions], naming.public)
    constants: dict[str, str] = {}
    if program.constants:
        from .static import names_of

        constants = names_of(program, printer, taken)
    tags: dict[tuple[str, int, str], str] = {}
    if any(n.op == "switch" for f in program.functions for n in f.nodes()):
        from .switches import enumerators

        tags = enumerators(program, printer, unit, taken)
    tables = _tables(program, printer, unit, taken)
    structs: Structs | None = None
    receivers: Receivers | None = None
    if any(f.receiver for f in program.functions):
        from .methods import Receivers

        receivers = Receivers(program, printer, taken)
    functions: list[Function] = []
    places: dict[str, int] = {}  # of functions by their names before
    for function in program.functions:
        naming.check_apart([one.name for one in function.entries], naming.local)
        naming.check_apart([name for name, _ in function.outputs], naming.local)
        wanted = naming.public(function.name)
        if naming.namespace and keys_of(wanted, printer) & printer.unit_scope(unit):
            raise TargetError(
                f"{wanted} is {printer.unit_mark(unit)} and a function in it, which {printer.title} "
                "takes for one; give another namespace or a prefix"
            )
        wanted = f"{wanted}_v" if wanted in printer.reserved_functions else wanted
        beside = printer.companions if function.axes or len(function.outputs) > 1 else None
        own = receivers.others if receivers is not None and function.receiver else taken
        places[function.name] = len(functions)
        name = fresh(wanted, printer, own, beside)
        taken |= beside(name) if beside else set()
        view = function.view
        if view is not None:
            view = replace(
                view, name=fresh(naming.public(view.name), printer, taken, printer.view_names)
            )
        labels = {key[:2]: n for key, n in tags.items() if key[2] == function.index_type}
        walk = function.walk
        if walk is not None:
            from .walks import named

            of_type = {t: own for (t, kind), own in tables.items() if kind == function.index_type}
            walk = named(walk, printer, taken, partial(with_tables, tables=of_type), labels)
        packing = function.packing
        if packing is not None:
            get, put = (fresh(naming.public(n), printer, taken) for n in (packing.get, packing.set))
            packing = replace(packing, get=get, set=put, words=naming.public(packing.words))
        if not printer.has_arrays and any(g.open for g in function.groups):
            from .structs import at_places

            function = at_places(function)
        scope = set(taken)
        names = {p.name: constants[p.name] for p in function.static if p.name in constants}
        if receivers is not None and function.receiver is not None:
            function = receivers.named(function, scope, names)
        grouped = (function.groups, function.result)
        if grouped != ((), None):
            if structs is None:
                from .structs import Structs

                structs = Structs(printer, taken, constants.values())
            grouped = structs.named(function, scope, names)
        for one in function.params:
            if one.name not in names:
                names[one.name] = one.bound or fresh(naming.local(one.name), printer, scope)
        groups, result = grouped
        groups = tuple(
            replace(g, count=renamed(g.count, names)) if g.count is not None else g for g in groups
        )
        if result is not None and result.count is not None:
            result = replace(result, count=renamed(result.count, names))
        spoken = {names[p.name]: p.held for p in function.params if p.held}
        spoken |= {n: said for group in groups for n, said in group.spoken.items()}
        called = {n: spoken.get(text, text) for n, text in names.items()}
        given = {t: t.named(fresh(naming.local(t.name), printer, scope)) for t in function.tables}
        whole = (one.name for one in function.arguments if isinstance(one, Group) and one.whole)
        arrays = {old: new.name for old, new in zip(whole, groups, strict=False)}
        given |= {t: t.named(arrays[t.name]) for t in function.arrays}
        steps = function.steps
        if steps is not None:
            from .walks import within

            of_type = {t: own for (t, kind), own in tables.items() if kind == function.index_type}
            own = partial(with_tables, tables=of_type)
            steps = within(steps, names, printer, {*scope}, own, labels)
        before = {*scope} if function.cases else scope
        for local, _ in function.body:
            names[local] = fresh(naming.local(local), printer, scope)
        variables = printer.outputs_are_variables or printer.writes_results
        outputs, output_scope = {}, scope if variables else printer.companions(name)
        output_scope.update(*(keys_of(n, printer) for n in constants.values()))
        for k, (output, _) in enumerate(function.outputs):
            fields = result.fields if result and result.whole else ()
            field = fields[k] if k < len(fields) else None
            outputs[output] = field or fresh(naming.local(output), printer, output_scope)

        own = {t: named for (t, index), named in tables.items() if index == function.index_type}
        legal = partial(_legal, names=names, tables=own | given)
        told = names | {old.name: new.name for old, new in given.items()}
        user_names = {
            **{said: names[n] for g in function.groups for n, said in g.spoken.items()},
            **{p.name: names[p.name] for p in function.params if not p.apart},
            **{old.name: new.name for old, new in given.items()},
            function.name: name,
        }
        if len(outputs) > 1:
            user_names = {**outputs, **user_names}
        body = [(names[n], legal(e)) for n, e in function.body]
        results = [legal(e) for _, e in function.outputs]
        functions.append(
            replace(
                function.renamed_params(names),
                name=name,
                groups=groups,
                result=result and result.renamed(outputs),
                summary=_summary(function, naming, called, outputs),
                assumed=tuple(map(legal, function.assumed)),
                axes=tuple((names[n], legal(e)) for n, e in function.axes),
                view=view and view.map(legal),
                walk=walk and walk.in_function(legal, names),
                steps=steps,
                packing=packing and packing.renamed(names),
                body=tuple(_in_rounds(body, printer, scope, own | given, labels, results)),
                outputs=tuple((outputs[n], legal(e)) for n, e in function.outputs),
                formulas=tuple((outputs[n], legal(e)) for n, e in function.formulas),
                calls=tuple(
                    (functions[places[callee]].name, tuple(told[n] for n in passed), fields)
                    for callee, passed, _ in function.calls
                    for fields in [tuple(n for n, _ in functions[places[callee]].outputs)]
                ),
                renamed=tuple((old, new) for old, new in user_names.items() if old != new),
            )
        )
        if function.cases:
            from .cases import with_cases

            change = partial(_legal, tables=own | given)
            functions[-1] = with_cases(
                functions[-1], function.cases, names, before, change, printer
            )
    fits = _fits(plain, printer, taken, constants, receivers) if printer.has_fits else ()
    if program.checks:
        from .fits import checked

        functions = checked(functions, printer)
    named = tuple(
        replace(p, name=constants[p.name], range=p.range.map(lambda n: renamed(n, constants)))
        for p in program.constants
    )
    program = replace(program, name=unit, functions=tuple(functions), fits=fits, constants=named)
    if plain.routines:
        program = plain.routines.named(program, naming, places)
    if not tags:
        return program
    from .switches import defined

    return defined(program, tags, printer)


def _in_rounds(
    body: Any, printer: Printer, scope: set[str], tables: Any, labels: Any, read: Any
) -> Any:
    if not any(e.op in ("loop", "switch") for _, e in body):
        return body
    from .loops import in_rounds

    return in_rounds(body, printer, scope, partial(with_tables, tables=tables), labels, read)


def _fits(
    program: Program,
    printer: Printer,
    taken: set[str],
    constants: Mapping[str, str],
    receivers: Receivers | None,
) -> tuple[Function, ...]:
    """The conditions on the sizes of the subjects that assume something of them. constants: how static
    sizes are called that the file defines."""
    if not any(p.size for f in program.functions for p in f.params):
        return ()
    from .fits import fits, stem

    naming, found = printer.naming, []
    for functions in program.subjects:
        widest = max((f.index_type for f in functions), key=lambda t: t.most)
        kind = printer.size_type(widest)
        made = fits(functions, kind, printer.holds_sizes, printer.lazy_logic)
        known = {n for f in functions for g in f.groups if g.open for n in g.names}
        if made is None or any(p.name in known for p in made.params):
            continue
        named = (program.routines and program.routines.name_of(functions[0])) or stem(functions)
        name = fresh(naming.public(f"{named}_fits"), printer, taken)
        scope = {*taken}
        apart = {n: name for f in functions for g in f.groups for n, name in g.apart.items()}
        own = {
            p.name: constants.get(p.name)
            or fresh(naming.local(apart.get(p.name, p.name)), printer, scope)
            for p in made.params
        }
        kinds = {p.name: p.type for p in program.constants if p.type != made.index_type}
        params = tuple(replace(p, type=kinds.get(p.name, "")) for p in made.params)
        made = replace(made, params=params)
        if receivers is not None:
            made = receivers.condition(made, functions)
        found.append(
            replace(
                made.renamed_params(own),
                name=name,
                outputs=tuple((n, renamed(e, own)) for n, e in made.outputs),
                renamed=tuple((old, new) for old, new in own.items() if old != new),
            )
        )
    return tuple(found)


def _summary(
    function: Function, naming: Naming, names: Mapping[str, str], outputs: Mapping[str, str]
) -> str:
    """Its summary; the indices that it lists in the style of the file and by the texts that stand for
    them, and what counts from 1 by the names that its header has."""
    summary = function.summary
    if naming.style or any(p.bound for p in function.params):
        indices = [p.name for p in function.params if not p.size]
        own, new = (", ".join(found) for found in (indices, [names[n] for n in indices]))
        summary = summary.replace(f"({own})", f"({new})")
    params = [p.name for p in function.params if p.base]
    results = [n for (n, _), k in zip(function.outputs, function.starts, strict=True) if k]
    listed = _counted_from_one([*params, *results])
    if not listed or not summary.endswith(listed):
        return summary
    called = [outputs[n] for n in results] if len(outputs) > 1 else ["the result"] * len(results)
    return summary.removesuffix(listed) + _counted_from_one([*(names[n] for n in params), *called])


def _counted_from_one(names: Iterable[str]) -> str:
    """What a summary that was lowered says last of them; the empty string of none."""
    listed = ", ".join(dict.fromkeys(names))
    return f"Counted from 1: {listed}." if listed else ""


def _legal(node: Node, names: Mapping[str, str], tables: Mapping[Entries, Entries]) -> Node:
    return with_tables(renamed(node, names), tables)


def _tables(
    program: Program, printer: Printer, unit: str, taken: set[str]
) -> dict[tuple[Entries, str], Entries]:
    """The tables in their emitted names, which nothing else in the file has: they are not the
    user's, so that all others come first."""
    naming, others = printer.naming, set(taken)
    for f in program.functions:
        names = [one.name for one in (*f.entries, *f.tables)]
        names += [name for name, _ in (*f.body, *f.outputs)]
        names = [printer.legal_name(naming.local(name)) for name in names]
        others.update(*(keys_of(name, printer) for name in names))
        others |= keys_of(printer.legal_name(naming.public(f.name)), printer, printer.companions)
        if f.view is not None:
            others |= printer.view_names(printer.legal_name(naming.public(f.view.name)))
    found = {}
    for table, index_type in program.tables:
        name = fresh(printer.table_name(table.name, unit), printer, others)
        taken |= keys_of(name, printer)
        found[table, index_type] = table.named(name)
    return found
