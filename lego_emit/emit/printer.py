"""What every language shares: expressions to text, parentheses, line breaks, the file template.

A printer decides nothing. It is a table of spellings (`ops`), the language's type names and
reserved words, helper texts and one Jinja template for the whole file. What the language computes
in its own way, or not at all, is settled before there is any text (`fitted`).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from ..errors import TargetError
from ..ir.cost import LATENCY, Cost
from ..ir.index_types import BOOL, IndexType, by_name
from ..ir.nodes import LEAVES, Node
from ..ir.program import Function, Group, Program
from ..notation import PYTHON, Notation
from ..operations import OPS
from ..table_lookup import Entries
from ..templates import ENDING, environment, named, template_of
from .comments import in_comments, summed
from .naming import AS_WRITTEN, Naming, in_spelling
from .ops import ATOM, BREAK, Op, call
from .ops import infix as infix
from .planned import PlanPrinter
from .view import FunctionView

MASKING = frozenset({"and", "or", "xor"})
SHIFTING = frozenset({"shl", "shr", *MASKING})
OPERANDS = frozenset({*LEAVES, "loop", "store", "switch"})  # which have no spelling of their own
CHECKSUM = "\0"  # in a file's text: where its checksum stands


def kind(op: str) -> str:
    """What an operation is a variant of: "and.unsigned" is an `and`; itself where it is none."""
    return op.partition(".")[0]


def unsigned_fit(node: Node, function: Function) -> Node:
    """A flooring division of unsigned operands as a truncating one, which it is."""
    if function.index_type.least == 0 and node.op in ("floordiv", "floormod"):
        return replace(node, op=node.op.removeprefix("floor"))
    return node


class Printer:
    """Base of all printers. A language sets the class attributes and overrides what does not fit
    a table.

    Attributes:
        name, aliases: what `target=` takes; related: names of others that run its text, which suggest it.
        title: the language's name for people.
        extension: of the emitted file, with the dot.
        types: index type -> spelling; one that is absent is refused. The common ones are there by
            their names; another one is an IndexType, which says what it holds.
        ops: operation -> Op (lego_emit.operations.OPS lists the operations), and what fit() makes
            beside them: a variant of an operation has its name, a dot and a word ("mod.power").
        typed_ops: index type -> the operations that are spelled otherwise in it.
        helpers: helper name -> Jinja text of its definition ({{ T }}, {{ unit }} and the index
            type's name {{ index_type }} are there).
        template: Jinja text of the whole file ({{ tables }}, {{ helpers }} and {{ functions }} are
            there), or the name of a file beside the printer's module that ends in .jinja.
        reserved, reserved_functions: words that cannot be any name; that no function can have as one.
        builtins: the names beside these two that it has without a declaration, in a kernel too; unsigned:
            those whose value, or each member of it, is a uint32, which is no int32 without a word.
        case_insensitive, max_name: its rules for names; line_width: longer lines are broken.
        angles: whether < and > may enclose arguments.
        steps: which array forms go from one element to the next by a step: "divisions", those that would divide by
            what is no number, "all", those whose step has the lower price, or "" for none; nearest: the axis whose
            elements lie next to each other, the last one or the first.
        default_index: what `index_type="auto"` may choose from, narrowest first; narrow_index: whether
            without an index_type the first one is taken, with preconditions, unless known ranges exceed it.
        suffix: appended to a broken line (Fortran's " &"); break_after: whether it is broken after an operator.
        outputs_are_variables: True where several outputs are variables of the function's own scope
            (out arguments), so that their names must not clash.
        bit_operations: True where a power of two is best divided by shifting and masking.
        lazy_select, caches_tables, hexadecimal: whether a select computes only the branch that it takes, a small
            table of constants is as near as a CPU's nearest cache, masks are written as 0x33.
        cost: the cost model that chooses where the caller names none; notation: how comments say conditions.
        names_greatest: whether an unsigned type's greatest number has the notation's name in code, too.
        remark: what begins a comment among statements; "" for none there.
        has_hints, has_views, has_maps, has_checks: whether the template tells the compiler ranges where the program
            wants it, prints the view that a function has (f.view), its affine map (f.map), and what debug builds assert (f.asserted);
        has_packed: whether it prints what reads and writes fields of words (f.accessors). has_fits: whether the template prints the conditions on sizes (fits). In those, holds_sizes:
            whether arguments are numbers of the index type and no others; lazy_logic: whether `and`
            computes no more than is needed; names_limits: whether names for 2**bits - 1 stand there.
        loops, switches, walks, moves: where its LoopForms, or what makes them of (printer, view, node), its SwitchForms,
            its WalkForms and what gives the lines of f.moves are, as "module:name"; "" for none, and for selects in the place of switches.
        namespaces: what joins the parts of a namespace ("::"), "" where it has one part alone, None where
            the language has none and no modules with a name in the file.
        index_names: what an index type is called beside its own name: name -> (index type, its
            spelling), as {"size_t": ("uint64", "size_t")}.
        default_namespace: of a file without one of its own; taken_namespaces: names that none has.
        style: of names where the user asks for none, "" where they stay as they are; is_module: whether a
            file is a module, so that a layout's functions need no NAME_ before them.
        naming: how names are spelled in the file at hand (spelling()).
        checksum: what a template writes around what is to be summed; there is the sum then.
        has_structs, has_arrays, gives_arrays: whether a parameter or a result can be a struct, a
            parameter or a result an array; else their members stand by themselves. fills: how a function gives an
            array whose length is known when it runs: "argument", it fills one, "result", it makes one, "" for none.
        declares: whether parameters and results can have types beside the index type; declared_types: what
            those are called, beside `types`. implicit: whether an integer becomes one of a wider type
            without a word; unsigned_first: whether uint32 becomes int64 by way of uint64; shadows: whether a variable may have a parameter's name; binds: whether a text may
            stand in the place of a parameter; size_index: the index type that is as wide as a pointer.
        static: what a static size is: "" an ordinary parameter, "template" a parameter before the others,
            "argument" one in its place (which static_parameter spells), "macro" and "constant" the file's own.
        native_member: what reads a member of a type of a code base, "" where there are none; first: the
            number of its first one; native_index: the index types beside such, where not all are.
        receiver: what reads a member of a method's object, "" where there are no methods; native_receiver: that
            of an object of a code base, where its methods may stand by themselves.
        wrapping: the unsigned index types whose arithmetic may wrap: "wraps" where the language's own does,
            "mask" where what an operation gives is masked.
        array_forms: parameters that are arrays, by what arrays= may be, "" for the usual one; with {T},
            {name} and {n}. result_forms: what results= may be. dividing: a method that gives the printer with
            divisions by prepared numbers (lego_emit/emit/prepared.py), None where there are none. kernel_lines: one
            that gives a statement of a kernel as lines in a language without expressions (printers/mlir_kernel.py).
    """

    name = ""
    aliases: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    title = ""
    extension = ""
    types: Mapping[str, str] = {}
    ops: Mapping[str, Op] = {}
    typed_ops: Mapping[str, Mapping[str, Op]] = {}
    helpers: Mapping[str, str] = {}
    template = ""
    reserved: frozenset[str] = frozenset()
    reserved_functions: frozenset[str] = frozenset()
    builtins: frozenset[str] = frozenset()
    unsigned: frozenset[str] = frozenset()
    angles = False
    case_insensitive = False
    max_name = 255
    line_width = 100
    default_index: tuple[str, ...] = ("int32", "int64")
    suffix, break_after = "", False
    outputs_are_variables = False
    cast = ""  # how a value is cast to the index type {T}; "" where none needs to be
    widens = False  # whether an operand of the index type makes a narrower one as wide
    kernel_types: tuple[str, ...] = ()  # default_index of kernels, where it is another
    declaration = ""  # a statement that declares {name} of the type {T} with the value {expr}
    infers = False  # whether a name that a statement declares has the type of its value, not {T}
    truths = ("false", "true")
    comments: tuple[str, ...] = ("//", "/*")  # what begins one
    bit_operations = True
    lazy_select = True
    caches_tables, hexadecimal = True, False
    cost: Cost = LATENCY
    notation: Notation = PYTHON
    names_greatest = False
    remark = ""
    loops = switches = walks = steps = moves = hopper = ""
    nearest = -1
    has_views = has_packed = has_fits = has_hints = has_checks = names_limits = narrow_index = False
    holds_sizes = lazy_logic = True
    namespaces: str | None = None
    index_names: Mapping[str, tuple[str, str]] = {}
    default_namespace = style = ""
    taken_namespaces: frozenset[str] = frozenset()
    naming = AS_WRITTEN
    is_module = False
    checksum = CHECKSUM
    has_structs = has_arrays = gives_arrays = has_maps = False
    static = fills = ""
    declares = implicit = shadows = unsigned_first = False
    binds, size_index = True, ""
    dividing: Any = None
    kernel_lines: Any = None
    declared_types: Mapping[str, str] = {}
    native_member, first, receiver, native_receiver = "", 0, "", ""
    native_index: tuple[str, ...] = ()
    wrapping: Mapping[str, str] = {}
    array_forms: Mapping[str, str] = {}
    result_forms: tuple[str, ...] = ()

    @cached_property
    def index_types(self) -> dict[str, IndexType]:
        """The index types of the language by their names, the common ones first."""
        return by_name(self.types, self.title)

    @property
    def statement_ends_line(self) -> bool:
        """Whether a statement ends where its line does, without a semicolon."""
        return not self.declaration.endswith(";")

    @property
    def namespace(self) -> str:
        """What the functions are in, "" for nothing that has a name."""
        return self.naming.namespace or self.default_namespace

    def spelling(self, naming: Naming, index_types: Iterable[str] = ()) -> Self:
        """This printer for one file, whose names and index types are spelled as the user says. Raises
        TargetError where the language has no such namespace or prefix."""
        return in_spelling(self, naming, index_types)

    def array_name(self, name: str) -> str:
        """The array form of the function of that name."""
        return self.naming.after(name, "positions")

    def result_name(self, name: str) -> str:
        """The type of the several results of the function of that name, where it has one."""
        return self.naming.type_after(name, "result")

    def sizes_type(self, name: str) -> str:
        """What the struct of prepared sizes is called, NAME_sizes where the language has no other form."""
        return name

    def legal_name(self, name: str) -> str:
        """name itself, or the nearest name that the language accepts (the same every time)."""
        import zlib

        legal = re.sub(r"\.|\[(\d+)\]", r"_\1", name)  # of a member
        legal = re.sub(r"[^0-9A-Za-z_]", lambda m: f"u{ord(m.group()):x}", legal)
        legal = re.sub(r"_{2,}", "_", legal).lstrip("_") or "v"
        if legal[0].isdigit():
            legal = f"v{legal}"
        if len(legal) > self.max_name:
            code = name.encode(errors="surrogatepass")
            digest = f"_{zlib.crc32(code):08x}"
            legal = legal[: self.max_name - len(digest)] + digest
        key = legal.lower() if self.case_insensitive else legal
        return f"{legal}_v" if key in self.reserved else legal

    def unit_name(self, name: str) -> str:
        """What the unit of that name is called: helpers would get two underscores in a row."""
        return self.legal_name(name.rstrip("_"))

    def unit_mark(self, unit: str) -> str:
        """What only one unit of a program can have, as text ("the module TileA"); "" for nothing."""
        return ""

    def guard(self, unit: str) -> str:
        """The macro that keeps a unit's file from being included twice; "" where there is none."""
        return ""

    def unit_scope(self, unit: str) -> set[str]:
        """The names that the unit takes from its functions (a module's own name, for one),
        in lower case where the language ignores case."""
        return set()

    def table_name(self, name: str, unit: str) -> str:
        """What a constant table of the unit is called in the file."""
        return name

    def companions(self, name: str) -> set[str]:
        """The names that a function with ':' axes or several outputs has in the file beside its own
        (its array form's, its result type's), in lower case where the language ignores case."""
        return set()

    def view_names(self, name: str) -> set[str]:
        """The names that a layout's view has in the file, in lower case where the language ignores
        case."""
        return set()

    def declarations_path(self, path: Path) -> Path | None:
        """Where the declarations of a unit at path lie, None where the language has none."""
        return None

    def declarations(self, program: Program) -> str:
        """The text of the file that declares the program's functions."""
        return ""

    def of_plan(self, plan: object) -> PlanPrinter:
        """The printer of a file that carries out a plan. Raises TargetError where none can."""
        raise TargetError(f"{self.title} has no function that moves a tile between registers")

    def fitted(self, function: Function) -> Function:
        """A function in operations that the language has a spelling for: what is printed, and never
        seen outside a printer. Raises TargetError where one has none. Ranges are not read later."""
        typed = self.typed_ops.get(function.index_type, {})
        if function.wrapping:
            from .wrapping import without_masks

            keeps = self.wrapping[function.index_type] == "mask"
            function = without_masks(function, keeps, self.ops)

        def whole(node: Node, named: bool = function.is_condition) -> Node:
            node = self.fit(node, function)
            if not node.args:
                if node.op == "round":
                    return replace(node, value=node.value.mapped(self.fitted))
                limit = node.op == "const" and named and self.limit(node, function)
                return replace(node, op="var", value=limit) if limit else node
            if node.op not in typed and node.op not in self.ops and node.op not in OPERANDS:
                raise self._without_spelling(node.op)
            return node.over(tuple([whole(a, named) for a in node.args]))

        return replace(
            function,
            body=tuple((name, whole(node)) for name, node in function.body),
            outputs=tuple((name, whole(node)) for name, node in function.outputs),
            asserted=tuple(whole(node, True) for node in function.asserted),
            axes=tuple((name, whole(self.extent(n, name))) for name, n in function.axes),
            view=function.view and function.view.map(whole),
            cases=tuple((whole(c), self.fitted(case)) for c, case in function.cases),
        )

    def _without_spelling(self, op: str) -> TargetError:
        bits = kind(op) in SHIFTING and self.bit_operations
        return TargetError(
            f"{self.title} has no spelling for {op!r}; give its printer's ops one"
            + ", or set bit_operations = False where it came of a division" * bits
        )

    def extent(self, size: Node, axis: str) -> Node:
        """The size of a ':' axis as the language computes it; override where that is otherwise than
        what functions compute, and to raise TargetError for a size that no axis can have."""
        return size

    def block(self, size: str, axis: int, axes: int, vector: str = "") -> str:
        """The text of the numbers below a size, or of a vector's, as one of so many axes of an array, to compute
        with; "" where the language has no such expressions."""
        return ""

    def fit(self, node: Node, function: Function) -> Node:
        """A node of the lowered function as the language computes it, its operands as they were;
        override where that depends on ranges, or is not what was lowered."""
        return node

    def counter(self, function: Function) -> IndexType:
        """The index type of what counts the elements of the ':' axes."""
        return function.index_type

    def size_type(self, index_type: IndexType) -> IndexType:
        """What a condition on the sizes of functions of an index type computes in: wide enough for
        whatever a caller may pass, where the language converts arguments without a word."""
        return index_type

    def limit(self, number: Node, function: Function) -> str:
        """What a condition on sizes calls a number that ends a type; "" for a literal."""
        n, most = number.value, function.index_type.most
        if not self.names_limits or n & (n + 1) or not (self.widens or n == most):
            return ""
        return self.notation_of(function.index_type).most.get(n.bit_length(), "")

    def fitted_views(self, program: Program, fits: bool = False) -> list[FunctionView]:
        """The program's functions, or its conditions on sizes, fitted, as a template sees them."""
        views = [
            FunctionView(
                self, self._converted(self.fitted(f), program.checks), program.name, self.counter(f)
            )
            for f in (program.fits if fits else program.functions)
        ]
        for view in views:
            view.overloaded = len({f.index_type for f in (*program.functions, *program.fits)}) > 1
        return views

    def _converted(self, function: Function, checks: bool) -> Function:
        if function.result is not None and function.result.open:
            from .loops import writing

            function = writing(function)
        bound = any(one.bound for one in (*function.params, *function.groups))
        if not self.declares or not (function.declared or bound):
            return function
        from .borders import converted

        return converted(function, self, checks)

    def spelled(self, kind: str) -> str:
        """The name of a type: an index type, or one that parameters and results can be declared as."""
        return self.types.get(kind) or self.declared_types[kind]

    def given(self, kind: str, text: str) -> str:
        """The text of an integer as an argument of a type."""
        T = self.spelled(kind)
        if kind == BOOL:
            return f"({text} != 0)"
        return (self.cast or "{T}({0})").format(text, T=T)

    def types_of(self, texts: Mapping[str, str]) -> dict[str, str]:
        """What those parameters are declared as in whose places texts stand that are unsigned variables of
        the language, or members of them."""
        return {
            name: "uint32"
            for name, text in texts.items()
            if re.sub(r"\.\w$", "", text.strip()) in self.unsigned
        }

    def type_of(self, kind: str, index_type: str) -> str:
        """What a parameter or a result is declared as: kind, or "" for the index type."""
        if not kind or not self.declares:
            return self.types[index_type]
        return self.spelled(kind)

    def conversion(self, kind: str) -> Op:
        """How an integer is converted to a type, which is spelled {T}."""
        return call(self.cast or "{T}({0})", 1)

    def literal(self, value: int, index_type: str) -> str:
        """An integer literal of the index type, without parentheses."""
        return str(value)

    def notation_of(self, index_type: str) -> Notation:
        """How comments of a function of an index type say conditions."""
        return self.notation

    def greatest(self, index_type: str) -> str:
        """The greatest number of an unsigned index type, which stands for what is masked."""
        value = self.index_types[index_type].most
        if self.names_greatest and value & (value + 1) == 0:
            if name := self.notation_of(index_type).most.get(value.bit_length()):
                return name
        return self.literal(value, index_type).replace(str(value), hex(value))

    def mask(self, value: int, index_type: str) -> str:
        """An operand of a bit operation: hexadecimal unless it is small or all ones."""
        text = self.literal(value, index_type)
        if not 15 < value < 2**31 or value & (value + 1) == 0:
            return text
        return text.replace(str(value), hex(value))

    def literal_prec(self, value: int) -> int:
        """How tightly a literal binds: a negative one is a unary minus in most languages."""
        if value < 0 and "neg" not in self.ops:
            raise self._without_spelling("neg")
        return ATOM if value >= 0 else self.ops["neg"].prec

    def expression(self, node: Node, view: FunctionView, need: int = 0) -> str:
        """node as text; in parentheses if it binds less than need."""
        if node.op == "const":
            text, prec = self.literal(node.value, view.index_type), self.literal_prec(node.value)
            if (0, node.value) == view.index_type.ends:
                text = self.greatest(view.index_type)
        elif node.op in ("var", "table"):
            text, prec = str(node.value), ATOM
        elif node.op == "cast":
            if not node.value:
                return self.expression(node.args[0], view, need)
            op = self.conversion(node.value)
            text = self.expression(node.args[0], view, op.needs[0])
            text, prec = op.text.format(text, T=self.spelled(node.value)), op.prec
        else:
            op = self.op(node, view)
            needs = op.needs
            masking = kind(node.op) in MASKING
            if masking and kind(node.args[0].op) == kind(node.op) and op.prec < ATOM:
                needs = (op.prec, *needs[1:])  # a chain
            args = self.operands(node, view, needs)
            if self.hexadecimal and masking:
                args = [
                    self.mask(a.value, view.index_type) if a.op == "const" else text
                    for a, text in zip(node.args, args, strict=True)
                ]
            text, prec = op.text.format(*args, T=view.T, unit=view.unit), op.prec
        return f"({text})" if prec < need else text

    def operands(self, node: Node, view: FunctionView, needs: Sequence[int]) -> list[str]:
        """The texts of an operation's operands, in parentheses where they bind less than needs."""
        return [self.expression(a, view, n) for a, n in zip(node.args, needs, strict=True)]

    def op(self, node: Node, view: FunctionView) -> Op:
        """The spelling of a fitted node; override where its text depends on the operands' texts."""
        return self.typed_ops.get(view.index_type, self.ops).get(node.op) or self.ops[node.op]

    def table(self, entries: Entries, index_type: str) -> str:
        """The definition of a constant table, which the template prints. Raises TargetError where
        the language has none."""
        raise TargetError(
            f"{self.title} has no constant tables; give {type(self).__name__} a method table, or "
            "write a formula as a GenP"
        )

    def table_parameter(self, form: str, T: str) -> str:
        """The form of a parameter that is a table of an index type T, with {name}; form: a
        number's. Raises TargetError where a function cannot be given one."""
        raise TargetError(
            f"{self.title} gives functions no tables and no arrays of any length; where the entries are known "
            "when the file is made, give Lookup the entries, and where their number is, write Array[n]"
        )

    def has(self, group: Group) -> bool:
        """Whether a struct or an array is one parameter in the language, or, without a name, one result."""
        if group.beside is not None:
            return self.writes_results
        if group.struct:
            return self.has_structs
        if group.name:
            return self.has_arrays
        if group.open:
            return bool(self.fills)
        return self.writes_results or (self.gives_arrays and self.naming.results != "struct")

    @property
    def writes_results(self) -> bool:
        """Whether results of more than one integer are parameters that are written to."""
        return self.naming.results in ("out", "inout")

    def member(self, group: Group, place: int) -> str:
        """The text that reads a member of a parameter, whose names are legal here."""
        if group.native is not None:
            from .natives import read

            return read(group, place, own=self)
        return f"{group.name}.{group.fields[place]}" if group.struct else f"{group.name}[{place}]"

    def native_type(self, name: str) -> str:
        """What code calls a type of a code base."""
        return name

    def vector(self, group: Group, index_type: str) -> str:
        """The type that the language has for a struct of so many integers, with members x, y .. w; "" where
        it is to be defined."""
        return ""

    def group_type(self, group: Group, T: str) -> str:
        """The type of a struct, or of an array of the index type T."""
        return group.struct or f"{T}[{len(group.members)}]"

    def group_parameter(self, form: str, group: Group, T: str) -> str:
        """A parameter that is a struct or an array; form: an integer's, with {name} and {T}."""
        if group.open:
            return self.table_parameter(form, T).format(name=group.name)
        return form.format(name=group.name, T=self.group_type(group, T))

    def instance(self, function: Function) -> str:
        """How a call names a function: with the numbers of its static sizes, where it is a template."""
        return function.name

    def aggregate(self, group: Group, texts: Sequence[str], T: str) -> str:
        """The text that makes a struct, or an array, of its members' texts."""
        return f"{self.group_type(group, T)}{{{', '.join(texts)}}}"

    def member_types(self, group: Group, index_type: str) -> list[str]:
        """What each member of a struct or an array is declared as."""
        kinds = group.types or ("",) * len(group.members)
        return [self.type_of(kind, index_type) for kind in kinds]

    def struct_lines(self, group: Group, types: Sequence[str]) -> list[str]:
        """The definition of a struct, by the types of its fields."""
        fields = (f"  {T} {name};" for T, name in zip(types, group.fields, strict=True))
        return [f"struct {group.struct} {{", *fields, "};"]

    def entry_lines(self, entries: Entries, index_type: str, indent: int) -> str:
        """The entries as literals, as many on a line as it holds."""
        texts = ", ".join(self.literal(value, index_type) for value in entries.values)
        pad = " " * indent
        return textwrap.fill(texts, self.line_width, initial_indent=pad, subsequent_indent=pad)

    def inline(self, text: str) -> str:
        """An expression's text with its BREAK marks resolved, on one line."""
        return text.replace(BREAK, " ")

    def line(self, text: str, indent: int) -> str:
        """A statement with its BREAK marks resolved: on one line if it fits, else broken at its
        outermost and loosest operators, each further line indented by four more."""
        if indent + len(text) <= self.line_width:
            return text.replace(BREAK, " ")
        return self._broken(text, indent).replace(BREAK, " ")

    def _broken(self, text: str, indent: int) -> str:
        depth, marks = 0, []
        for position, char in enumerate(text):
            depth += (char in "([{") - (char in ")]}")
            if char == BREAK:
                symbol = text[position + 1 :].split(None, 1)[0]
                marks.append(((depth, self._looseness.get(symbol, 0)), position))
        if not marks:
            return text
        outermost = min(rank for rank, _ in marks)
        pieces, start = [], 0
        for rank, position in marks:
            if rank == outermost:
                pieces.append(text[start:position])
                start = position + 1
        pieces.append(text[start:])
        if self.break_after:  # the operator goes to the end of the line before
            for k in range(1, len(pieces)):
                if pieces[k - 1].endswith(","):
                    continue
                symbol, _, rest = pieces[k].partition(" ")
                pieces[k - 1] += f" {symbol}"
                pieces[k] = rest
        width = self.line_width - indent - 4 - len(self.suffix)
        lines, limits = [pieces[0]], [width + 4]
        for piece in pieces[1:]:
            if len(lines[-1]) + 1 + len(piece) <= limits[-1]:
                lines[-1] += " " + piece
            else:
                lines.append(piece)
                limits.append(width)
        lines = [
            self._broken(x, indent + 4) if len(x) > limit else x
            for x, limit in zip(lines, limits, strict=True)
        ]
        return f"{self.suffix}\n{' ' * (indent + 4)}".join(lines)

    @cached_property
    def _looseness(self) -> dict[str, int]:
        """Operator symbol -> precedence: of the outermost operators the loosest is broken at."""
        marked = re.compile(f"{BREAK}([^{BREAK} ]+)")
        plain = [op for name, op in self.ops.items() if name in OPS]
        return {s: op.prec for op in plain for s in marked.findall(op.text)}

    def emit(self, program: Program) -> str:
        """The complete file for a checked program whose names are legal here."""
        program.check()
        program = in_comments(program, self.naming)
        for function in program.functions:
            if function.index_type not in self.types:
                raise TargetError(
                    f"{self.title} has no {function.index_type}; it has {', '.join(self.types)}"
                )
        functions = self.fitted_views(program)
        fits = self.fitted_views(program, fits=True)
        for view in functions:
            view.given_tables("")  # refused where the language has none
        with named(type(self), self.title, self.template):
            text = self._template.render(
                unit=program.name,
                program=program,
                functions=functions,
                fits=fits,
                tables=[*program.tags, *(self.table(*one) for one in program.tables)],
                structs=[
                    (g, self.struct_lines(g, self.member_types(g, t))) for g, t in program.structs
                ],
                helpers=self._helpers(program.name, functions + fits),
                printer=self,
            )
        lines = [line.rstrip() for line in text.split("\n")]
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
        return summed(text.strip("\n") + "\n", CHECKSUM)

    @cached_property
    def _environment(self):
        return environment(type(self))

    @cached_property
    def _template(self):
        if self.template.endswith(ENDING):
            return self._environment.get_template(self.template)
        return template_of(self._environment, self.template)

    def _helpers(self, unit: str, functions: list[FunctionView]) -> list[str]:
        """The texts of the helpers that the program calls, each once, in table order."""
        used = set()
        for view in functions:
            outside = [e for _, e in view.axes] + [*(view.view.values if view.view else ())]
            for node in (*view.nodes(), *(n for e in outside for n in e.walk())):
                if (
                    node.op not in OPERANDS
                    and node.op != "cast"
                    and (helper := self.op(node, view).helper)
                ):
                    used.add((helper, view.index_type))
        if missing := {name for name, _ in used} - self.helpers.keys():
            raise TargetError(
                f"{self.title}: helpers has no {min(missing)!r}, which a spelling calls; define it there"
            )
        texts = []
        for name, source in self.helpers.items():
            for index_type in self.index_types:
                if (name, index_type) in used:
                    type_ = self.types[index_type]
                    said = dict(T=type_, unit=unit, index_type=index_type, printer=self)
                    template = template_of(self._environment, source)
                    texts.append(template.render(said).strip("\n"))
        return list(dict.fromkeys(texts))  # index types that share a type share the helper
