"""The view of a layout in Rust: a type that holds a slice and the layout's sizes, and is indexed.

Reference: https://doc.rust-lang.org/core/ops/trait.Index.html
"""

from lego_emit.emit.naming import type_name
from lego_emit.emit.printer import BREAK, FunctionView, Printer
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Group
from lego_emit.ir.relations import renamed
from lego_emit.printers import rust_layout
from lego_emit.printers.c_array import free
from lego_emit.printers.rust_layout import END, LIST, PAIR

CASTS = {  # the lints that casts between usize and an index type set off
    "int": ("cast_possible_truncation", "cast_possible_wrap", "cast_sign_loss"),
    "uint": ("cast_possible_truncation",),
    "usize": (),
}


class RustView:
    """What a template sees of a view. sizes, indices: the parameters of the layout's apply; data,
    least: names that the text wants for itself, none of a parameter."""

    def __init__(self, printer: Printer, apply: FunctionView):
        self._printer, self._apply, self._view = printer, apply, apply.view
        self.T = apply.T
        self.indices = [p.name for p in apply.params if p.axis]
        self._sizes = [one for one in apply.entries if one.name not in self.indices]
        self.sizes = [one.name for one in self._sizes]
        borrowed = (isinstance(one, Group) and not one.struct for one in self._sizes)
        self._given = [("&" * by, name) for by, name in zip(borrowed, self.sizes, strict=True)]
        taken = {*apply.inputs}
        self.data, self.least = free("data", taken), free("least", taken)
        self.name = type_name(apply.view.name, "View")

    @property
    def index(self) -> str:
        """The type of an index."""
        return "usize" if len(self.indices) == 1 else f"[usize; {len(self.indices)}]"

    @property
    def pattern(self) -> str:
        """An index taken apart."""
        return self.indices[0] if len(self.indices) == 1 else f"[{', '.join(self.indices)}]"

    def docs(self) -> list[str]:
        """The lines of the type's rustdoc comment."""
        sizes = (f"{by}{name}" for by, name in self._given)
        arguments = ", ".join([*sizes, *self.indices])
        place = f"{self._apply.name}({arguments}){' - 1' * self._apply.base}"
        text = f"A slice by the index of a layout: `view[{self.pattern}]` is `data[{place}]`. "
        text += "An index that is out of its range" + " or masked" * self._view.masks + " panics."
        kinds = "`S` is `&[T]`, `&mut [T]`, `Vec<T>` or another pointer to a slice."
        return [*rust_layout.paragraph(text), "", kinds]

    def implementation(self, trait: str = "") -> str:
        """What begins an implementation: of a trait of core::ops for an index, or the type's own."""
        own = f"{self.name}<S>"
        if not trait:
            return f"impl<T, S> {own}"
        head = f"impl<T, S> core::ops::{trait}<{self.index}>"
        line = f"{head} for {own}"
        return line if len(line) <= rust_layout.WIDTH else f"{head}\n    for {own}"

    @property
    def fields(self) -> list[str]:
        """The sizes with their types."""
        types = (
            self._printer.group_type(one, self.T) if isinstance(one, Group) else self.T
            for one in self._sizes
        )
        return [f"{name}: {T}" for name, T in zip(self.sizes, types, strict=True)]

    @property
    def parameters(self) -> list[str]:
        """The parameters of `new`."""
        return [f"{self.data}: S", *self.fields]

    @property
    def shape(self) -> str:
        """The array of the extents."""
        own = {p.name: f"self.{p.name}" for p in self._apply.params if not p.axis}
        texts = [self._usize(renamed(extent, own)) for extent in self._view.extents]
        text = rust_layout.parse(f"[{LIST}{BREAK.join(texts)}{END}]")
        return rust_layout.function_result(text, 8)

    @property
    def size(self) -> str:
        """The statement that says how many elements the slice has at least."""
        text = rust_layout.parse(self._usize(self._view.size))
        return rust_layout.binding(f"let {self.least} =", text, 8)

    def fits(self, conditions: list[FunctionView]) -> str:
        """The statement that asserts what is assumed of the sizes; "" where no condition says it."""
        name = f"{self._apply.name.removesuffix('apply')}fits"
        known = {name: name for name in self.sizes}
        for group in (one for one in self._sizes if isinstance(one, Group)):
            known |= {apart: member for member, apart in group.apart.items()}
        for one in conditions:
            if one.name == name and not one.receiver and known.keys() >= {*one.inputs}:
                call = f"{name}({LIST}{BREAK.join(known[n] for n in one.inputs)}{END})"
                text = f'assert!({LIST}{call}{BREAK}"the sizes do not fit"{END})'
                return f"{rust_layout.layout(rust_layout.parse(text), 8, 8, 1)};"
        return ""

    @property
    def literal(self) -> str:
        """The value of the type with the parameters of `new`."""
        fields = [(name, rust_layout.Expr(name)) for name in (self.data, *self.sizes)]
        return rust_layout.literal("Self", fields, 8)

    @property
    def inside(self) -> str:
        """The condition that one of an index is in its range."""
        if self._apply.base:
            return "(1..=*extent).contains(at)"
        return "at < extent"

    @property
    def position(self) -> str:
        """The position of an index."""
        cast = "" if self.T == "usize" else f" as {self.T}"
        arguments = [f"{by}self.{name}" for by, name in self._given]
        arguments += [f"{name}{cast}" for name in self.indices]
        call = f"{self._apply.name}({LIST}{BREAK.join(arguments)}{END})"
        if self._apply.base:
            call = f"{PAIR}{call}{BREAK}-{BREAK}1{END}"
            call = call if self.T == "usize" else f"({call})"
        return rust_layout.result(rust_layout.parse(self._cast(call)), 8)

    @property
    def casts(self) -> tuple[str, ...]:
        """The lints of the casts."""
        return CASTS[self._apply.index_type.rstrip("2346")]

    def _usize(self, node: Node) -> str:
        if node.op == "const":
            return self._printer.literal(node.value, self._apply.index_type)
        need = 0 if self.T == "usize" else self._printer.ops["int"].prec
        return self._cast(self._printer.expression(node, self._apply, need))

    def _cast(self, text: str) -> str:
        return text if self.T == "usize" else f"{PAIR}{text}{BREAK}as{BREAK}usize{END}"
