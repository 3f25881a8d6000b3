"""Rust through rustc and cffi."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from lego_emit.emit.unit import Unit
from lego_emit.ir.program import Function, Group
from lego_emit.printers import rust_methods, rust_natives
from lego_emit.printers.rust import RustPrinter
from lego_emit.run.devices import Rivals, Timer
from lego_emit.run.fields import c_fields_declaration, fields_symbol
from lego_emit.run.target import (
    NativeTarget,
    array_symbol,
    c_array_declaration,
    c_declaration,
    call_arguments,
    symbol,
)
from lego_emit.targets import walks

NO_MANGLE = "#[unsafe(no_mangle)]"  # from edition 2024 on
FLAGS = ("-D", "warnings", "-C", "panic=abort", "-C", "opt-level=1")


def called(function: Function, printer: RustPrinter, values: Sequence[str], module: str) -> str:
    """A call of a function of a module, or of a method of an object that holds some of the values."""
    make = printer.argument(module)

    def field(group: Group, texts: list[str]) -> str:
        return make(group, texts).removeprefix("&")

    arguments = call_arguments(function, values, make, printer.given, scope=f"{module}::")
    held = call_arguments(function, values, field, printer.given, held=True)
    name = rust_methods.called(function, printer.instance(function), held, module)
    return f"{name}({', '.join(arguments)})"


def rust_wrapper(
    unit: int, position: int, function: Function, printer: RustPrinter, within: bool
) -> str:
    """The extern "C" loop around one function of the module unit_<unit>; within: it is in that."""
    inputs = range(len(function.passed))
    outputs = range(len(function.outputs))
    pointers = [f"in{k}: *const i64" for k in inputs] + [f"out{k}: *mut i64" for k in outputs]
    parameters = ", ".join(["n: i64", *pointers])
    T, module = printer.types[function.index_type], "self" if within else f"unit_{unit}"
    values = [f"*in{k}.add(i) as {T}" for k in inputs]
    call = called(function, printer, values, module)
    if (whole := function.aggregate) is not None and whole.open:
        call = f"{{ let mut r = [0; {len(outputs)}]; {call.removesuffix(')')}, &mut r); r }}"
    results = enumerate(rust_natives.results(function))
    stores = " ".join(f"*out{k}.add(i) = {result} as i64;" for k, result in results)
    return (
        f"// {c_declaration(unit, position, function)}\n"
        "#[no_mangle]\n"
        f'pub unsafe extern "C" fn {symbol(unit, position)}({parameters}) {{\n'
        "    for i in 0..n as usize {\n"
        f"        let {printer.pattern(function, module)} = {call};\n"
        f"        {stores}\n"
        "    }\n}\n"
    )


def rust_array_wrapper(unit: int, position: int, function: Function, printer: RustPrinter) -> str:
    """The same around an iterator. Results beyond the n that are wanted spoil the first one."""
    scalars = range(len(function.passed) - len(function.axes))
    outputs = range(len(function.outputs))
    pointers = [f"out{k}: *mut i64" for k in outputs]
    parameters = ", ".join(["n: i64", *(f"s{k}: i64" for k in scalars), *pointers])
    T, module = printer.types[function.index_type], f"unit_{unit}"
    name = printer.array_name(function.name)
    values = [f"s{k} as {T}" for k in scalars]
    arguments = ", ".join(call_arguments(function, values, printer.argument(module)))
    stores = " ".join(f"*out{k}.add(i) = r{k} as i64;" for k in outputs)
    return (
        f"// {c_array_declaration(unit, position, function)}\n"
        "#[no_mangle]\n"
        f'pub unsafe extern "C" fn {array_symbol(unit, position)}({parameters}) {{\n'
        f"    let mut results = {module}::{name}({arguments});\n"
        f"    for (i, {printer.pattern(function, module)}) in results.by_ref().take(n as usize).enumerate() {{\n"
        f"        {stores}\n"
        "    }\n"
        "    if n > 0 && results.next().is_some() {\n"
        "        *out0 = i64::MIN;\n"
        "    }\n}\n"
    )


def rust_fields_wrapper(
    unit: int, position: int, function: Function, printer: RustPrinter, within: bool
) -> str:
    """The same around the functions that read and write fields."""
    p, T = function.packing, printer.types[function.index_type]
    inputs, module = range(len(function.passed)), "self" if within else f"unit_{unit}"
    values = [f"*in{k}.add(i) as {T}" for k in inputs]
    given = ", ".join(call_arguments(function, values, printer.argument(module), printer.given))
    U, S = printer.spelled(f"uint{p.word}"), f"{'i' if p.signed else 'u'}{p.word}"
    whole = printer.instance(function).removeprefix(function.name)
    get, put = f"{module}::{p.get}{whole}", f"{module}::{p.set}{whole}"
    words, rest = ("*words.add(i)", f", {given}, ") if p.by_value else ("words", f", {given}, ")
    rest = rest if given else ", "
    own = "at" if p.by_value else "core::slice::from_raw_parts_mut(at, count as usize)"
    changed = "*words.add(i) = " if p.by_value else ""
    pointers = "".join(f"in{k}: *const i64, " for k in inputs)
    return (
        f"// {c_fields_declaration(unit, position, function)}\n"
        "#[no_mangle]\n"
        f'pub unsafe extern "C" fn {fields_symbol(unit, position)}(\n'
        f"    set: i64, n: i64, count: i64, at: *mut {U}, {pointers}values: *mut i64) {{\n"
        f"    let _ = count;\n    let words = {own};\n"
        "    for i in 0..n as usize {\n"
        f"        if set != 0 {{ {changed}{put}({words}{rest}*values.add(i) as {S}); }}\n"
        f"        else {{ *values.add(i) = {get}({words}{rest.removesuffix(', ')}) as i64; }}\n"
        "    }\n}\n"
    )


class RustTarget(NativeTarget):
    """Rust as a shared library with a C interface, by rustc."""

    name = "rust"
    program = "rustc"
    install = "apt-get install rustc"
    edition = "2021"
    flags: tuple[str, ...] = FLAGS

    def link(self, units: Sequence[Unit], folder: Path, library: Path) -> None:
        """One crate with each unit as a module."""
        parts = []
        for u, unit in enumerate(units):
            parts.append(f"mod unit_{u};\n")
            printer, inner = cast(RustPrinter, unit.printer), [unit.source]
            for p, f in enumerate(unit.program.callable):
                # What a type of a code base is called is known in the module.
                within = bool(unit.program.natives)
                (inner if within else parts).append(rust_wrapper(u, p, f, printer, within))
                if f.packing is not None:
                    text = rust_fields_wrapper(u, p, f, printer, within)
                    (inner if within else parts).append(text)
                if f.walk is not None:
                    parts.append(walks.rust(u, p, f, printer))
                if f.axes:
                    parts.append(rust_array_wrapper(u, p, f, printer))
            (folder / f"unit_{u}{unit.printer.extension}").write_text(
                "\n".join(inner).replace(
                    "#[no_mangle]", NO_MANGLE if self.edition >= "2024" else "#[no_mangle]"
                )
            )
        text = "\n".join([self.prelude, *parts])
        if self.edition >= "2024":
            text = text.replace("#[no_mangle]", NO_MANGLE)
            text = f"#![allow(unsafe_op_in_unsafe_fn)]\n\n{text}"
        (folder / "units.rs").write_text(text)
        command = [self.path(), "--edition", self.edition, *self.flags]
        self.execute([*command, "--crate-type=cdylib", "-o", str(library), "units.rs"], cwd=folder)

    copy_checks = ("-ftrapv",)  # as debug builds have

    def copy_library(self, unit: Unit, folder: Path, flags: Sequence[str]) -> tuple[Path, str]:
        """The library of a copy, and its functions' declarations."""
        from lego_emit.targets.copies import DECLARATIONS, rust

        return rust(self, unit, folder, flags), DECLARATIONS

    def timer(self, unit: Unit, device: str, rivals: Rivals) -> Timer:
        """On the CPU, a Rust program."""
        if device != "cpu":
            return super().timer(unit, device, rivals)
        from lego_emit.targets.cpu_timing import CpuTimer
        from lego_emit.targets.timing_rust import RustProgram

        return CpuTimer(self, unit, rivals, RustProgram(called))


class CheckedRustTarget(RustTarget):
    """Debug assertions on: an overflow panics, which ends the process."""

    flags = (*FLAGS, "-C", "debug-assertions=on")
