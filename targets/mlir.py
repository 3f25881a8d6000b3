"""MLIR through mlir-opt, mlir-translate, llc and cffi; kernels of its gpu dialect as PTX and SPIR-V."""

from __future__ import annotations

import ctypes
import re
import shutil
import tempfile
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


@dataclass(frozen=True)
class Forms:
    """What versions of LLVM do in different ways. memref: how the pass for buffers begins; kernels: whether
    mlir-opt itself makes PTX, and SPIR-V that drivers take."""

    memref: str
    kernels: bool


# From which version on; older ones than the first are not taken.
FORMS = {19: Forms("finalize", True), 17: Forms("finalize", False), 16: Forms("convert", False)}
KERNELS_FROM = 19


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
        return int(found[1]) if found else min(FORMS)

    @property
    def forms(self) -> Forms:
        """The row of FORMS."""
        return next((f for first, f in FORMS.items() if first <= self.number), FORMS[min(FORMS)])


def installed() -> Iterator[Llvm]:
    """Each version all of whose PROGRAMS are on PATH, the newest first."""
    for version in VERSIONS:
        opt, translate, llc = (shutil.which(f"{program}{version}") for program in PROGRAMS)
        if opt and translate and llc:
            lines = _Kernels().version_said(opt).splitlines()
            said = next((x.strip() for x in lines if "version" in x), "unknown")
            yield Llvm(opt, translate, llc, said)


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
            texts.append(re.sub(r"(@|^#)(?=\w)", rf"\1unit_{u}_", unit.source, flags=re.M))
            for p, f in enumerate(unit.program.functions):
                texts.append(wrapper(u, p, f, unit.printer.types[f.index_type]))
        self.shared("\n".join(texts), folder, library)

    def shared(self, text: str, folder: Path, library: Path) -> None:
        """A module as a shared library; what is made on the way stays in the folder."""
        (folder / "units.mlir").write_text(text)
        llvm, gcc = self._programs()
        passes = [name.format(memref=llvm.forms.memref) for name in PASSES]
        self.execute([llvm.opt, *passes, "units.mlir", "-o", "lowered.mlir"], folder)
        self.execute([llvm.translate, "--mlir-to-llvmir", "lowered.mlir", "-o", "units.ll"], folder)
        command = [llvm.llc, "-O1", "--relocation-model=pic", "--filetype=obj"]
        self.execute([*command, "units.ll", "-o", "units.o"], folder)
        self.execute([gcc, "-shared", "units.o", "-o", str(library)], folder)


# -- kernels ---------------------------------------------------------------------------------------

