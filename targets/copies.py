"""What runs a copy's routine from a shared library: its wrapper in C and in C++."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lego_emit.emit.unit import Unit
from lego_emit.run.target import Target

DECLARATIONS = """
void lego_copy(int64_t rounds, const int64_t *sizes, const void *src, void *dst);
void lego_copy_bytes(const int64_t *sizes, int64_t *bytes);
void lego_memcpy(int64_t rounds, int64_t bytes, const void *src, void *dst);
"""

BODY = """
{extern}void lego_copy(int64_t rounds, const int64_t *sizes, const void *src, void *dst) {{
  (void)sizes;
  for (int64_t k = 0; k < rounds; ++k) {{
    {scope}{name}({sizes}({T} const *)src, ({T} *)dst);
    __asm__ volatile("" : : "r"(dst) : "memory");
  }}
}}

{extern}void lego_copy_bytes(const int64_t *sizes, int64_t *bytes) {{
  (void)sizes;
  bytes[0] = {scope}{name}_source_bytes({bytes_sizes});
  bytes[1] = {scope}{name}_destination_bytes({bytes_sizes});
}}

{extern}void lego_memcpy(int64_t rounds, int64_t bytes, const void *src, void *dst) {{
  for (int64_t k = 0; k < rounds; ++k) {{
    memcpy(dst, src, (size_t)bytes);
    __asm__ volatile("" : : "r"(dst) : "memory");
  }}
}}
"""

WORDS = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}


def wrapper(unit: Unit, in_cpp: bool) -> str:
    """The file around a unit with one copy."""
    routine: Any = unit.program.routines[0]
    name = unit.printer.naming.public(routine.name)
    sizes = [f"sizes[{k}]" for k in range(len(routine.sizes))]
    scope = f"{unit.printer.namespace}::" if in_cpp and unit.printer.namespace else ""
    T = WORDS.get(routine.element_bytes, f"{name}_element")
    head = '#include "unit.h"\n#include <string.h>\n#include <stddef.h>\n#include <stdint.h>\n'
    if in_cpp and routine.element_bytes not in WORDS:
        T = "lego_element"
        head += f"struct lego_element {{ unsigned char bytes[{routine.element_bytes}]; }};\n"
    return head + BODY.format(
        extern='extern "C" ' if in_cpp else "", scope=scope, name=name, T=T,
        sizes="".join(f"{s}, " for s in sizes), bytes_sizes=", ".join(sizes),
    )  # fmt: skip


def build(target: Target, unit: Unit, folder: Path, flags: Sequence[str]) -> Path:
    """Compile the library; flags: of the compiler beside those that make one."""
    in_cpp = target.name == "cpp"
    (folder / "unit.h").write_text(unit.source)
    file = "copy.cpp" if in_cpp else "copy.c"
    (folder / file).write_text(wrapper(unit, in_cpp))
    library = folder / "copy.so"
    command = [target.path(), *flags, "-fPIC", "-shared", "-o", str(library), file]
    target.execute(command, cwd=folder)
    return library
