"""MLIR through mlir-opt, mlir-translate, llc and cffi."""

from __future__ import annotations

import ctypes
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lego_emit.emit.unit import Unit
from lego_emit.errors import ToolchainError
from lego_emit.ir.program import Function
from lego_emit.run.target import Library, NativeTarget, Target, Toolchain, c_declaration, symbol

if TYPE_CHECKING:
    import numpy as np

# Debian's programs have LLVM's version in their names.
VERSIONS = ("", *(f"-{version}" for version in range(30, 15, -1)))
PROGRAMS = ("mlir-opt", "mlir-translate", "llc")
PASSES = (
    "--convert-scf-to-cf",
    "--convert-cf-to-llvm",
    "--arith-expand",
    "--convert-arith-to-llvm",
    "--{memref}-memref-to-llvm",
    "--convert-func-to-llvm",
    "--reconcile-unrealized-casts",
)


# From which version on the pass for buffers begins with which word; older ones than the first are not taken.
MEMREF = {17: "finalize", 16: "convert"}


@dataclass(frozen=True)
class Llvm:
    """Programs of one version. said: the version as it says it."""

    opt: str
    translate: str
    llc: str
    said: str

    @property
    def number(self) -> int:
        """The version; 16 where it says none."""
        found = re.search(r"version (\d+)", self.said)
        return int(found[1]) if found else min(MEMREF)


def installed() -> Iterator[Llvm]:
    """Each version all of whose PROGRAMS are on PATH, the newest first."""
    for version in VERSIONS:
        found = [shutil.which(f"{program}{version}") for program in PROGRAMS]
        paths = [path for path in found if path]
        if len(paths) == len(PROGRAMS):
            lines = Target().execute([paths[0], "--version"]).splitlines()
            said = next((x.strip() for x in lines if "version" in x), "unknown")
            yield Llvm(*paths, said)


def wrapper(unit: int, position: int, function: Function, T: str) -> str:
    """The loop around a function of the unit, itself in MLIR: several results have no C type."""
    inputs, outputs = range(len(function.params)), range(len(function.outputs))
    pointers = [f"%in{k}: !llvm.ptr" for k in inputs] + [f"%out{k}: !llvm.ptr" for k in outputs]
    widen = "extui" if function.index_type.startswith("uint") else "extsi"
    widen = "index_cast" if T == "index" else widen
    lines = []
    for k in inputs:
        lines.append(
            f"%from{k} = llvm.getelementptr %in{k}[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64"
        )
        lines.append(f"%{'wide' * (T != 'i64')}a{k} = llvm.load %from{k} : !llvm.ptr -> i64")
        if T != "i64":
            narrow = "index_cast" if T == "index" else "trunci"
            lines.append(f"%a{k} = arith.{narrow} %widea{k} : i64 to {T}")
    arguments = ", ".join(f"%a{k}" for k in inputs)
    results = ", ".join(f"%r{k}" for k in outputs)
    types = f"({', '.join(T for _ in inputs)}) -> ({', '.join(T for _ in outputs)})"
    lines.append(f"{results} = func.call @unit_{unit}_{function.name}({arguments}) : {types}")
    for k in outputs:
        if T != "i64":
            lines.append(f"%wider{k} = arith.{widen} %r{k} : {T} to i64")
        lines.append(
            f"%to{k} = llvm.getelementptr %out{k}[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64"
        )
        lines.append(f"llvm.store %{'wide' * (T != 'i64')}r{k}, %to{k} : i64, !llvm.ptr")
    return "\n".join(
        [
            f"// {c_declaration(unit, position, function)}",
            f"func.func @{symbol(unit, position)}({', '.join(['%n: i64', *pointers])}) {{",
            "  %first = arith.constant 0 : index",
            "  %step = arith.constant 1 : index",
            "  %end = arith.index_cast %n : i64 to index",
            "  scf.for %at = %first to %end step %step {",
            "    %i = arith.index_cast %at : index to i64",
            *(f"    {line}" for line in lines),
            "  }",
            "  return",
            "}\n",
        ]
    )


