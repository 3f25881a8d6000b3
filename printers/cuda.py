"""CUDA C: one header for device and host, C++17 or newer, functions at global scope unless a namespace is named.

Reference: https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (C++ language support), with
C++'s operators. The file includes nothing, so that NVRTC takes it too; hence int and long long,
and helpers of its own for min and max, which the host does not have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lego_emit import templates
from lego_emit.emit.printer import call
from lego_emit.errors import LayoutError, short_repr
from lego_emit.notation import C
from lego_emit.printers.c_family import (
    C_OPS,
    CPP_KEYWORDS,
    EXTREMES,
    HELPERS,
    CxxPrinter,
    shifted,
)
from lego_emit.printers.c_fill import FillPrinter
from lego_emit.printers.c_names import MACROS, STDINT

if TYPE_CHECKING:
    from lego_emit.emit.planned import PlanPrinter

MOST_WARPS = 32  # of a block: 1024 threads

OPENING = """#ifndef LEGO_HOST_DEVICE
#ifdef __CUDACC__
#define LEGO_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define LEGO_HOST_DEVICE inline
#endif
#endif"""

SIZED = """#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)
#include <cstddef>
#endif
static_assert(sizeof(size_t) == 8, "size_t must have 64 bits");"""

# NVRTC and hipRTC have assert without a header.
ASSERT = """#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)
#include <cassert>
#endif"""

# The built-in variables, and macros and types of headers that nvcc always includes.
CUDA_WORDS = MACROS.union(
    """blockDim blockIdx gridDim threadIdx warpSize NZERO math_errhandling ptrdiff_t size_t typeof uint
    ulong ushort""".split()
)

# Functions, macros with arguments and types of those headers that no int function may be named.
CUDA_FUNCTIONS = frozenset(
    """abort abs alloca arc4random assert clearenv clock clock64 dim3 div drand48 dysize exit
    fcloseall ffs ffsll getchar getpt grantpt isalnum isalpha isascii isblank iscntrl isctype
    isdigit isgraph islower isprint ispunct isspace isupper isxdigit labs ldiv llabs lldiv llmax
    llmin lrand48 make_int1 make_int2 make_int3 make_int4 make_longlong1 make_longlong2
    make_longlong3 make_longlong4 max min mrand48 offsetof posix_openpt ptsname putchar
    quick_exit rand random strerror strsignal time timezone tmpfile toascii tolower toupper
    tzset uint3 ullmax ullmin umax umin unlockpt""".split()
)

# Of integers, of a warp, of cooperative groups (CUDA C++ Programming Guide, chapters 10 and 11).
INTRINSICS = frozenset(
    """__activemask __all_sync __any_sync __ballot_sync __brev __brevll __byte_perm __clz __clzll
    __dp2a_lo __dp4a __ffs __ffsll __fns __funnelshift_l __funnelshift_r __ldca __ldcg __ldcs __ldg
    __match_all_sync __match_any_sync __mul24 __mul64hi __mulhi __popc __popcll __reduce_add_sync
    __reduce_max_sync __reduce_min_sync __sad __shfl_down_sync __shfl_sync __shfl_up_sync
    __shfl_xor_sync __syncthreads_count __umul24 __umul64hi __umulhi __usad clusterDim clusterIdx
    cooperative_groups cuda make_int2 make_uint2 int2 int3 int4 uint2 uint4""".split()
)

# A root in floating point is within one of the integer's. Unsigned: the next square may not fit.
DEVICE_ISQRT = {
    index_type: f"""
#ifdef __CUDA_ARCH__
  if (!__builtin_is_constant_evaluated()) {{
    const {U} m = static_cast<{U}>(n);
    const {U} r = static_cast<{U}>({root}(static_cast<{real}>(n)));
    return static_cast<{T}>(r * r > m ? r - 1 : (r + 1) * (r + 1) <= m ? r + 1 : r);
  }}
#endif"""
    for index_type, T, U, root, real in (
        ("int32", "int", "unsigned", "sqrtf", "float"),
        ("int64", "long long", "unsigned long long", "sqrt", "double"),
    )
}


