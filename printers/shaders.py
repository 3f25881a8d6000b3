"""What GLSL and WGSL share: functions to put into a shader, which has no namespaces.

No function takes or returns an array of any length, so that the array form gives one element.
"""

from collections.abc import Mapping
from dataclasses import replace

from lego_emit.emit.arrays import count, number
from lego_emit.emit.printer import BREAK, FunctionView, Printer, call, unsigned_fit
from lego_emit.emit.static import said_of
from lego_emit.ir.program import Function, Group, Program
from lego_emit.notation import C
from lego_emit.printers.c_array import ArrayForm
from lego_emit.printers.c_family import C_OPS, wrapped
from lego_emit.printers.c_lines import broken

SHADER_OPS = {
    **C_OPS,
    "min": call(f"min({{0}},{BREAK}{{1}})", 2),
    "max": call(f"max({{0}},{BREAK}{{1}})", 2),
    "floordiv": call(f"{{unit}}_floor_div({{0}},{BREAK}{{1}})", 2, "floor_div"),
    "floormod": call(f"{{unit}}_floor_mod({{0}},{BREAK}{{1}})", 2, "floor_mod"),
    "isqrt": call("{unit}_isqrt({0})", 1, "isqrt"),
    "lookup": call("{0}[{1}]", 2),
    "int": call("{T}({0})", 1),
}


VECTOR_SIZES = (2, 3, 4)


class ShaderPrinter(Printer):
    """C's operators without its implicit conversions; 32 bits unless asked otherwise."""

    hexadecimal = True
    caches_tables = False
    notation = replace(C, forms={**C.forms, "int": "int({0})"})
    remark = "//"
    cast = "{T}({0})"
    default_index = ("int32",)
    style = "camelCase"
    wrapping = {"uint32": "wraps", "uint64": "wraps"}
    doc = "//"  # what begins a line of a function's comment
    constant = ""  # a static size as one, with {name}, {T} and {value}
    workers = ""  # who calls the array form, in its plural

    has_structs = has_arrays = gives_arrays = declares = has_packed = True
    static = "constant"
    vectors: Mapping[
        str, str
    ] = {}  # index type -> a vector's type, with {n} for how many there are

    def vector(self, group, index_type):
        """Two to four integers are a vector, unless they are what is prepared for a launch."""
        if (
            group.made is None
            or len(group.members) not in VECTOR_SIZES
            or index_type not in self.vectors
        ):
            return ""
        return self.vectors[index_type].format(n=len(group.members))

    def dividing(self):
        """With helpers that multiply 32 bits."""
        from lego_emit.printers.prepared_texts import shader

        return shader(self)

    def is_vector(self, group: Group) -> bool:
        """Whether a struct is a vector in the file, which it does not define."""
        return group.struct in {
            text.format(n=n) for text in self.vectors.values() for n in VECTOR_SIZES
        }

    def aggregate(self, group, texts, T):
        """A call of the constructor that the type has, with the texts of the members."""
        return f"{self.group_type(group, T)}({f',{BREAK}'.join(texts)})"

    def own_structs(self, structs: list[tuple[Group, list[str]]]) -> list[tuple[Group, list[str]]]:
        """Those that the file defines."""
        return [(group, lines) for group, lines in structs if not self.is_vector(group)]

    def constant_lines(self, program: Program) -> list[str]:
        """The constants that static sizes are."""
        lines = list[str]()
        for p in program.constants:
            lines += ["", *(f"{self.doc} {line}" for line in self.comment(said_of(p, self)))]
            value = self.literal(p.default or 0, p.type)
            lines.append(self.constant.format(name=p.name, T=self.spelled(p.type), value=value))
        return lines

    def docs(self, function: FunctionView) -> list[str]:
        """The paragraphs of a function's comment; of vectors which member is which, too."""
        lines, f = [], function
        for group in (*f.groups, f.aggregate):
            if group is None or not self.is_vector(group):
                continue
            named = [*zip(group.own, group.fields, strict=True)]
            if all(written == field for written, field in named):
                continue
            said = ", ".join(f"{written} is {field}" for written, field in named)
            lines.append(f"{group.name or 'The result'}: {said}")
        return [*f.docs, *lines]

    def parameters_of(
        self, function: FunctionView, form: str, array: ArrayForm | None
    ) -> list[str]:
        """The parameters of a function, or of its array form."""
        texts = dict(zip(function.inputs, function.parameters(form), strict=True))
        if array is None:
            return [*texts.values()]
        return [
            *(texts[name] for name in array.scalars),
            form.format(name=array.names["n"], T=function.T),
        ]

    def fit(self, node, function):
        """Unsigned operands need no helper."""
        return unsigned_fit(node, function)

    def table_name(self, name, unit):
        """It begins with the unit's: there is no namespace."""
        return f"{unit}_{name}"

    def comment(self, text: str) -> list[str]:
        """A paragraph of a comment as lines."""
        return wrapped(text, self.line_width - len(self.doc) - 1)

    def _broken(self, text, indent):
        return broken(text, indent, self.line_width, self._looseness)

    def companions(self, name):
        """The array form's name."""
        return {self.array_name(name)}

    def counts(self, function: Function | FunctionView) -> bool:
        """Whether the index type counts the elements of the ':' axes, where their number is known. Where
        it does not, no array holds them, and there is no array form."""
        if not function.axes:
            return False
        found = count([extent for _, extent in function.axes])
        return found.op != "const" or number(found) <= function.index_type.most

    def array_form(self, function: FunctionView) -> ArrayForm:
        """What the template sees of the element's function."""
        return ArrayForm(self, function, ("n",))

    def loop(self, function: FunctionView, array: ArrayForm, call: str) -> list[tuple[str, str]]:
        """(indent, statement) of the loop that fills an array with the results of the calls."""
        raise NotImplementedError

    def element_doc(self, function: FunctionView, array: ArrayForm) -> list[str]:
        """The comment of the array form, with the loop that fills an array."""
        f, n = function, array.names["n"]
        below = f"0 <= {n} < {array.plain_count}".replace(" ", "\xa0")
        lines = self.comment(
            f"Element {n} of the results of {f.name} over {array.over}; {below}. The "
            f"{self.workers} fill an array together:"
        )
        width = self.line_width - len(self.doc) - 1
        arguments = ", ".join([*array.scalars, n])
        for indent, text in self.loop(f, array, f"{self.array_name(f.name)}({arguments})"):
            lines += wrapped(text, width, indent)
        return [line.replace("\xa0", " ") for line in lines]
