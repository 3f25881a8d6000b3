"""Results that are written to parameters, in the languages of C: after the others, or to one of them."""

from __future__ import annotations

from typing import Any

from lego_emit.emit.printer import FunctionView
from lego_emit.errors import TargetError
from lego_emit.ir.program import Group
from lego_emit.printers.c_lines import free


def check(function: FunctionView, form: str) -> None:
    """Raise TargetError where results of a form cannot be written."""
    if form == "inout" and function.aggregate is None:
        raise TargetError(
            f"{function.name}: results is 'inout', and it gives several integers, no struct and no array; "
            "annotate what it returns, or write results='out'"
        )
    if function.axes:
        raise TargetError(
            f"{function.name}: results is {form!r}, and it has an array form, which needs what it returns; "
            "write a parameter for ':'"
        )


def outs(printer: Any, function: FunctionView) -> list[str]:
    """The parameters that results are written to, beside those that are read."""
    whole = function.aggregate
    if whole is None:
        return [printer.out_forms[0].format(T=T, name=name) for name, T in function.typed_outputs]
    return [] if whole.written else [target(printer, whole, function.output_types[0])]


def target(printer: Any, group: Group, T: str) -> str:
    """The parameter that a struct, or an array of the type T, is written to."""
    if group.native is not None:
        from lego_emit.printers import c_natives

        return c_natives.written(group, printer.out_forms[0])
    form = printer.out_forms[0 if group.struct else 1]
    return form.format(T=group.struct or T, name=group.name, n=len(group.members))


def statements(printer: Any, function: FunctionView) -> list[str]:
    """The statements that write results where they go. Where the function may read what it writes, all are
    computed before the first is written."""
    whole, names = function.aggregate, [name for name, _ in function.outputs]
    texts, at_once = function.texts(), ""
    if whole is None:
        places = [printer.out_forms[2].format(name=name) for name in names]
    elif whole.native is not None:
        from lego_emit.printers import c_natives

        places = c_natives.places(printer, function)
        at_once = "" if places else c_natives.whole(printer, function)
    elif whole.struct:
        places = [f"{whole.name}{printer.out_forms[3]}{name}" for name in whole.names]
    else:
        places = [f"{whole.name}[{k}]" for k in range(len(whole.members))]
    lines = list[str]()
    own = whole is not None and whole.beside is not None
    if _may_share(function):
        bound = {name for name, _ in function.body}
        taken = {*function.inputs, *bound, *names}
        taken |= set() if whole is None else {whole.name}
        for k, (T, text) in enumerate(zip(function.output_types, texts, strict=True)):
            kept = not at_once or (own and k == len(texts) - 1)
            if kept and function.outputs[k][1].op != "const" and text not in bound:
                texts[k] = free(f"value_{k}", taken)
                lines.append(printer.line(f"const {T} {texts[k]} = {text};", 2))
    if at_once:
        lines.append(printer.line(at_once, 2))
    pairs = zip(places, texts, strict=False)
    lines += [printer.line(f"{place} = {text};", 2) for place, text in pairs]
    return [*lines, *([printer.line(f"return {texts[-1]};", 2)] if own else [])]


def _may_share(function: FunctionView) -> bool:
    """Whether a parameter may be what the results are written to."""
    whole = function.aggregate
    if whole is not None and whole.struct:
        passing = (g.native.passing for g in function.groups if g.native is not None)
        return whole.written or any("*" in form or "&" in form for form in passing)
    return any(not g.struct for g in function.groups)


def told(function: FunctionView) -> list[str]:
    """The doc comment's lines."""
    whole, lines, header = function.aggregate, function.doxygen, function.header
    returns, promised = header.function.returns, header.promised()
    last = list[str]()
    if whole is not None and whole.beside is not None:  # what is said of the results is said of it
        said = "; ".join(filter(None, [returns, header.promised(part=slice(-1, None))]))
        last = [f"@return {said}"] if said else []
        returns, promised = "", header.promised(part=slice(-1))
    result = "; ".join(filter(None, [returns, promised]))
    if whole is not None and whole.written:
        own = header.entries[whole.name]
        said = "; ".join(filter(None, [own, result and f"afterwards {result}"]))
        made = [f"@param[in,out] {whole.name} {said}"] if said else []
        kept = [x for x in lines if not x.startswith(("@return ", f"@param {whole.name} "))]
        at = next(
            (k for k, x in enumerate(kept) if x.startswith(("@param", "@pre", "@note"))), len(kept)
        )
        lines = [*kept[:at], *made, *kept[at:]]
        at = next((k for k, x in enumerate(lines) if x.startswith(("@pre", "@note"))), len(lines))
        return [*lines[:at], *last, *lines[at:]]
    names = [n for n, _ in function.outputs] if whole is None else [whole.name]
    written = [f"@param[out] {','.join(names)} {result}"] if result else []
    at = next(
        (k for k, x in enumerate(lines) if x.startswith(("@return ", "@pre", "@note"))), len(lines)
    )
    rest = [x for x in lines[at:] if not x.startswith("@return ")]
    return [*lines[:at], *written, *last, *rest]
