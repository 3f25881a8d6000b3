"""The wrappers of walks: each gives the sequence of one as arrays, and how many results there were."""

from collections.abc import Sequence

from lego_emit.emit.printer import Printer
from lego_emit.ir.program import Function
from lego_emit.ir.walks import Odometer, Walk
from lego_emit.run.walks import c_walk_declaration, parameters, walk_symbol


def _walk(function: Function) -> Walk | Odometer:
    assert function.walk is not None
    return function.walk


def _given(function: Function, printer: Printer, cast: str) -> tuple[str, str]:
    """(the arguments of a walk in C or C++, the lines before that make arrays of them)."""
    T = printer.types[function.index_type]
    if not isinstance(_walk(function), Odometer):
        count = len(parameters(function))
        return ", ".join(cast.format(T=T, value=f"s{k}") for k in range(count)), ""
    lines, given = (
        "",
        [cast.format(T=printer.type_of(function.params[0].type, function.index_type), value="s0")],
    )
    for k, (_, kind, values) in enumerate(_elements(function)):
        T = printer.type_of(kind, function.index_type)
        lines += f"  const {T} lego_a{k}[] = {{{', '.join(cast.format(T=T, value=v) for v in values)}}};\n"
        given.append(f"lego_a{k}")
    return ", ".join(given), lines


def _elements(function: Function) -> list[tuple[str, str, list[str]]]:
    """(a name, the type of an element, the texts of the elements) of shape and strides of memory of any rank."""
    walk = _walk(function)
    assert isinstance(walk, Odometer)
    groups = {g.name: g for g in function.groups}
    names = [one.name for one in function.entries][1:3]
    kinds = [(groups[n].types or ("",))[0] for n in names]
    found = list[tuple[str, str, list[str]]]()
    for k, (n, kind) in enumerate(zip(names, kinds, strict=True)):
        places = range(1 + k * walk.most, 1 + (k + 1) * walk.most)
        found.append((n, kind or "", [f"s{p}" for p in places]))
    return found


def c(unit: int, position: int, function: Function, printer: Printer, scope: str = "") -> str:
    """In C, and with a cursor in CUDA C. scope: what stands before the names of the file."""
    walk = _walk(function)
    names = {key: f"{scope}{name}" for key, name in walk.names.items()}
    given, arrays = _given(function, printer, "({T}){value}")
    stores = " ".join(f"out{k}[lego_i] = (int64_t)at.{n};" for k, n in enumerate(walk.results))
    return (
        f"{c_walk_declaration(unit, position, function)} {{\n{arrays}  int64_t lego_i = 0;\n"
        f"  for ({names['cursor']} at = {names['walk']}({given}); at.more; {names['next']}(&at)) {{\n"
        f"    if (lego_i < n) {{ {stores} }}\n    ++lego_i;\n  }}\n  out0[n] = lego_i;\n}}\n"
    )


def cpp(unit: int, position: int, function: Function, printer: Printer, scope: str) -> str:
    """In C++, a range; in CUDA C a cursor."""
    if printer.name != "cpp":
        return f'extern "C" {c(unit, position, function, printer, scope)}'
    walk = _walk(function)
    given, arrays = _given(function, printer, "static_cast<{T}>({value})")
    values = ["at"] if len(walk.results) == 1 else [f"at.{n}" for n in walk.results]
    stores = " ".join(
        f"out{k}[lego_i] = static_cast<std::int64_t>({v});" for k, v in enumerate(values)
    )
    return (
        f'extern "C" {c_walk_declaration(unit, position, function)} {{\n{arrays}'
        f"  std::int64_t lego_i = 0;\n  for (const auto at : {scope}{walk.names['walk']}({given})) {{\n"
        f"    if (lego_i < n) {{ {stores} }}\n    ++lego_i;\n  }}\n  out0[n] = lego_i;\n}}\n"
    )


def rust(unit: int, position: int, function: Function, printer: Printer) -> str:
    """In Rust, an iterator."""
    walk, T = _walk(function), printer.types[function.index_type]
    scalars, outputs = range(len(parameters(function))), range(len(walk.results))
    taken = [f"s{k}: i64" for k in scalars] + [f"out{k}: *mut i64" for k in outputs]
    given = ", ".join(f"s{k} as {T}" for k in scalars)
    if isinstance(walk, Odometer):
        kinds = [printer.type_of(kind, function.index_type) for _, kind, _ in _elements(function)]
        arrays = [
            f"&[{', '.join(f'{v} as {kind}' for v in values)}]"
            for kind, (_, _, values) in zip(kinds, _elements(function), strict=True)
        ]
        rank = printer.type_of(function.params[0].type, function.index_type)
        given = ", ".join([f"s0 as {rank}", *arrays])
    pattern = "r0" if len(outputs) == 1 else f"({', '.join(f'r{k}' for k in outputs)})"
    stores = " ".join(f"*out{k}.add(count) = r{k} as i64;" for k in outputs)
    return (
        "#[no_mangle]\n"
        f'pub unsafe extern "C" fn {walk_symbol(unit, position)}(n: i64, {", ".join(taken)}) {{\n'
        f"    let mut count = 0;\n    for {pattern} in unit_{unit}::{walk.names['walk']}({given}) {{\n"
        f"        if (count as i64) < n {{ {stores} }}\n        count += 1;\n    }}\n"
        "    *out0.add(n as usize) = count as i64;\n}\n"
    )


