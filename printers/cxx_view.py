"""The view of a layout in C++ and CUDA C: a type that holds a pointer and the layout's sizes, and a
layout policy of std::mdspan.

Reference: ISO C++23, 24.7.3.4 (layout mapping policies); https://en.cppreference.com/w/cpp/container/mdspan
"""

from typing import Any

from lego_emit.emit.printer import BREAK, FunctionView
from lego_emit.errors import TargetError
from lego_emit.ir.nodes import Node
from lego_emit.ir.relations import renamed
from lego_emit.printers.c_array import free

COMMA = f",{BREAK}"

# What the text names, and a parameter of that name would hide.
OWN = frozenset(
    """Extents data_ element_type extents_ extents_type index_type layout_type mapping rank_type
    size_type""".split()
)


class CxxView:
    """What a template sees of a view. sizes, indices: the parameters of the layout's apply, those of the
    text's own names with a number; element, other, data, view: names that the text wants for itself, none of
    a parameter; members: size -> member."""

    def __init__(self, printer: Any, apply: FunctionView):
        self._printer, self._apply, self._view = printer, apply, apply.view
        if apply.groups:
            raise TargetError(
                f"view: the sizes of {apply.name} are a struct or an array, which no view holds in "
                f"{printer.title}; take them one by one"
            )
        self.T, self.masks = apply.T, apply.view.masks
        self.unique, self.exhaustive = apply.view.unique, apply.view.exhaustive
        taken = {*OWN, *(p.name for p in apply.params)}
        self._names = {p.name: p.name for p in apply.params}
        for name in OWN & self._names.keys():
            self._names[name] = free(name.rstrip("_"), taken)
        self.sizes = [self._names[p.name] for p in apply.params if not p.axis]
        self.indices = [self._names[p.name] for p in apply.params if p.axis]
        taken = {*OWN, *self._names.values()}
        self.element, self.other, self.data, self.view = (
            free(n, taken) for n in ("Element", "U", "data", "view")
        )
        self.slices = [free(f"slice_{k}", taken) for k in range(1, len(self.indices))]
        self.members = {}
        for name in self.sizes:
            self.members[name] = free(f"{name.rstrip('_')}_", taken)
            taken.add(self.members[name])

    @property
    def name(self) -> str:
        """The type of the view."""
        return self._printer.naming.type_after(self._view.name, "view")

    @property
    def policy(self) -> str:
        """The name of the layout policy of std::mdspan."""
        return self._printer.naming.type_after(self._view.name, "layout")

    @property
    def doc(self) -> list[str]:
        """The doc comment of the view."""
        index = ", ".join(self.indices)
        ways = f"view({index})"
        if self.slices:
            chained = "".join(f"[{i}]" for i in self.indices)
            ways += f", view{chained} and, from C++23 on, view[{index}]"
        else:
            ways += f" and view[{index}]"
        place = self._plain(self._call([*self.sizes, *self.indices]))
        text = f"An array of {self._plain(self._text(self._view.size, False))} elements by the index of "
        text += f"a layout: {ways} are data[{place}]. The array is not owned; its elements are const in "
        text += f"{self.name}<const T>, which a {self.name}<T> converts to. "
        text += f"The sizes are those of {self._apply.name}. " if self.sizes else ""
        text += "What is not in its range" + " or masked" * self.masks + " is undefined behavior."
        return self._printer.comment(text, "///")

    @property
    def policy_doc(self) -> list[str]:
        """The doc comment of the layout policy."""
        rank, kind = len(self.indices), f"{self.policy}::mapping"
        text = "The layout as a layout policy of std::mdspan, Kokkos' and CUDA's. "
        if self.sizes:
            sizes = ", ".join(self.sizes)
            text += f"std::mdspan(data, {kind}<std::dextents<{self.T}, {rank}>>({sizes})) is such an array."
        else:
            extents = ", ".join(map(self._plain, self.extents()))
            text += f"std::mdspan<T, std::extents<{self.T}, {extents}>, {self.policy}> is such an array."
        text += " Its indices count from 0." if self._apply.base else ""
        return self._printer.comment(text, "///")

    def declared(self, names: list[str], *first: str) -> str:
        """Parameters of the index type, after the first ones."""
        return COMMA.join([*first, *(f"{self.T} {name}" for name in names)])

    def position(self, *indices: str) -> str:
        """The call that gives the position of an index, counted from 0."""
        return self._call([*self.members.values(), *indices])

    def copied(self) -> list[tuple[str, str]]:
        """The members and those of another view that they are initialized with."""
        return [(m, f"{self.view}.{m}") for m in ("data_", *self.members.values())]

    @property
    def contained(self) -> str:
        """The condition that an index is not masked."""
        position, index_type = self.position(*self.indices), self._apply.index_type
        if index_type.least == 0:
            return f"{position}{BREAK}!= {self._printer.greatest(index_type)}"
        return f"{position}{BREAK}>= 0"

    @property
    def unpacked(self) -> str:
        """A pack of indices that count from 0, as arguments."""
        return f"{'1 + ' * self._apply.base}static_cast<{self.T}>(indices)..."

    def extents(self, members: bool = True) -> list[str]:
        """The extents of the indices; members: made of the members, and not of the parameters."""
        return [self._text(extent, members) for extent in self._view.extents]

    @property
    def size(self) -> str:
        """How many elements the array has at least."""
        return self._text(self._view.size, True)

    @property
    def fixed_size(self) -> bool:
        """Whether that is a number."""
        return self._view.size.op == "const"

    def constructor(
        self, name: str, parameters: str, values: list[tuple[str, str]], indent: int
    ) -> str:
        """A constructor that initializes members, in a class of a further indent."""
        printer = self._printer
        marks = f"{printer.qualifiers} "
        head = printer.head(f"{marks}{name}", parameters, " noexcept", indent)
        starts = [f"{member}({value})" for member, value in values]
        line = f": {', '.join(starts)} {{}}".replace(BREAK, " ")
        if "\n" not in head and indent + len(head) + 1 + len(line) <= printer.line_width:
            return f"{head} {line}"
        pad = f"\n{' ' * (indent + 4)}"
        if indent + 4 + len(line) <= printer.line_width:
            return f"{head}{pad}{line}"
        lines = [printer.line(f"{start},", indent + 6) for start in starts[:-1]]
        lines.append(printer.line(f"{starts[-1]} {{}}", indent + 6))
        return f"{head}{pad}: {f'{pad}  '.join(lines)}"

    def initializers(self, policy: bool = False) -> list[tuple[str, str]]:
        """The members and what they are initialized with; policy: those of the mapping."""
        first = (
            ("extents_", COMMA.join(self.extents(members=False)))
            if policy
            else ("data_", self.data)
        )
        return [first, *((member, name) for name, member in self.members.items())]

    def equal(self) -> str:
        """The condition that two mappings a and b are equal."""
        members = ("extents_", *self.members.values())
        return f"{BREAK}&& ".join(f"a.{member} == b.{member}" for member in members)

    def _call(self, arguments: list[str]) -> str:
        return f"{self._apply.name}({COMMA.join(arguments)}){' - 1' * self._apply.base}"

    def _plain(self, text: str) -> str:
        return text.replace(BREAK, " ")

    def _text(self, node: Node, members: bool) -> str:
        node = renamed(node, self._names)
        node = renamed(node, self.members) if members else node
        return self._printer.expression(node, self._apply)
