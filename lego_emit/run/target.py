"""What every toolchain shares: compile units, run their functions over arrays."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..emit.unit import Unit
from ..errors import TargetError, ToolchainError, VerifyError, WidthError
from ..ir.index_types import DECLARED, INT64, UINT64, IndexType
from ..ir.nodes import evaluate
from ..ir.program import Function, Group, Param
from ..numeric import is_integer
from .devices import Checker, Rivals, Timer
from .space import Space

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A toolchain that was found: the program's path and its version line."""

    path: str
    version: str


class Library(Protocol):
    """Units that a toolchain has compiled, and whose functions can be called."""

    def call(self, unit: int, function: Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """Run a function of the unit over equally long, contiguous one-dimensional int64 arrays;
        one int64 array for each output."""
        ...

    def call_array(
        self, unit: int, function: Function, scalars: list[int], count: int
    ) -> list[np.ndarray]:
        """Run the array form of a function with ':' axes: scalars are its other parameters, count
        is the number of indices; one int64 array of that length for each output, axes in
        row-major order."""
        ...


_versions: dict[tuple[str, tuple[str, ...], int], str] = {}


class Target:
    """Base of all toolchains. A subclass sets name, program, install and writes build(). prelude: what stands
    before the units in Fortran, Julia and Rust, such as a module that they use."""

    name = ""
    program = ""  # the executable that is looked for on PATH
    version_args: tuple[str, ...] = ("--version",)
    install = ""  # the command that installs it on Debian
    prelude = ""

    def path(self) -> str:
        """The program's path, or a ToolchainError that says what is missing and how to get it."""
        path = shutil.which(self.program)
        if path is None:
            raise ToolchainError(
                f"target {self.name!r} needs {self.program}, which is not on PATH; "
                f"on Debian: {self.install}"
            )
        return path

    def find(self) -> Toolchain:
        """The toolchain: path() and the version that the program says it has. Raises ToolchainError where
        it is missing or does not start."""
        path = self.path()
        output = self.version_said(path)
        return Toolchain(path, next((x for x in output.splitlines() if x.strip()), "unknown"))

    def version_said(self, path: str) -> str:
        """What a program says of its version. It is asked once in a process, unless its file changes."""
        key = path, self.version_args, os.stat(path).st_mtime_ns
        if key not in _versions:
            _versions[key] = self.execute([path, *self.version_args])
        return _versions[key]

    def build(self, units: Sequence[Unit], folder: Path) -> Library:
        """Compile the units together in an empty folder that lives as long as the library."""
        raise NotImplementedError

    def compile(self, units: Sequence[Unit]) -> list[Compiled]:
        """Compile units (one toolchain start for all of them); one Compiled for each."""
        import importlib.util

        if importlib.util.find_spec("numpy") is None:
            raise ToolchainError("running compiled units needs NumPy: pip install numpy")
        for unit in units:
            check_given(unit)
        holder = tempfile.TemporaryDirectory(prefix="lego_emit_", ignore_cleanup_errors=True)
        library = self.build(units, Path(holder.name))
        return [Compiled(unit, library, k, holder) for k, unit in enumerate(units)]

    def compile_for(self, device: str, units: Sequence[Unit]) -> list[Compiled]:
        """compile(), for "cpu" or another device that the target runs on ("gpu", "gpu:1")."""
        if device == "cpu":
            return self.compile(units)
        raise self._no_device(device)

    def checker(self, unit: Unit, device: str, spaces: Mapping[str, Space]) -> Checker:
        """What verifies the unit on a device other than the CPU; spaces: what each function, by
        name, runs over."""
        raise self._no_device(device)

    def timer(self, unit: Unit, device: str, rivals: Rivals) -> Timer:
        """What times the unit on a device, beside its rivals."""
        if device == "cpu":
            raise VerifyError(f"{self.name} is not timed on the CPU")
        raise self._no_device(device)

    def stopwatch(
        self, text: str, names: Sequence[str], device: str
    ) -> Callable[[str, int], float]:
        """What runs the chains of measure.calibrate on a device other than the CPU: the seconds of the
        chain of a name over so many turns."""
        raise self._no_device(device)

    def devices(self) -> list[tuple[str, str]]:
        """(device, what it is or why it cannot be used) for each device but the CPU."""
        return []

    def _no_device(self, device: str) -> Exception:
        if device == "cpu" or device.partition(":")[0] == "gpu":
            return TargetError(f"target {self.name!r} does not run on {device!r}; 'cuda' does")
        return TargetError(f"no device {device!r}; there are 'cpu', 'gpu' and 'gpu:1', 'gpu:2' ..")

    def execute(
        self, command: Sequence[str], cwd: Path | None = None, stdin: str | None = None
    ) -> str:
        """Run a command; its output, or a ToolchainError with everything that it printed."""
        try:
            done = subprocess.run(
                command,
                cwd=cwd,
                input=stdin,
                capture_output=True,
                encoding="utf-8",
                errors="backslashreplace",
                check=False,
            )
        except OSError as error:
            raise ToolchainError(
                f"target {self.name!r}: cannot run {command[0]}: {error}"
            ) from None
        if done.returncode != 0:
            raise ToolchainError(
                f"target {self.name!r}: {' '.join(command)} failed with exit code "
                f"{done.returncode}:\n{done.stdout}{done.stderr}".rstrip()
            )
        return done.stdout + done.stderr


def check_given(unit: Unit) -> None:
    """Raise VerifyError where a function is given a table, which nobody knows here, or reads what a text
    stands for, and TargetError for a static size without a number."""
    for function in unit.program.callable:
        back = {new: old for old, new in function.renamed}
        missing = [back.get(p.name, p.name) for p in function.static if p.default is None]
        if missing:
            given = ", ".join(f"'{name}': 32" for name in missing)
            raise TargetError(
                f"{function.name} is compiled for numbers of its static sizes: give generate() "
                f"sizes={{{given}}}"
            )
    for function in unit.program.functions:
        for one in (*function.params, *function.groups):
            if one.bound:
                raise VerifyError(
                    f"{function.name} reads {one.bound}, which nobody knows here: it cannot be run without; "
                    "verify the same without bind="
                )
    for function in unit.program.functions:
        for one in function.groups:
            if one.open and not unit.printer.has_arrays:
                raise VerifyError(
                    f"{function.name} is given the array {one.name}: it cannot be run in {unit.printer.title} here; "
                    "verify the same in C"
                )
        for table in function.tables:
            raise VerifyError(
                f"{function.name} is given the table {table.name} at run time: it cannot be run here "
                "without; verify the same with entries, as Lookup(dims, [..])"
            )


def check_static(function: Function, param: Param, given: np.ndarray) -> None:
    """Raise TargetError where a static size is not the number that the function is compiled for."""
    other = given[given != param.default].tolist() if given.ndim else [int(given)]
    if [n for n in other if n != param.default]:
        name = {new: old for old, new in function.renamed}.get(param.name, param.name)
        raise TargetError(
            f"{function.name} is compiled for {name} = {param.default}, and cannot be called with "
            f"{other[0]}; give generate() sizes={{'{name}': {other[0]}}} for that"
        )


def check_elements(
    function: Function,
    given: Sequence[Any],
    apart: Sequence[Any] | None,
    kind: type[Exception] = TypeError,
) -> None:
    """Raise an error of a kind where a call reads elements of an array of any length that nobody gives. given: the
    arguments; apart: those with arrays element by element."""
    groups = [g for g in function.groups if g.open and g.count is not None]
    if not groups or apart is None:
        return
    import numpy as np

    names = [p.name for p in function.params]
    values = {n: np.asarray(v, object) for n, v in zip(names, apart, strict=False)}
    lists = dict(zip((one.name for one in function.arguments), given, strict=False))
    for group in groups:
        assert group.count is not None
        read = evaluate(group.count, values)
        most = len(group.members) if read is None else int(np.max(np.asarray(read)))
        known = len(lists[group.name]) if group.name in lists else len(group.members)
        if most > known:
            raise kind(
                f"{function.name} reads {most} elements of {group.name}, and {known} are given; a run has at most "
                f"{len(group.members)}"
            )


def _elements(function: Function, apart: Sequence[Any], found: tuple[Any, ...]) -> tuple[Any, ...]:
    """The elements of an array that a function fills: those that it has, where it has as many in every call."""
    import numpy as np

    count = function.result and function.result.count
    names = [p.name for p in function.params]
    values = {n: np.asarray(v, object) for n, v in zip(names, apart, strict=False)}
    most = np.asarray(evaluate(count, values) if count is not None else len(found))
    return found[: int(most)] if most.ndim == 0 else found


class Compiled(Mapping):
    """A compiled unit: `run["name"](*arguments)` evaluates a function over integers or integer
    arrays, broadcast as NumPy does. The result is an int64 array (an int for all-integer
    arguments), a tuple of them for several outputs; of a uint64 function an array has its bits: view
    it as uint64 where values may be beyond 2**63 - 1."""

    def __init__(self, unit: Unit, library: Library, position: int, holder: object):
        self.unit, self._library, self._position, self._holder = unit, library, position, holder
        known, emitted = (unit.known or unit.program).callable, unit.program.callable
        self._functions = {f.name: of for f, of in zip(known, emitted, strict=True)}
        self._fields: dict[str, tuple[Function, bool]] = {}
        for f, of in zip(known, emitted, strict=True):
            if f.packing is not None:
                self._fields |= {f.packing.get: (of, False), f.packing.set: (of, True)}
        self._walks = {
            f.walk.names["walk"]: of for f, of in zip(known, emitted, strict=True) if f.walk
        }

    def __repr__(self) -> str:
        return f"<compiled {self.unit.program.name} ({self.unit.printer.name}): {', '.join(self)}>"

    def __getitem__(self, name: str) -> Callable[..., Any]:
        if name in self._fields:
            return self.accessor(*self._fields[name])
        if name in self._walks:
            return self.walker(self._walks[name], name)
        if name not in self._functions:
            raise KeyError(f"{name}; this unit has {', '.join(self)}")
        function = self._functions[name]

        def run(*arguments: Any) -> Any:
            apart = _apart(function, arguments, function.arguments)
            check_elements(function, arguments, apart)
            found = self._run(function, apart or arguments)
            if apart is None or function.result is None:
                return found
            found = found if len(function.outputs) > 1 else (found,)
            if function.result.open:
                return _elements(function, apart, found)
            return function.result.value(found)

        run.__name__ = run.__qualname__ = name
        return run

    def walker(self, function: Function, name: str = "") -> Callable[..., Any]:
        """What runs the walk of a function."""
        from .walks import runner

        assert function.walk is not None
        return runner(self._library, self._position, function, name or function.walk.names["walk"])

    def accessor(self, function: Function, sets: bool) -> Callable[..., Any]:
        """What reads fields, or sets them, of a function that says where they are."""
        from .fields import accessor

        return accessor(self._library, self._position, function, sets)

    def columns(self, of: str | Function, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """The results of a function, or of the one of that name, at arrays of its parameters' values,
        structs and arrays member by member on both sides."""
        function = self._functions[of] if isinstance(of, str) else of
        check_elements(function, (), tuple(arguments), VerifyError)
        found = self._run(function, tuple(arguments))
        return found if isinstance(found, tuple) else (found,)

    def array(self, name: str) -> Callable[..., Any]:
        """The array form of a function with ':' axes: takes the other parameters as integers and
        gives an int64 array over the axes (a tuple of them for several outputs)."""
        function = self._functions[name]
        if not function.axes:
            raise KeyError(f"{name} has no ':' axes and so no array form")
        axes = {axis for axis, _ in function.axes}
        names = [p.name for p in function.params if p.name not in axes]

        def run(*arguments: int) -> Any:
            import math
            import operator

            entries = [one for one in function.arguments if one.name not in axes]
            arguments = _apart(function, arguments, entries) or arguments
            if len(arguments) != len(names):
                raise TypeError(
                    f"the array form of {name} takes {len(names)} arguments "
                    f"({', '.join(names)}), got {len(arguments)}"
                )
            scalars = [operator.index(a) for a in arguments]
            shape = function.extents(dict(zip(names, scalars, strict=True)))
            count = math.prod(shape)
            found = self._library.call_array(self._position, function, scalars, count)
            outputs = tuple(o.reshape(shape) for o in found)
            return outputs[0] if len(outputs) == 1 else outputs

        return run

    def __iter__(self) -> Iterator[str]:
        return iter([*self._functions, *self._fields, *self._walks])

    def __len__(self) -> int:
        return len(self._functions) + len(self._fields) + len(self._walks)

    def _check_count(self, function: Function, arguments: tuple) -> None:
        if len(arguments) != len(function.params):
            names = ", ".join(p.name for p in function.params)
            raise TypeError(
                f"{function.name} takes {len(function.params)} arguments ({names}), "
                f"got {len(arguments)}"
            )

    def _run(self, function: Function, arguments: tuple) -> Any:
        from ..packages import numpy as np

        self._check_count(function, arguments)
        # NAME_fits is asked of sizes that are too large, where the language's numbers hold those.
        free = function.is_condition and not self.unit.printer.holds_sizes
        arrays = [
            _checked(function, p, np.asarray(a), INT64 if free else None)
            for p, a in zip(function.params, arguments, strict=True)
        ]
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        flat = [
            np.ascontiguousarray(np.broadcast_to(a, shape), np.int64).ravel()
            for a, param in zip(arrays, function.params, strict=True)
            if not param.static
        ]
        flat = flat or [np.zeros(shape, np.int64).ravel()]
        flat_outputs = self._library.call(self._position, function, flat)
        outputs = tuple(o.reshape(shape) for o in flat_outputs)
        if all(not isinstance(a, np.ndarray) for a in arguments):
            if shape == ():
                wide = 2**64 if function.index_type.ends == UINT64.ends else 0
                outputs = tuple(int(o[()]) % wide if wide else int(o[()]) for o in outputs)
        if function.is_condition:
            outputs = tuple(
                o.astype(bool) if isinstance(o, np.ndarray) else bool(o) for o in outputs
            )
        return outputs[0] if len(outputs) == 1 else outputs


def _checked(
    function: Function, param: Param, array: np.ndarray, kind: IndexType | None
) -> np.ndarray:
    """An argument, of which integers beyond an int64 are its bits. kind: its type, unless that is the
    parameter's. Raises TypeError where it is no integer, WidthError where it is none of its type's; an
    array of an unsigned type may be its bits."""
    from ..packages import numpy as np

    whole = array.dtype == object and array.size and all(is_integer(v) for v in array.flat)
    if array.dtype.kind not in "iub" and not whole:
        raise TypeError(f"{function.name}: {param.name} must be integers, not {array.dtype}")
    if param.static:
        check_static(function, param, array)
    kind = kind or DECLARED.get(param.type, function.index_type)
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    low = max(kind.least if kind.least < 0 else -(kind.most + 1) // 2, -(2**63))
    if least < low or most > min(kind.most, 2**64 - 1 if kind.least == 0 else 2**63 - 1):
        wrong = least if least < low else most
        why = f"its type, {kind}" if abs(kind.most) < 2**64 else "an int64, as which it is passed"
        raise WidthError(f"{function.name}: {param.name} = {wrong} does not fit {why}")
    return np.vectorize(lambda v: int(v) % 2**64, otypes=[np.uint64])(array) if whole else array


def _apart(
    function: Function, arguments: Sequence[Any], entries: Sequence[Param | Group]
) -> tuple[Any, ...] | None:
    """Arguments of which some are structs and arrays, member by member; None where members were given
    by themselves. entries: what they are of."""
    if len(arguments) != len(entries):
        return None
    if all(len(g.names) == 1 for g in function.groups) and function.groups:
        makes = tuple(g.made for g in function.groups if g.struct)
        if not any(isinstance(a, (tuple, list, *makes)) for a in arguments):
            return None
    found: list[Any] = []
    for one, given in zip(entries, arguments, strict=True):
        if isinstance(one, Group):
            values = one.split(given)
            found += [values[k] for k, _ in one.places]
        else:
            found.append(given)
    return tuple(found)


class NativeTarget(Target):
    """A toolchain that makes a shared library with a C interface, loaded through cffi.

    For each function the wrapper exports
        void lego_run_<unit>_<function position>(int64_t n, const int64_t *in0, .., int64_t *out0, ..)
    which calls it for n argument tuples; declaration and definition come from one signature.
    A function without parameters is called n times just the same.
    """

    def build(self, units: Sequence[Unit], folder: Path) -> Library:
        """Link a shared library in the folder and load it."""
        library = folder / "units.so"
        self.link(units, folder, library)
        return _NativeLibrary(units, library)

    def link(self, units: Sequence[Unit], folder: Path, library: Path) -> None:
        """Write the sources and wrappers below folder and compile all of them to library."""
        raise NotImplementedError


def call_arguments(
    function: Function,
    values: Sequence[str],
    make: Callable[[Group, list[str]], str],
    given: Callable[[str, str], str] | None = None,
    static: Callable[[int], str] = str,
    held: bool = False,
    scope: str = "",
) -> list[str]:
    """The arguments of a call by the texts of the values of the parameters that it passes, or of those
    that are no axes; make: the text of a struct or an array, of its members'; given: that of a value as a
    declared type; static: that of a static size in its place; held: of what the receiver of a method holds
    instead; scope: what stands before the name of the function that prepares sizes."""
    axes = {n for n, _ in function.axes} if len(values) < len(function.passed) else set[str]()
    names = [p.name for p in function.passed if p.name not in axes]
    known = dict(zip(names, values, strict=True))
    if given is not None:
        kinds = {p.name: p.type for p in function.passed if p.type}
        known |= {n: given(kinds[n], known[n]) for n in names if n in kinds}
    known |= {p.name: static(p.default) for p in function.static if p.default is not None}
    fixed = {p.name for p in function.params if p.prepared}
    found, sizes = list[str](), list[str]()
    for one in function.held if held else function.entries:
        if one.name in axes:
            continue
        if isinstance(one, Group):
            text = make(one, [known[n] if isinstance(n, str) else str(n) for n in one.members])
            is_fixed = not fixed.isdisjoint(one.names)
        else:
            text, is_fixed = known[one.name], one.name in fixed
        (sizes if is_fixed else found).append(text)
    if not function.prepare:
        return found
    return [f"{scope}{function.prepare}({', '.join(sizes)})", *found]


def outputs_of(function: Function, result: str) -> list[str]:
    """The texts of the outputs in the result of a call in a language with C's operators."""
    whole = function.aggregate
    if whole is not None and whole.beside is not None:
        return [*members_of(whole, f"{result}.r"), f"{result}.own"]
    if whole is not None:
        return members_of(whole, result)
    if len(function.outputs) == 1:
        return [result]
    return [f"{result}.{name}" for name, _ in function.outputs]


def members_of(whole: Group, result: str) -> list[str]:
    """The texts of the members of a struct or an array that a function gives."""
    if whole.native is not None:
        from ..emit.natives import of_value

        return of_value(whole, result)
    if whole.struct:
        return [f"{result}.{name}" for name in whole.names]
    array = f"{result}.v" if whole.name else result  # a wrapper's struct where it is written to
    return [f"{array}[{k}]" for k in range(len(whole.members))]


def symbol(unit: int, position: int) -> str:
    """The exported name of a wrapper."""
    return f"lego_run_{unit}_{position}"


def array_symbol(unit: int, position: int) -> str:
    """The exported name of an array form's wrapper."""
    return f"lego_array_{unit}_{position}"


def c_array_declaration(unit: int, position: int, function: Function) -> str:
    """The C declaration of an array form's wrapper: scalars, then one array for each output."""
    scalars = [f"int64_t s{k}" for k in range(len(function.params) - len(function.axes))]
    outputs = [f"int64_t *out{k}" for k in range(len(function.outputs))]
    return f"void {array_symbol(unit, position)}({', '.join(['int64_t n', *scalars, *outputs])})"


def c_declaration(unit: int, position: int, function: Function) -> str:
    """The wrapper's C declaration (what cffi reads)."""
    inputs = [f"const int64_t *in{k}" for k in range(len(function.passed))]
    outputs = [f"int64_t *out{k}" for k in range(len(function.outputs))]
    return f"void {symbol(unit, position)}({', '.join(['int64_t n', *inputs, *outputs])})"


def grouped(units: Sequence[Unit]) -> list[list[int]]:
    """The units' numbers by the namespace, or the file, that they can share: units of one name have one
    include guard, functions of one name would be one to the linker, too, and a struct has one content.
    One that defines macros stands alone."""
    groups: list[tuple[dict[str, Any], list[int]]] = []
    for u, unit in enumerate(units):
        if unit.program.constants:
            continue
        names: dict[str, Any] = {(f.receiver or f).name: u for f in unit.program.callable}
        packings = [f.packing for f in unit.program.functions if f.packing is not None]
        names |= {name: u for p in packings for name in (p.get, p.set)}
        names[unit.program.name] = u
        names |= {s.struct: (s.fields, T) for s, T in unit.program.structs}
        group = next(
            (g for g in groups if all(g[0].get(n, own) == own for n, own in names.items())), None
        )
        if group is None:
            groups.append(group := ({}, []))
        group[0].update(names)
        group[1].append(u)
    alone = [[u] for u, unit in enumerate(units) if unit.program.constants]
    return [numbers for _, numbers in groups] + alone


class _NativeLibrary:
    takes_threads = True  # the interpreter goes on while a call runs

    def __init__(self, units: Sequence[Unit], path: Path):
        from ..packages import cffi

        self._ffi = cffi.FFI()
        self._positions = []
        declarations = []
        for u, unit in enumerate(units):
            self._positions.append({f.name: p for p, f in enumerate(unit.program.callable)})
            for p, f in enumerate(unit.program.callable):
                declarations.append(f"{c_declaration(u, p, f)};")
                if f.axes:
                    declarations.append(f"{c_array_declaration(u, p, f)};")
                if f.walk is not None:
                    from .walks import c_walk_declaration

                    declarations.append(f"{c_walk_declaration(u, p, f)};")
                if f.packing is not None:
                    from .fields import c_fields_declaration

                    declarations.append(f"{c_fields_declaration(u, p, f)};")
        self._ffi.cdef("\n".join(declarations))
        self._library = self._ffi.dlopen(str(path))

    def call(self, unit: int, function: Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
        from ..packages import numpy as np

        n = len(inputs[0])
        given = inputs[: len(function.passed)]
        outputs = [np.full(n, np.iinfo(np.int64).min, np.int64) for _ in function.outputs]
        pointers = [self._ffi.cast("int64_t *", a.ctypes.data) for a in (*given, *outputs)]
        name = symbol(unit, self._positions[unit][function.name])
        getattr(self._library, name)(n, *pointers)
        return outputs

    def fields(
        self,
        unit: int,
        function: Function,
        words: np.ndarray,
        inputs: list[np.ndarray],
        values: np.ndarray,
        sets: bool,
    ) -> None:
        from .fields import fields_symbol

        pointers = [self._ffi.cast("int64_t *", a.ctypes.data) for a in (*inputs, values)]
        at = self._ffi.cast("void *", words.ctypes.data)
        name = fields_symbol(unit, self._positions[unit][function.name])
        getattr(self._library, name)(int(sets), len(values), len(words), at, *pointers)

    def call_walk(self, unit: int, function: Function, scalars: list[int], count: int) -> list[Any]:
        from .walks import native_walk, walk_symbol

        wrapper = getattr(self._library, walk_symbol(unit, self._positions[unit][function.name]))
        return native_walk(self._ffi, wrapper, function, scalars, count)

    def call_array(
        self, unit: int, function: Function, scalars: list[int], count: int
    ) -> list[np.ndarray]:
        from ..packages import numpy as np

        outputs = [np.full(count, np.iinfo(np.int64).min, np.int64) for _ in function.outputs]
        pointers = [self._ffi.cast("int64_t *", a.ctypes.data) for a in outputs]
        name = array_symbol(unit, self._positions[unit][function.name])
        getattr(self._library, name)(count, *scalars, *pointers)
        return outputs
