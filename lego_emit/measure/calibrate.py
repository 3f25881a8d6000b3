"""What operations cost on this machine: chains of each, compiled and timed. On the CPU the steps of one
chain wait for each other; a GPU runs as many chains as it has room for, and its arithmetic units are
what they wait for."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from ..errors import ToolchainError
from ..ir.cost import LATENCY, Cost
from ..run.registry import toolchain

UNROLLED = 32  # steps of a chain in one turn of its loop
TURNS = {"cpu": 4_000, "gpu": 200}
REPEAT = {"cpu": 60, "gpu": 12}
LEAST = 0.1  # additions: below that nothing is told apart

Timer = Callable[[str, int], float]


@dataclass(frozen=True)
class Chain:
    """A step that takes x to the next x, in C, on int b = 37. less: what is measured with it, by the names
    of other chains. link: what follows each step on a GPU, whose compiler would make one step of
    several, and one instruction of x * 37 + y."""

    step: str
    less: tuple[str, ...] = ()
    link: str = "^"


# What an operation is by a number is what stands there after most layouts are simplified.
CHAINS: Mapping[str, Chain] = {
    "add": Chain("x + b"),
    "sub": Chain("x - b"),
    "neg": Chain("-x"),
    "mul": Chain("x * 37"),
    "shl": Chain("(int)((unsigned)x << 3)"),
    "shr": Chain("x >> 3"),
    "and": Chain("x & 0x2b5a5a5a", link="+"),
    "or": Chain("x | 0x15a5a5a5", link="+"),
    "xor": Chain("x ^ 0x15a5a5a5", link="+"),
    "not": Chain("~x", link="+"),
    "lt": Chain("x < b"),
    "min": Chain("x < b ? x : b"),
    "max": Chain("x > b ? x : b"),
    "select": Chain("x & 4 ? b : x", ("and",), link="+"),
    "div": Chain("x / 37"),
    "mod": Chain("x % 37"),
    "floordiv": Chain("x / 37 - (x < x / 37 * 37)"),
    "floormod": Chain("floor_mod(x, 37)"),
    "isqrt": Chain("root(x | 0x15a5a5a5)", ("or",)),
    "lookup": Chain("table[x & 255]", ("and",)),
    "div by a symbol": Chain("(x | 0x15a5a5a5) / b", ("or",)),
    "div and mod": Chain("x / 37 ^ x % 37", ("div", "xor"), link="+"),
}
COMPARISONS = ("le", "gt", "ge", "eq", "ne")

HELPERS = """\
{table} int table[256];

{mark}static inline int floor_mod(int a, int b) {{
  const int r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}}

"""
ROOT = {
    "cpu": """\
static inline int root(int n) { return (int)sqrt((double)n); }

""",
    "gpu": """\
__device__ static inline int root(int n) {
  const unsigned m = n, r = (unsigned)sqrtf((float)n);
  return r * r > m ? r - 1 : (r + 1) * (r + 1) <= m ? r + 1 : r;
}

""",
}
FUNCTION = {
    "cpu": """\
int lego_chain_{number}(long turns, int x, int b);
int lego_chain_{number}(long turns, int x, int b) {{
  for (long turn = 0; turn < turns; ++turn) {{
{steps}
  }}
  return x;
}}
""",
    "gpu": """\