class _Filled:
    """A library whose array forms are called themselves: a buffer is a pointer, twice, an offset,
    sizes and strides."""

    def __init__(self, library: Library, path: Path, units: Sequence[Unit]):
        self._library, self._symbols = library, ctypes.CDLL(str(path))
        self._printers = [unit.printer for unit in units]
        self.call = library.call

    def call_array(
        self, unit: int, function: Function, scalars: list[int], count: int
    ) -> list[np.ndarray]:
        """Run an array form over a new buffer for each output."""
        import numpy as np

        axes = {axis for axis, _ in function.axes}
        names = [p.name for p in function.params if p.name not in axes]
        shape = function.extents(dict(zip(names, scalars, strict=True)))
        of = "int64" if function.index_type == "index" else str(function.index_type)
        integer = getattr(ctypes, f"c_{of}")
        outputs = [np.zeros(shape, of) for _ in function.outputs]
        arguments = [integer(value) for value in scalars]
        for array in outputs:
            strides = [stride // array.itemsize for stride in array.strides]
            arguments += [ctypes.c_void_p(array.ctypes.data)] * 2
            arguments += [ctypes.c_int64(value) for value in (0, *shape, *strides)]
        name = self._printers[unit].array_name(function.name)
        self._symbols[f"unit_{unit}_{name}"](*arguments)
        return [array.ravel().astype(np.int64) for array in outputs]


class MlirTarget(NativeTarget):
    """MLIR as a shared library, by mlir-opt, through LLVM's dialect."""

    name = "mlir"
    program = "mlir-opt"
    install = "apt-get install mlir-16-tools llvm-16 gcc"

    def find(self) -> Toolchain:
        """mlir-opt, of a version of which mlir-translate and llc are there, too."""
        llvm = self._programs()[0]
        return Toolchain(llvm.opt, llvm.said)

    def _programs(self) -> tuple[Llvm, str]:
        """LLVM's programs, and the path of gcc."""
        llvm, gcc = next(installed(), None), shutil.which("gcc")
        if llvm and gcc:
            return llvm, gcc
        raise ToolchainError(
            f"target {self.name!r} needs {', '.join(PROGRAMS)} of one version (mlir-opt-16 ..) and "
            f"gcc on PATH; on Debian: {self.install}"
        )

    def build(self, units: Sequence[Unit], folder: Path) -> Library:
        """The library, its array forms called without a wrapper."""
        return _Filled(super().build(units, folder), folder / "units.so", units)

    def link(self, units: Sequence[Unit], folder: Path, library: Path) -> None:
        """One module with all units, their functions renamed, and all wrappers."""
        texts = []
        for u, unit in enumerate(units):
            texts.append(re.sub(r"@(?=\w)", f"@unit_{u}_", unit.source))
            for p, f in enumerate(unit.program.functions):
                texts.append(wrapper(u, p, f, unit.printer.types[f.index_type]))
        self.shared("\n".join(texts), folder, library)

    def shared(self, text: str, folder: Path, library: Path) -> None:
        """A module as a shared library; what is made on the way stays in the folder."""
        (folder / "units.mlir").write_text(text)
        llvm, gcc = self._programs()
        passes = [
            name.format(memref=next(w for n, w in MEMREF.items() if n <= llvm.number))
            for name in PASSES
        ]
        self.execute([llvm.opt, *passes, "units.mlir", "-o", "lowered.mlir"], folder)
        self.execute([llvm.translate, "--mlir-to-llvmir", "lowered.mlir", "-o", "units.ll"], folder)
        command = [llvm.llc, "-O1", "--relocation-model=pic", "--filetype=obj"]
        self.execute([*command, "units.ll", "-o", "units.o"], folder)
        self.execute([gcc, "-shared", "units.o", "-o", str(library)], folder)
