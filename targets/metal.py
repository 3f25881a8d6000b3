"""Metal as host C++: the values alone. A stand-in takes the place of <metal_stdlib>, and no Metal
compiler sees the text."""

from collections.abc import Sequence
from pathlib import Path

from lego_emit.emit.unit import Unit
from lego_emit.run.target import Toolchain
from lego_emit.targets.cpp_host import HostTarget

STAND_IN = """#pragma once
#define constant const
#define device
#define thread
using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
namespace metal {
#define LEGO_EXTREMES(T) \\
  inline T min(T a, T b) { return a < b ? a : b; } \\
  inline T max(T a, T b) { return a > b ? a : b; }
LEGO_EXTREMES(int)
LEGO_EXTREMES(uint)
LEGO_EXTREMES(long)
LEGO_EXTREMES(ulong)
#undef LEGO_EXTREMES
}  // namespace metal
"""


class MetalTarget(HostTarget):
    """Metal as host code, which is C++14, by clang++ with a header that stands in for its own: no Metal
    compiler has seen it."""

    name = "metal"
    program = "clang++"
    install = "apt-get install clang"
    flags = ("-std=c++14", *HostTarget.flags[1:], "-I.")

    def find(self) -> Toolchain:
        """clang, and what it cannot say."""
        found = super().find()
        return Toolchain(found.path, f"{found.version}, as host C++; no Metal compiler has seen it")

    def copy_library(self, unit: Unit, folder: Path, flags: Sequence[str]) -> tuple[Path, str]:
        """The library of a copy, whose kernel the host runs, and its functions' declarations."""
        from lego_emit.targets.copies import DECLARATIONS
        from lego_emit.targets.copy_devices import build

        (folder / "metal_stdlib").write_text(STAND_IN)
        return build(self, unit, folder, [*self.flags, *flags]), DECLARATIONS

    def link(self, units: Sequence[Unit], folder: Path, library: Path) -> None:
        """As C++, with the stand-in."""
        (folder / "metal_stdlib").write_text(STAND_IN)
        super().link(units, folder, library)
