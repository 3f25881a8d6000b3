"""The lines that move bits by pdep and pext, before those that do it by shifts and masks."""

from __future__ import annotations

from collections.abc import Callable

from lego_emit.emit.view import FunctionView
from lego_emit.printers.c_lines import free


def c_lines(printer, view: FunctionView, indent: int) -> list[str]:
    """Up to the line before the usual statements. In C++ they are left to constant expressions, too."""
    if printer.writes(view):
        return []
    evaluated = "constexpr" in printer.qualifiers
    word, whole = ("static_cast<{T}>({0})", "std::") if evaluated else ("({T}){0}", "")

    def cast(T: str, text: str) -> str:
        atom = text if evaluated or text.isidentifier() else f"({text})"
        return word.format(atom, T=T)

    def number(text: str, bits: int) -> str:
        T = f"{whole}uint{bits}_t"
        return text if view.T == T else cast(T, text)

    def result(text: str) -> str:
        return text if view.index_type.least == 0 else cast(view.T, text)

    unsigned = f"{whole}uint{_bits(view)}_t"
    made, texts = _statements(view, f"const {unsigned} {{name}} = {{text}};", number, hex, result)
    told = view.inside(view._function)
    told.texts = lambda: texts  # type: ignore[method-assign]
    end = printer.returned(told, view.result_type) if view.several else [f"return {texts[0]};"]
    lines = [*made, *end]
    if evaluated:
        lines = ["if (!__builtin_is_constant_evaluated()) {", *(f"  {x}" for x in lines), "}"]
    return [
        "#ifdef __BMI2__",
        *(" " * indent + x for x in lines),
        "#endif" if evaluated else "#else",
    ]


def rust_lines(printer, view: FunctionView, indent: int) -> list[str]:
    """Before the usual statements."""
    bits = _bits(view)

    def number(text: str, bits: int) -> str:
        return text if view.T == f"u{bits}" else f"{text} as u{bits}"

    def result(text: str) -> str:
        if view.T == f"u{bits}":
            return text
        return f"{text} as {view.T}" if text.isidentifier() else f"({text}) as {view.T}"

    form = "let {name} = unsafe {{ {text} }};"
    made, texts = _statements(view, form, number, _grouped, result)
    names = sorted({n for n in (f"_pdep_u{bits}", f"_pext_u{bits}") if any(n in x for x in made)})
    used = names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"
    end = printer.tail(view, indent + 8, texts)
    return [
        '#[cfg(target_arch = "x86_64")]',
        'if cfg!(target_feature = "bmi2") {',
        f"    use core::arch::x86_64::{used};",
        "    // SAFETY: the target has the instructions.",
        *(f"    {line}" for line in made),
        f"    return {end};",
        "}",
    ]


def _bits(view: FunctionView) -> int:
    """Of the words that are moved."""
    return 32 if view.index_type.most < 1 << 32 else 64


def _statements(
    view: FunctionView,
    form: str,
    number: Callable[[str, int], str],
    mask: Callable[[int], str],
    result: Callable[[str], str],
) -> tuple[list[str], list[str]]:
    """(a statement for each move, the results made of those)."""
    bits, taken = _bits(view), {p.name for p in view.params}
    lines, texts = [], []
    for (output, _), own in zip(view.outputs, view.moves, strict=True):
        names = []
        for move in own:
            text = given = view.params[move.param].name
            for called, bit_mask in move.instructions:
                text = f"_{called}_u{bits}({number(text, bits) if text == given else text}, {mask(bit_mask)})"
            stem = output if len(own) == 1 else f"{given}_bits"
            names.append(free(stem if stem not in taken else f"{stem}_bits", taken))
            taken.add(names[-1])
            lines.append(
                form.format(name=names[-1], text=number(text, bits) if text == given else text)
            )
        texts.append(result(" | ".join(names)))
    return lines, texts


def _grouped(mask: int) -> str:
    """A number in hexadecimal digits by fours, as Rust has them."""
    return f"0x{mask:_x}"