TO_NVVM = (
    "lower-affine,convert-scf-to-cf,arith-expand,convert-gpu-to-nvvm{index-bitwidth=64},canonicalize,cse,"
    "reconcile-unrealized-casts"
)
# convert-gpu-to-nvvm makes a call of NVIDIA's library of what is an instruction.
ROOT = re.compile(r"math\.sqrt (%[\w.$-]+)(?: fastmath<\w+>)? : (f32|f64)$", re.M)
LIBRARY = re.compile(r"\b__nv_\w+")
TO_SPIRV = (
    "builtin.module(gpu.module(map-memref-spirv-storage-class{client-api=vulkan},lower-affine,arith-expand,"
    "convert-math-to-spirv,canonicalize),convert-gpu-to-spirv,canonicalize,cse,"
    "spirv.module(spirv-lower-abi-attrs,spirv-update-vce))"
)
VULKAN = (
    "module attributes {gpu.container_module, spirv.target_env = #spirv.target_env<"
    "#spirv.vce<v1.3, [Shader, Int64], [SPV_KHR_storage_buffer_storage_class]>, "
    "#spirv.resource_limits<>>} {"
)
LOCAL = "--mlir-print-local-scope"  # no name stands for a type or a map
KERNELS = re.compile(r"^  gpu\.module .*? \{\n(.*?)^  \}$", re.M | re.S)
HEAD = re.compile(
    r"^( *)(gpu\.func @[\w.$-]+\(.*?\))(?: workgroup\((.*?)\))?( private\(.*?\))? kernel"
    r"(?: attributes \{(.*)\})? \{$",
    re.M,
)
QUOTED = re.compile(r'gpu\.func (@"[^"]*")')
TILE = re.compile(r"(%[\w.$-]+) : (memref<.*?)#gpu\.address_space<workgroup>>")
BLOCK = re.compile(r"known_block_size = array<i32: ([\d, ]+)>")
ASSEMBLY = re.compile(r'assembly = "((?:[^"\\]|\\.)*)"')
UNKNOWN = re.compile(r"'(\w+)' is not a recognized processor")
# Operations on integers with a sign, which MLIR writes on integers without one: wgpu goes by the type. A
# constant may be called %cst-7_i32.
SIGNED = re.compile(
    r"^( *)%(\w+) = spirv\.((?:SDiv|SRem|SMod|SNegate|SConvert|ConvertSToF|ConvertFToS|ShiftRightArithmetic|"
    r"GL\.SAbs|GL\.SSign)) ([%\w, .$-]+) : (.*)$",
    re.M,
)
INTEGER = re.compile(r"\bi(?=\d)|(?<=x)i(?=\d)")
CONDITION = re.compile(r"^( *)%([\w.$-]+) = arith\.index_castui (%[\w.$-]+) : i1 to index$", re.M)
WIDENED = (
    r"\1%wide_\2 = arith.extui \3 : i1 to i32\n\1%\2 = arith.index_cast %wide_\2 : i32 to index"
)
# What MLIR makes other numbers of: f32 of any other float, in memory, too; words of i1's; and integers whose
# upper bits are what a sum or a product left there, but where they are stored, extended or cut.
OTHER = (
    (
        re.compile(r"(?:(?<=x)|(?<![\w.$@%-]))(?!f32\b)(bf16|tf32|f\d\w*)\b"),
        "SPIR-V takes no {}: compute in f32, and keep other floats in memory as integers",
    ),
    (re.compile(r"(memref<[^<>]*\bi1|memref<[^<>]*xi1)\b"), "SPIR-V takes no {}>: keep i8 or i32"),
    (
        re.compile(
            r"= ((?:arith|math|gpu)\.(?!extsi|extui|trunci|constant|select)\w+) .*"
            r"(?:(?<=x)|(?<!\w))(i(?!(?:1|32|64)\b)\d+)\b"
        ),
        "SPIR-V has no {} of {}: extend that to i32 by arith.extsi or arith.extui",
    ),
)
SHADER = re.compile(r"^  spirv\.module .*?^  \}$", re.M | re.S)
ESCAPED = re.compile(r"\\([0-9A-F]{2}|.)")


class _Kernels(Target):
    """What runs LLVM's programs over kernels."""

    name = "mlir"
    install = "apt-get install mlir-16-tools llvm-16, on Debian"

    def newest(self) -> Llvm:
        """Raises ToolchainError where no version is here."""
        if llvm := next(installed(), None):
            return llvm
        raise ToolchainError(
            f"target {self.name!r}: kernels need {', '.join(PROGRAMS)} of one version on PATH: {self.install}"
        )

    def read(self, llvm: Llvm, text: str) -> re.Match[str]:
        """The gpu.module of a text as mlir-opt prints it, its body as group 1. Raises ToolchainError where
        mlir-opt refuses the text, where there are none or several, where it has no kernel, and where one has
        no plain name."""
        try:
            str.encode(text)
        except (TypeError, UnicodeEncodeError) as reason:
            raise ToolchainError(
                f"target {self.name!r}: kernels are a str of MLIR: {reason}"
            ) from None
        found = [*KERNELS.finditer(self.made([llvm.opt, LOCAL], text).decode())]
        if len(found) == 1:
            if quoted := QUOTED.search(found[0][1]):
                raise ToolchainError(
                    f"target {self.name!r}: {quoted[1]} is no name for a kernel: take letters, digits and _"
                )
            if HEAD.search(found[0][1]):
                return found[0]
            raise ToolchainError(
                f"target {self.name!r}: the gpu.module has no kernel: write kernel behind a gpu.func's parameters"
            )
        raise ToolchainError(
            f"target {self.name!r}: a text has one gpu.module, with its kernels, and this one has "
            f"{len(found) or 'none'}: {'write one text for each' if found else 'put gpu.func into one, which no other module is around'}"
        )

    def made(self, command: Sequence[str], text: str) -> bytes:
        """What a program makes of a text. Raises ToolchainError where it refuses it, ignores the chip or makes nothing."""
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "made"
            said = self.execute([*command, "-", "-o", str(path)], stdin=text)
            if found := UNKNOWN.search(said):
                raise ToolchainError(f"target {self.name!r}: {command[0]} does not know {found[1]}")
            if not path.exists():
                raise ToolchainError(
                    f"target {self.name!r}: {command[0]} makes nothing: {said}".rstrip(": ")
                )
            return path.read_bytes()


