"""OpenCL C 1.2 and newer: functions to put before a kernel's source, or to include.

Reference: The OpenCL C Specification, https://registry.khronos.org/OpenCL/specs/ (6.3 operators: a
shift to the left puts zeros in, one to the right extends the sign; 6.5 address spaces).
"""

from dataclasses import replace

from lego_emit.emit.printer import call, infix
from lego_emit.notation import C
from lego_emit.printers.c import CPrinter
from lego_emit.printers.c_family import C_KEYWORDS
from lego_emit.printers.c_fill import FillPrinter
from lego_emit.printers.c_lines import cast_need
from lego_emit.printers.opencl_names import FUNCTIONS, MACROS, WORDS


class OpenClPrinter(FillPrinter, CPrinter):
    """C's spellings with OpenCL's types, min and max; tables in constant memory."""

    copies = "lego_emit.printers.copy_opencl:CopiesInOpenCl"
    name = "opencl"
    walks = steps = ""
    aliases = ("cl",)
    title = "OpenCL C"
    has_hints = has_fits = has_checks = False
    narrow_index = True
    extension = ".cl"
    notation = replace(C, most={31: "INT_MAX", 63: "LONG_MAX", 32: "UINT_MAX", 64: "ULONG_MAX"})
    names_greatest = True
    types = {"int32": "int", "int64": "long", "uint32": "uint", "uint64": "ulong"}
    index_names = {}
    declared_types = {
        "int8": "char", "int16": "short", **types, "uint8": "uchar", "uint16": "ushort",
        "size": "size_t", "ssize": "ptrdiff_t", "bool": "bool",
    }  # fmt: skip
    suffixes = {"int32": "", "int64": "L", "uint32": "u", "uint64": "ul"}
    ops = {
        **CPrinter.ops,
        "min": call("min({0},\v{1})", 2),
        "max": call("max({0},\v{1})", 2),
        "shl.signed": infix("<<", 11, 13, 13),
    }
    reserved = C_KEYWORDS | WORDS | MACROS
    reserved_functions = FUNCTIONS
    constant = "static constant"
    out = "global {T} *{name}"
    sharing = (
        "The work items share the work as {fill}(.., {out}, get_global_id(0), get_global_size(0)), in "
        "two dimensions as {fill}(.., {out}, get_global_id(1) * get_global_size(0) + get_global_id(0), "
        "get_global_size(0) * get_global_size(1))."
    )

    def op(self, node, view):
        """C's spelling; min and max are overloaded, so that a number alone is cast."""
        op = super().op(node, view)
        if node.op in ("min", "max") and view.index_type == "int64":
            own = [self.brings_type(argument) for argument in node.args]
            casts = (self.cast.replace("0", str(k)) for k in (0, 1))
            forms = [f"{{{k}}}" if own[k] else cast for k, cast in enumerate(casts)]
            needs = tuple(0 if brings else cast_need(self.cast) for brings in own)
            op = replace(op, text=op.text.format(*forms), needs=needs)
        return op

    filled = "{T} *{name}"

    def table_parameter(self, form, T):
        """A pointer to constants in global memory."""
        return f"global const {T} *{{name}}"

    def words_parameter(self, T, name, writes):
        """A pointer to global memory."""
        return f"global {super().words_parameter(T, name, writes)}"

    def opening(self, unit, helpers, functions):
        """The helpers: nothing is included."""
        return "\n\n".join(helpers)
