"""Metal: functions in the Metal Shading Language, to include or to compile.

Reference: Metal Shading Language Specification, https://developer.apple.com/metal/ (2.1 scalar types:
long has 64 bits, and there is no long long; 4 address spaces).
"""

from lego_emit.emit.printer import ATOM, Op, call
from lego_emit.printers.c_family import CPP_KEYWORDS, HeaderPrinter
from lego_emit.printers.metal_names import FUNCTIONS, WORDS
from lego_emit.printers.opencl import OpenClPrinter


class MetalPrinter(OpenClPrinter):
    """OpenCL's spellings in C++: casts as calls, structs and overloads of namespace metal."""

    copies = "lego_emit.printers.copy_opencl:CopiesInMetal"
    name = "metal"
    walks = steps = ""
    aliases = ("msl",)
    title = "Metal"
    namespaces = ""  # C++14 has no a::b
    has_hints = has_fits = has_checks = False
    static = "template"
    style = "camelCase"
    receiver, native_receiver, asks_types = "{}", "{}", True
    extension = ".metal"
    ops = {
        **OpenClPrinter.ops,
        "min": call("metal::min({0},\v{1})", 2),
        "max": call("metal::max({0},\v{1})", 2),
        "int": call("{T}({0})", 1),
        "shl.signed": Op("{T}(u{T}({0}) << {1})", ATOM, (0, 13)),
    }
    cast = "{T}({0})"
    typed_ops = {}
    asserts = True
    reserved = CPP_KEYWORDS | WORDS
    reserved_functions = FUNCTIONS
    angles = True
    array_forms = {"": "thread const {T} (&{name})[{n}]", "pointer": "thread const {T} *{name}"}
    filled = "thread {T}* {name}"
    out_forms = ("thread {T} &{name}", "thread {T} (&{name})[{n}]", "{name}", ".")
    out = "device {T}* {name}"
    sharing = (
        "The threads of a grid share the work as {fill}(.., {out}, position, threads), where position "
        "is [[thread_position_in_grid]] and threads [[threads_per_grid]]."
    )
    struct = HeaderPrinter.struct
    struct_lines = HeaderPrinter.struct_lines
    head = HeaderPrinter.head

    def several(self, function, result):
        """The result type is known."""
        return [self.braced("return ", function.texts(), 2)]

    def table_parameter(self, form, T):
        """A pointer to constants in device memory."""
        return f"device const {T}* {{name}}"

    def words_parameter(self, T, name, writes):
        """A pointer to device memory."""
        return f"device {'' if writes else 'const '}{T} *{name}"

    def opening(self, unit, helpers, functions):
        """Metal's library, the namespace's head and the helpers."""
        return "\n\n".join(["#include <metal_stdlib>", *self.namespace_head(), *helpers])