def ptx(text: str, chip: str) -> str:
    """PTX of the kernels of a gpu.module, by the newest LLVM on PATH.

    text: MLIR, as render() makes it, with one gpu.module of gpu.func; chip: NVIDIA's, as "sm_90".
    A kernel's parameters are 64 bits each: of a memref<?xf32> five, the pointer twice, 0, its size and its
    stride; an index is one.

    Raises ToolchainError where no LLVM from 16 on is there, where it refuses the text or does not know the
    chip, and where a kernel would call NVIDIA's library, as for math.exp.

        from lego_emit.targets.mlir import ptx
        assembly = ptx(render(Path("kernel.mlir.j2"), "mlir", **layouts), "sm_90")
    """
    run = _Kernels()
    llvm = run.newest()
    if not re.fullmatch(r"sm_\d+[af]?", str(chip)):
        raise ToolchainError(f"target 'mlir': {chip!r} is no chip; name one as in 'sm_90'")
    module = ROOT.sub(
        r'llvm.call_intrinsic "llvm.sqrt.\2"(\1) : (\2) -> \2', run.read(llvm, text)[0]
    )
    made = (_by_mlir_opt if llvm.forms.kernels else _by_llc)(run, llvm, module, chip)
    if found := LIBRARY.search(made):
        raise ToolchainError(
            f"target 'mlir': the kernels call {found[0]} of libdevice, which is not linked: compute it by "
            "operations of arith, or math.sqrt"
        )
    return made


def _by_mlir_opt(run: _Kernels, llvm: Llvm, module: str, chip: str) -> str:
    attach = f"nvvm-attach-target{{chip={chip} features= O=3}}"
    passes = f"builtin.module({attach},gpu.module({TO_NVVM}),gpu-module-to-binary{{format=isa}})"
    made = run.made([llvm.opt, f"--pass-pipeline={passes}"], module).decode()
    found = ASSEMBLY.search(made)
    text = ESCAPED.sub(
        lambda x: chr(int(x[1], 16)) if len(x[1]) == 2 else x[1], found[1] if found else ""
    )
    return text.rstrip("\0")


def _by_llc(run: _Kernels, llvm: Llvm, module: str, chip: str) -> str:
    """The same by mlir-translate, opt and llc: a gpu.module's functions as those of a file."""
    passes = f"--pass-pipeline=builtin.module(gpu.module({TO_NVVM}))"
    body = KERNELS.search(run.made([llvm.opt, passes], module).decode())
    made = run.made([llvm.translate, "--mlir-to-llvmir"], body[1] if body else "").decode()
    llc = Path(llvm.llc)
    target = ["-O3", "-mtriple=nvptx64-nvidia-cuda", f"-mcpu={chip}"]
    opt = str(llc.with_name(llc.name.replace("llc", "opt")))
    made = run.made([opt, *target, "-S"], made).decode()
    return run.made([llvm.llc, *target], made).decode()