extern "C" __global__ void lego_chain_{number}(unsigned turns, int x, int b, int y, int *out) {{
  x += blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn) {{
{steps}
  }}
  if (x == y) *out = x;
}}
""",
}


def source(on: str = "cpu") -> str:
    """The program in C, or the kernels: a function for each chain. An empty statement holds each x in a
    register, so that no two steps are made one."""
    functions = []
    for number, chain in enumerate(CHAINS.values()):
        if on == "cpu":
            step = f'    x = {chain.step}; __asm__ volatile("" : "+r"(x), "+r"(b), "+r"(turns));'
        else:
            step = f'    x = ({chain.step}) {chain.link} y; asm volatile("" : "+r"(x));'
        functions.append(FUNCTION[on].format(number=number, steps="\n".join([step] * UNROLLED)))
    # On a GPU what is volatile is read past the nearest cache.
    mark, table = ("", "static volatile") if on == "cpu" else ("__device__ ", "__device__")
    helpers = HELPERS.format(mark=mark, table=table)
    opening = "#include <math.h>\n\n" if on == "cpu" else ""
    return opening + helpers + ROOT[on] + "\n".join(functions)


def calibrate(compiler: str = "cc", timer: Timer | None = None, on: str = "cpu") -> Cost:
    """The prices of operations in additions, of 32-bit integers: on this machine's CPU by the
    compiler's -O2, or on a GPU that all its threads keep busy.

    compiler: a C compiler that understands GCC's statements, on PATH or a path; for the CPU. timer:
    seconds that a chain of a name takes over so many turns, where it is not to be compiled and run.
    on: "cpu", "gpu", or "gpu:1" for the second one.

    Raises ToolchainError where the compiler is missing or fails, DeviceError where the GPU or what it
    needs is missing, TargetError for another device.
    """
    if timer is not None:
        return _cost(timer, on)
    if on != "cpu":
        return _cost(toolchain("cuda").stopwatch(source("gpu"), [*CHAINS], on), "gpu")
    with TemporaryDirectory(prefix="lego_emit_", ignore_cleanup_errors=True) as folder:
        return _cost(_compiled(compiler, Path(folder)), on)


def described(compiler: str = "cc", on: str = "cpu") -> str:
    """The device's name, or the machine, the system and the compiler's version, as text."""
    if on != "cpu":
        return dict(toolchain("cuda").devices()).get(on, on)
    path = shutil.which(compiler)
    done = subprocess.run([path or compiler, "--version"], capture_output=True, text=True)
    version = next(iter(done.stdout.splitlines()), compiler)
    return f"{platform.machine()}, {platform.system()}, {version}"


def _compiled(compiler: str, folder: Path) -> Timer:
    from ..packages import cffi

    path = shutil.which(compiler)
    if path is None:
        raise ToolchainError(
            f"no C compiler {compiler!r} is on PATH; on Debian: apt-get install gcc, or name another one "
            "with --compiler"
        )
    (folder / "chains.c").write_text(source(), encoding="utf-8")
    command = [path, "-O2", "-fPIC", "-shared", "-o", "chains.so", "chains.c", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise ToolchainError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}".rstrip())
    ffi = cffi.FFI()
    ffi.cdef("".join(f"int lego_chain_{k}(long turns, int x, int b);" for k in range(len(CHAINS))))
    library = ffi.dlopen(str(folder / "chains.so"))
    functions = {name: getattr(library, f"lego_chain_{k}") for k, name in enumerate(CHAINS)}

    def seconds(name: str, turns: int) -> float:
        start = perf_counter()
        functions[name](turns, 123_456_789, 37)
        return perf_counter() - start

    return seconds


def _cost(timer: Timer, on: str) -> Cost:
    """The model of what a timer says. What a longer chain takes more than a shorter one is the steps'
    alone; the least of several is the one that nothing disturbed."""
    turns, repeat = TURNS[on], REPEAT[on]
    taken = {
        name: max(
            min(timer(name, 2 * turns) for _ in range(repeat))
            - min(timer(name, turns) for _ in range(repeat)),
            0.0,
        )
        / (UNROLLED * turns)
        for name in CHAINS
    }
    unit = taken["add"]
    if (
        on == "gpu"
    ):  # a step and its link, of which one is an addition: both take the same unit's time
        unit /= 2
        taken = {name: seconds - unit for name, seconds in taken.items()}
    if not unit > 0:
        raise ToolchainError(
            "an addition takes no time that can be measured; the machine's clock is too coarse"
        )
    price = {
        name: round(max(LEAST, (taken[name] - sum(taken[n] for n in chain.less)) / unit), 1)
        for name, chain in CHAINS.items()
    }
    symbolic = round(max(0.0, price.pop("div by a symbol") - price["div"]), 1)
    remainder = price.pop("div and mod")
    price |= dict.fromkeys(COMPARISONS, price["lt"])
    return Cost(
        "measured",
        price,
        symbolic=symbolic,
        remainder=min(remainder, price["mod"]),
        margin=LATENCY.margin,
        hoisted=LATENCY.hoisted,
        scaled=LATENCY.scaled,
        long=LATENCY.long,
    )