class CudaPrinter(FillPrinter, CxxPrinter):
    """CUDA C's spellings: built-in types, no header, helpers named after the unit.

    macros: the text of the macro for host and device.
    """

    name = "cuda"
    aliases = ("cu",)
    related = ("cutlass",)
    title = "CUDA C"
    extension = ".cuh"
    notation = replace(C, most={31: "INT_MAX", 63: "LLONG_MAX", 32: "UINT_MAX", 64: "ULLONG_MAX"})
    types = {
        "int32": "int",
        "int64": "long long",
        "uint32": "unsigned",
        "uint64": "unsigned long long",
    }
    index_names = {"size_t": ("uint64", "size_t")}
    declared_types = {
        "int8": "signed char", "int16": "short", **types, "uint8": "unsigned char",
        "uint16": "unsigned short", "size": "size_t", "ssize": "ptrdiff_t", "bool": "bool",
    }  # fmt: skip
    suffixes = {"int32": "", "int64": "LL", "uint32": "u", "uint64": "ull"}
    ops = {
        **C_OPS,
        "min": call("{unit}_min({0},\v{1})", 2, "min"),
        "max": call("{unit}_max({0},\v{1})", 2, "max"),
        "floordiv": call("{unit}_floor_div({0},\v{1})", 2, "floor_div"),
        "floormod": call("{unit}_floor_mod({0},\v{1})", 2, "floor_mod"),
        "isqrt": call("{unit}_isqrt({0})", 1, "isqrt"),
        "lookup": call("{0}[{1}]", 2),
        "int": call("static_cast<{T}>({0})", 1),
    }
    typed_ops = {
        "int32": {"shl.signed": shifted("int", "unsigned")},
        "int64": {"shl.signed": shifted("long long", "unsigned long long")},
    }
    helpers = {**EXTREMES, **HELPERS}
    reserved = CPP_KEYWORDS | CUDA_WORDS | STDINT
    reserved_functions = CUDA_FUNCTIONS
    builtins = INTRINSICS
    walks = "lego_emit.printers.walk_forms:CUDA"
    copies = "lego_emit.printers.copy_cuda:CopiesInCuda"
    hopper = "lego_emit.printers.hopper_forms:CUDA"
    qualifiers, own_qualifiers = "LEGO_HOST_DEVICE constexpr", "LEGO_HOST_DEVICE"
    qualifiers_of_methods = qualifiers
    macros = OPENING
    has_hints = has_fits = has_checks = narrow_index = True
    device_macro = "__CUDA_ARCH__"
    sharing = (
        "The threads of a block share the work as {fill}(.., {out}, threadIdx.x, blockDim.x), those of "
        "a block with rows as {fill}(.., {out}, threadIdx.y * blockDim.x + threadIdx.x, "
        "blockDim.x * blockDim.y); on the host {rank} is 0 and {size} is 1."
    )

    def table(self, entries, index_type):
        """An array that the device has in its memory, and the host in its own."""
        mark = f"#ifdef {self.device_macro}\n__device__\n#endif"
        return super().table(entries, index_type).replace("static", f"{mark}\nstatic", 1)

    def fast_isqrt(self, index_type):
        """The device's root, outside constant evaluation."""
        return DEVICE_ISQRT.get(index_type, "")

    def opening(self, unit, helpers, functions):
        """The macro for host and device, the namespace's head and the helpers."""
        included = [ASSERT] if any(f.asserted for f in functions) else []
        included += (
            [SIZED] if self.sized or any({"size", "ssize"} & f.declared for f in functions) else []
        )
        return "\n\n".join([*included, self.macros, *self.namespace_head(), *helpers])

    def limit(self, number, function):
        """Its digits, of which all are alike: the names are in headers, and none is included."""
        n = number.value
        return "" if n < 2**32 or n & (n + 1) else f"{n:#x}{'ull' if n >= 2**63 else ''}"

    def of_plan(self, plan) -> PlanPrinter:
        """CUDA C with a device function. Raises LayoutError where its name is no name of CUDA C's, or
        its warps are not CUDA's."""
        return CudaPlanPrinter(plan)


class CudaPlanPrinter(CudaPrinter):
    """CUDA C's printer, with a plan's device function below the index functions. text: what the
    template sees."""

    def __init__(self, plan: Any):
        from lego_emit.plans.gather import GatherPlan
        from lego_emit.printers.cuda_gather import GatherText
        from lego_emit.printers.cuda_plan import Text

        self._check(plan.name, plan.lanes, plan.warps)
        self.text = GatherText(plan, self) if isinstance(plan, GatherPlan) else Text(plan, self)
        self.called, self.said = self.text.called, self.text.title

    def _check(self, name, lanes, warps):
        taken = self.reserved_functions | {"T", "V", "W", "More", "memcpy"}
        if not isinstance(name, str) or self.legal_name(name) != name or name in taken:
            raise LayoutError(
                f"CUDA C has no function of the name {short_repr(name)}; give another name"
            )
        if lanes not in (1, 32):
            raise LayoutError(
                f"{name}: a warp of CUDA has 32 lanes, and the plan {lanes}; its steps are data, to be "
                "spelled otherwise"
            )
        if warps > MOST_WARPS:
            raise LayoutError(
                f"{name}: a block of CUDA has at most {MOST_WARPS} warps, and the plan {warps}; move "
                "the tile in parts, each by one block"
            )

    def opening(self, unit, helpers, functions):
        """The macro for host and device, where there are functions that need it."""
        return super().opening(unit, helpers, functions) if functions else ""

    def closing(self):
        """The text of the device function that moves the data."""
        with templates.named(type(self), self.title, self.text.template):
            template = self._environment.get_template(self.text.template)
            return template.render(printer=self, text=self.text) + "\n"