def spirv(text: str) -> bytes:
    """SPIR-V for Vulkan of the kernels of a gpu.module, by the newest LLVM on PATH.

    text: as ptx() takes it; each gpu.func states known_block_size, the size of a work group. The k-th
    parameter is the storage buffer of binding k, of set 0: an index or another number is one of its own, of
    32 bits. A tile of workgroup memory stays one.

    Raises ToolchainError where no LLVM from 19 on is there, where it refuses the text, where a kernel doesn't state
    its block's size, has a float of other than 32 bits or computes in 8 or 16 bits.

        from lego_emit.targets.mlir import spirv
        shader = device.create_shader_module(code=spirv(text))
    """
    run = _Kernels()
    llvm = run.newest()
    if not llvm.forms.kernels:
        raise ToolchainError(
            f"target 'mlir': SPIR-V takes LLVM {KERNELS_FROM} or newer, and {llvm.said} is the newest on PATH; "
            "on Debian: apt-get install mlir-19-tools llvm-19"
        )
    module = run.read(llvm, text)[0]
    for pattern, why in OTHER:
        if found := pattern.search(module):
            raise ToolchainError(f"target 'mlir': {why.format(*found.groups())}")
    kernels = HEAD.sub(_entry, module)
    kernels = CONDITION.sub(WIDENED, kernels).replace("#gpu.address_space<workgroup>", "3")
    passes = f"--pass-pipeline={TO_SPIRV}"
    made = run.made([llvm.opt, passes, LOCAL], f"{VULKAN}\n{kernels}\n}}\n").decode()
    found = SHADER.search(made)
    shader = SIGNED.sub(_with_a_sign, found[0]) if found else ""
    return run.made([llvm.translate, "--no-implicit-module", "--serialize-spirv"], shader)


def _entry(head: re.Match[str]) -> str:
    """A kernel's head for SPIR-V, which has its tiles as allocations and its block's size as its own."""
    indent, start, tiles, attributes = head[1], head[2], head[3] or "", head[5] or ""
    if head[4]:
        raise ToolchainError(
            f"target 'mlir': {start.partition('(')[0]} has memory of its own,{head[4]}, which SPIR-V has not: take "
            "values, or workgroup memory"
        )
    block = BLOCK.search(attributes)
    if block is None:
        raise ToolchainError(
            f"target 'mlir': {start.partition('(')[0]} states no block's size, which SPIR-V needs: write "
            "attributes {known_block_size = array<i32: 32, 8, 1>} behind kernel"
        )
    own = f"spirv.entry_point_abi = #spirv.entry_point_abi<workgroup_size = [{block[1]}]>"
    lines = [f"{indent}{start} kernel attributes {{{own}}} {{"]
    lines += [f"{indent}  {x} = memref.alloc() : {kind}3>" for x, kind in TILE.findall(tiles)]
    return "\n".join(lines)


def _with_a_sign(found: re.Match[str]) -> str:
    """An operation of SPIR-V on integers with a sign, its operands and its result cast."""
    indent, name, operation, operands, types = found.groups()
    taken, _, made = types.partition(" to ")
    kinds, given, lines = taken.split(", "), list[str](), list[str]()
    for k, operand in enumerate(operands.split(", ")):
        kind = kinds[min(k, len(kinds) - 1)]
        signed = INTEGER.sub("si", kind)
        if signed != kind:
            lines.append(f"%from_{k}_{name} = spirv.Bitcast {operand} : {kind} to {signed}")
            operand = f"%from_{k}_{name}"
        given.append(operand)
    made = made or kinds[0]
    signed = INTEGER.sub("si", made)
    result = name if signed == made else f"to_{name}"
    said = INTEGER.sub("si", types)
    lines.append(f"%{result} = spirv.{operation} {', '.join(given)} : {said}")
    if result != name:
        lines.append(f"%{name} = spirv.Bitcast %{result} : {signed} to {made}")
    return "\n".join(f"{indent}{line}" for line in lines)