def fortran(unit: int, position: int, function: Function, kind: str, module: str) -> list[str]:
    """The lines of the procedure in Fortran, but its end."""
    walk, scalars = _walk(function), [f"s{k}" for k in range(len(parameters(function)))]
    outputs = [f"out{k}" for k in range(len(walk.results))]
    cursor, walked, next_ = (walk.names[role] for role in ("cursor", "walk", "next"))
    given = ", ".join(f"int({x}, {kind})" for x in scalars)
    if isinstance(walk, Odometer):
        arrays = [
            f"[{', '.join(f'int({v}, {of or kind})' for v in values)}]"
            for _, of, values in _elements(function)
        ]
        given = ", ".join([f"int(s0, {function.params[0].type or kind})", *arrays])
    return [
        f"subroutine {walk_symbol(unit, position)}({', '.join(['n', *scalars, *outputs])}) bind(C)",
        "  use, intrinsic :: iso_c_binding, only: c_int64_t",
        "  use, intrinsic :: iso_fortran_env, only: int32, int64",
        f"  use {module}, only: emitted => {cursor}, begun => {walked}, advanced => {next_}",
        "  implicit none",
        f"  integer(c_int64_t), value :: {', '.join(['n', *scalars])}",
        *(f"  integer(c_int64_t), intent(out) :: {x}(n + 1)" for x in outputs),
        "  integer(c_int64_t) :: lego_i",
        "  type(emitted) :: at",
        "  lego_i = 0",
        f"  at = begun({given})",
        "  do while (at%more)",
        "    lego_i = lego_i + 1",
        "    if (lego_i <= n) then",
        *(f"      {x}(lego_i) = int(at%{r}, c_int64_t)" for x, r in zip(outputs, walk.results, strict=True)),
        "    end if",
        "    call advanced(at)",
        "  end do",
        "  out0(n + 1) = lego_i",
    ]  # fmt: skip


def julia(unit: int, position: int, function: Function, kind: str, scope: str) -> str:
    """In Julia: of the outputs the first has one element more."""
    walk = _walk(function)
    numbers = [f"inputs[{k + 1}][1] % {kind}" for k in range(len(parameters(function)))]
    given = ", ".join(numbers)
    if isinstance(walk, Odometer):
        half = 1 + walk.most
        given = f"{numbers[0]}, [{', '.join(numbers[1:half])}], [{', '.join(numbers[half:])}]"
    parts = (
        ["value"]
        if len(walk.results) == 1
        else [f"value[{k + 1}]" for k in range(len(walk.results))]
    )
    return "\n".join(
        [
            f"function walk_{unit}_{position}(n, inputs, outputs)",
            "    count = 0",
            f"    for value in {scope}.{walk.names['walk']}({given})",
            "        count += 1",
            "        if count < n",
            *(
                f"            outputs[{k + 1}][count] = {text} % Int64"
                for k, text in enumerate(parts)
            ),
            "        end",
            "    end",
            "    outputs[1][n] = count",
            "end",
            "",
        ]
    )


def javascript(function: Function, scalars: Sequence[int]) -> str:
    """The text of a call in JavaScript that gives the arrays, a last one with the count."""
    results = [f"r{k}" for k in range(len(_walk(function).results))]
    numbers = [f"a{k}" for k in range(len(scalars))]
    given = ", ".join(numbers)
    if isinstance(walk := _walk(function), Odometer):
        half = 1 + walk.most
        given = f"a0, [{', '.join(numbers[1:half])}], [{', '.join(numbers[half:])}]"
    pushed = " ".join(f"o{k}.push(r{k});" for k in range(len(results)))
    arrays = ", ".join(f"o{k} = []" for k in range(len(results)))
    returned = ", ".join(f"o{k}" for k in range(len(results)))
    visit = f"({', '.join(results)}) => {{ {pushed} }}"
    return f"(() => {{ const {arrays}; f({given}, {visit}); return [{returned}]; }})()"
