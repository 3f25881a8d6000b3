"""Julia: one module, Julia 1.5 or newer, type-stable functions of plain integers.

Reference: https://docs.julialang.org/en/v1/manual/mathematical-operations/ (precedence of
operators) and https://docs.julialang.org/en/v1/base/math/ (div and % truncate, fld and mod floor).

A 32-bit unit takes 64-bit integers too: its index type is the type parameter Ti, as in
SparseArrays, and its literals are made of that type, since `i + 4` would widen an Int32.
"""

import textwrap
from dataclasses import replace

from lego_emit.emit.naming import type_name
from lego_emit.emit.printer import ATOM, BREAK, Op, Printer, call, infix
from lego_emit.ir.index_types import DECLARED
from lego_emit.ir.loops import of_round
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Group
from lego_emit.notation import Notation
from lego_emit.printers import julia_methods
from lego_emit.printers.julia_view import JuliaView

UNARY = 15

KEYWORDS = frozenset(
    """baremodule begin break catch ccall const continue do else elseif end export false finally for
    function global if import in isa let local macro module quote return struct true try using
    where while""".split()
)

USED = frozenset(
    """AbstractArray AbstractVector Array Base Bool DimensionMismatch Int Int32 Int64 Integer Matrix NTuple
    NamedTuple Ti Type UInt32 UInt64 Union Vector big checkbounds div eval fld include isqrt max min mod new
    vec xor""".split()
)

# Exported by Base as well: `using` both would make the bare name ambiguous, so that these are
# called by their full names, as Tile.inv(i).
BASE_EXPORTS = frozenset(
    """abs accumulate adjoint all any argmax argmin axes big cat circshift clamp cld coalesce
    collect contains convert copy count cumsum denominator diff digits div divrem eachcol eachrow
    enumerate fill filter findfirst findlast findmax findmin first firstindex fld fldmod floor
    gcd get hash identity in intersect inv invperm iterate join keys last lastindex lcm length map
    mark match merge min minimum max maximum methods mod ncodeunits ndims numerator one ones only
    pairs parent permute permutedims peek pointer position prod promote range read rem repeat
    reshape reverse rot180 rotl90 rotr90 round run search select show sign similar size skip sort
    split step stride strides string sum take time transpose trunc truncate union unique values
    view write xor zero zeros zip""".split()
)

# Of Base, and what CUDA.jl and KernelAbstractions.jl call the indices of a kernel's threads.
KERNEL_WORDS = frozenset(
    """ceil eachindex isodd iseven leading_zeros mod1 fld1 fldmod1 nothing one signed trailing_zeros
    typemax typemin unsafe_trunc unsigned zero
    blockDim blockIdx gridDim laneid threadIdx warpsize
    index uniform Cartesian Global Group Linear Local NTuple""".split()
)

# A module of that name would hide what the emitted code or its user needs.
TAKEN_MODULES = frozenset(
    """Any Array Base Bool Char Complex Core Dict Docs Expr Float32 Float64 Function Int Int8 Int16
    Int32 Int64 Int128 Integer Iterators Libc Main Math Matrix Meta Method Missing Module NTuple
    NamedTuple Nothing Number Order Pair Ptr Rational Real Ref Set Signed Some String Symbol Sys
    Task Threads Ti Timer Tuple Type UInt UInt8 UInt16 UInt32 UInt64 UInt128 Union Unsigned Val
    Vararg Vector""".split()
)

WIDER = julia_methods.WIDER


class JuliaPrinter(Printer):
    """Julia's spellings: truncating and flooring division are functions of Base."""

    loops = "lego_emit.printers.loop_forms:julia"
    switches = "lego_emit.printers.switch_forms:JULIA"
    walks = "lego_emit.printers.walk_forms:JULIA"
    steps, nearest = "divisions", 0
    copies = "lego_emit.printers.copy_julia:CopiesInJulia"
    name = "julia"
    aliases = ("jl",)
    title = "Julia"
    extension = ".jl"
    wider = WIDER  # the types that a type parameter may be, by index type
    types = {"int32": "Ti", "int64": "Int64", "uint32": "Ti", "uint64": "UInt64"}
    ops = {
        "neg": Op("-{0}", UNARY, (UNARY + 1,)),
        "not": Op("~{0}", UNARY, (UNARY + 1,)),
        "lnot": Op("!{0}", UNARY, (UNARY + 1,)),
        "mul": infix("*", 13),
        "mod": infix("%", 13),
        "add": infix("+", 12),
        "sub": infix("-", 12),
        # Shifts bind tighter than * here, & as * does and | as + does; few readers know it, so
        # that they are bracketed as if they bound less.
        "shl": Op("{0} << {1}", 11, (UNARY, UNARY)),
        "shr": Op("{0} >> {1}", 11, (UNARY, UNARY)),
        "and": infix("&", 11, UNARY, UNARY),
        "or": infix("|", 11, UNARY, UNARY),
        "lt": infix("<", 10, 11),
        "le": infix("<=", 10, 11),
        "gt": infix(">", 10, 11),
        "ge": infix(">=", 10, 11),
        "eq": infix("==", 10, 11),
        "ne": infix("!=", 10, 11),
        "land": infix("&&", 5),
        "lor": infix("||", 4),
        "select": Op(f"{{0}}{BREAK}? {{1}}{BREAK}: {{2}}", 3, (4, 4, 3)),
        "div": call(f"div({{0}},{BREAK}{{1}})", 2),
        "floordiv": call(f"fld({{0}},{BREAK}{{1}})", 2),
        "floormod": call(f"mod({{0}},{BREAK}{{1}})", 2),
        "xor": call(f"xor({{0}},{BREAK}{{1}})", 2),
        "min": call(f"min({{0}},{BREAK}{{1}})", 2),
        "max": call(f"max({{0}},{BREAK}{{1}})", 2),
        "isqrt": call("isqrt({0})", 1),
        "lookup": Op("{T}({0}[{1} + 1])", ATOM, (0, 12)),
        "int": call("{T}({0})", 1),
    }
    typed_ops = {t: {"lookup": Op("{0}[{1} + 1]", ATOM, (0, 12))} for t in ("int64", "uint64")}
    wrapping = {"uint32": "mask", "uint64": "wraps"}  # an argument may be wider than UInt32
    kernel_types = ("int64",)  # narrower ones are made as wide by whatever they meet
    declaration = "{name} = {expr}"
    comments = ("#",)
    remark = "#"
    notation = Notation(
        {"**": "^", "and": "&&", "or": "||", "not": "!"},
        {"//": "div({0}, {1})", "^": "xor({0}, {1})", "if": "{0} ? {1} : {2}"},
        {"//": "fld({0}, {1})", "%": "mod({0}, {1})"},
        most={
            31: "typemax(Int32)",
            63: "typemax(Int64)",
            32: "typemax(UInt32)",
            64: "typemax(UInt64)",
        },
    )
    template = "julia.jinja"
    static, receiver, asks_types = "argument", "sizes.{}", False
    reserved = KEYWORDS | USED
    not_exported = BASE_EXPORTS | TAKEN_MODULES
    builtins = BASE_EXPORTS | TAKEN_MODULES | KERNEL_WORDS
    has_fits = has_checks = names_limits = widens = True
    has_structs = has_arrays = gives_arrays = has_packed = True
    fills = "result"
    native_member, first, native_index = ".{}", 1, ("int64", "uint64")
    break_after = True
    line_width = 92  # as JuliaFormatter has it; lines are broken as in its SciMLStyle

    def module_name(self, unit):
        """The unit's name in camel case: tile_inverse is TileInverse."""
        name = self.namespace or type_name(unit)
        return f"{name}Unit" if name in TAKEN_MODULES else name

    def unit_mark(self, unit):
        """The module, as a message names it."""
        return f"the module {self.module_name(unit)}"

    def unit_scope(self, unit):
        """The module's own name."""
        return {self.module_name(unit)}

    def accessors(self, view):
        """The functions that read and write fields of words."""
        from lego_emit.printers.julia_packed import JuliaFields

        return JuliaFields(self, view).lines()

    def companions(self, name):
        """The array form's name."""
        return {self.array_name(name)}

    has_views = True
    namespaces = ""
    taken_namespaces = TAKEN_MODULES

    def view_name(self, name):
        """The type of a layout's view."""
        return type_name(name, "View")

    def view_names(self, name):
        """The type of the view."""
        return {self.view_name(name)}

    def sizes_type(self, name):
        """As types are called."""
        return name if self.naming.style else type_name(name)

    def receiver_type(self, name):
        """The type that holds the sizes of a subject, called otherwise than the module."""
        return type_name(self.naming.public(name), "Sizes")

    def receivers(self, functions, fits):
        """The types whose methods functions are."""
        return julia_methods.receivers(self, functions, fits)

    def layout_view(self, apply):
        """What the template of a layout's view sees."""
        return JuliaView(self, apply, self.view_name(apply.view.name))

    def exported(self, functions, structs):
        """The names that `using` brings, of structs first."""
        names = list(dict.fromkeys(f.receiver.name for f in functions if f.receiver))
        names += [
            n
            for f in functions
            for n in (f.name, self.array_name(f.name))[: 1 + bool(f.axes)]
            if not f.receiver
        ]
        names += [self.view_name(f.view.name) for f in functions if f.view]
        names += [f.walk.names["walk"] for f in functions if f.walk]
        names += [n for f in functions if f.packing for n in (f.packing.get, f.packing.set)]
        names = [*structs, *names]
        return [name for name in names if name not in self.not_exported]

    def literal(self, value, index_type):
        """A literal of the index type, which may be the type parameter Ti."""
        return str(value) if index_type == "int64" else f"{self.types[index_type]}({value})"

    def size_type(self, index_type):
        """64 bits, which hold an argument of any other type, or it is an InexactError."""
        return self.index_types["int64" if index_type.least < 0 else "uint64"]

    def greatest(self, index_type):
        """UInt32's also where the type parameter is UInt64."""
        most = self.notation.most[self.index_types[index_type].most.bit_length()]
        return f"Ti({most})" if self.types[index_type] == "Ti" else most

    def table_name(self, name, unit):
        """In capitals, as constants are."""
        return name.upper()

    def table(self, entries, index_type):
        """A constant vector; its literals are of the array's type."""
        kind = self.wider[index_type][0] if index_type in self.wider else self.types[index_type]
        lines = self.entry_lines(entries, "int64", 4)
        return f"const {entries.name} = {kind}[\n{lines},\n]"

    def table_parameter(self, form, T):
        """Any vector of integers."""
        return "{name}::AbstractVector{{<:Integer}}"

    def op(self, node, view):
        """The spelling; where the types may differ, plain numbers stand without Ti."""
        op = super().op(node, view)
        if node.op == "lookup" and node.args[0].value.given:
            op = self.ops["lookup"]  # of any type of integers
            if node.args[0].value.array == "filled":
                op = self.typed_ops["int64"]["lookup"]
        if node.op == "and" and node.args[1].value == 2**32 - 1:
            op = replace(op, text=op.text.replace("{1}", "0xffffffff"))
        positions = {"shl": (1,), "shr": (1,)}.get(node.op, (0, 1) if op.prec == 10 else ())
        for k in positions:
            # Distances and comparisons take any integer type: a plain literal widens nothing.
            if node.args[k].op == "const" and node.args[k].value < 2**63:
                op = replace(op, text=op.text.replace(f"{{{k}}}", str(node.args[k].value)))
        return op

    # -- texts for the template ------------------------------------------------------------

    def signature(self, f):
        """Name, arguments, result and type parameter."""
        if f.receiver:
            return julia_methods.signature(self, f)
        return self.signature_of(f, f.name, f.inputs, self._element(f), f.given_tables(""))

    def static_parameter(self, form, one, T):
        """Its value is known of its type."""
        return f"::Val{{{one.name}}}"

    def fitted(self, function):
        """The number of a static size, which is an Int64 mostly, is made one of the index type, and
        members of a type of a code base are converted unless it says that they have that."""
        fitted = super().fitted(function)
        if any(g.native is not None for g in function.groups):
            from lego_emit.emit.natives import converted

            others = ("", *DECLARED.keys() - {str(function.index_type)})
            fitted = converted(fitted, lambda node: Node("int", (node,)), others)
        static = {p.name for p in function.static}
        if not static or function.index_type == "int64":
            return fitted

        def whole(node):
            if node.op == "var" and node.value in static:
                return Node("cast", (node,), function.index_type)
            if node.op == "round":
                return of_round(node, whole)
            return node.over(tuple(map(whole, node.args))) if node.args else node

        return replace(
            fitted,
            body=tuple((name, whole(node)) for name, node in fitted.body),
            outputs=tuple((name, whole(node)) for name, node in fitted.outputs),
            asserted=tuple(map(whole, fitted.asserted)),
        )

    def arguments_of(self, f):
        """The arguments as a docstring names them."""
        static = {p.name for p in f.static}
        return [f"Val({n})" if n in static else n for n in f.inputs]

    def signature_of(self, f, name, names, result, tables=()):
        """The head of a function of these of its parameters, and of tables."""
        wide = self.wider.get(f.index_type)
        texts = dict(zip(f.inputs, f.parameters("{name}::{T}"), strict=True))
        arguments = f",{BREAK}".join([*(texts[n] for n in names), *tables])
        static = [p.name for p in f.static]
        if wide and len(names) == len(static):
            arguments += f",{BREAK}" * bool(names) + f"::Type{{Ti}} = {wide[0]}"
        where = [*static, *([f"Ti<:Union{{{', '.join(wide)}}}"] if wide else [])]
        where = f" where {{{', '.join(where)}}}" if where else ""
        return f"{name}({arguments})::{result}{where}"

    def _element(self, f):
        if f.aggregate is not None:
            return f.result_type
        if len(f.outputs) == 1:
            return "Bool" if f.is_condition else f.T
        kind = f"NTuple{{{len(f.outputs)}, {f.T}}}"
        names = f",{BREAK}".join(f":{name}" for name, _ in f.outputs)
        return f"NamedTuple{{({names}),{BREAK}{kind}}}" if f.named else kind

    def promoted(self, f):
        """The method for integers of other types, or of several; "" where there are none."""
        if f.receiver:
            return julia_methods.promoted(self, f)
        return self._promoted(f, f.name, f.inputs, f.tables)

    def promoted_array(self, f):
        """That of the array form."""
        return self._promoted(f, self.array_name(f.name), self._scalars(f))

    def _promoted(self, f, name, names, tables=()):
        given = [t.name for t in tables]
        return self._promoted_with(f, name, names, [], [(self._vector(n), n) for n in given])

    def promoted_between(self, f, name, first, last):
        """That of a function with parameters before and after those of f, (text, name) each."""
        tables = [(self._vector(t.name), t.name) for t in f.tables]
        return self._promoted_with(f, name, f.inputs, [first], [*tables, *([last] if last else [])])

    def _promoted_with(self, f, name, names, before, after):
        entries = [one for one in f.entries if one.name in names]
        structs = [one for one in entries if isinstance(one, Group) and one.struct]
        vectors = sum(isinstance(one, Group) and one.open for one in entries)
        if len(entries) == len(structs) + len(f.static) + vectors and (
            len(structs) < 2 or f.index_type not in self.wider
        ):
            return ""
        wide = self.wider.get(f.index_type, (self.types[f.index_type],))[-1]
        widened = [*before, *(self.widened(one, wide, f) for one in entries), *after]
        arguments = [text for text, _ in widened]
        values = [text for _, text in widened]
        comma = f",{BREAK}"
        head, call = f"{name}({comma.join(arguments)})", f"{name}({comma.join(values)})"
        return self.short_function(head, call)

    def short_function(self, head, call):
        """A function that gives a call, on one line where it fits."""
        text = f"{head} = {call}"
        if len(text) <= self.line_width:
            return self.line(text, 0)
        return f"{self.line(f'function {head}', 0)}\n    {self.line(f'return {call}', 4)}\nend"

    def widened(self, one, wide, f):
        """(a parameter of any type of integers, it in the widest one)."""
        if not isinstance(one, Group) and one.static:
            return f"{one.name}::Val", one.name
        if not isinstance(one, Group):
            return f"{one.name}::Integer", f"{wide}({one.name})"
        if one.native is not None:
            return self.group_parameter("{name}::{T}", one, ""), one.name
        if one.open:
            return self._vector(one.name), one.name
        if not one.struct:
            return f"{one.name}::NTuple{{{len(one.members)}, Integer}}", f"{wide}.({one.name})"
        fields = f",{BREAK}".join(f"{one.name}.{field}" for field in one.fields)
        text = f"{one.struct}{{{wide}}}({fields})" if f.index_type in self.wider else one.name
        return f"{one.name}::{one.struct}", text

    # -- structs and arrays ----------------------------------------------------------------

    def member(self, group, place):
        """Elements count from 1."""
        return super().member(group, place if group.struct else place + 1)

    def group_parameter(self, form, group, T):
        """A parameter; of a type of a code base as that says."""
        if group.native is not None and group.native.passing:
            from lego_emit.emit.natives import filled

            return filled(group.native.passing, {"type": group.struct, "name": group.name})
        return super().group_parameter(form, group, T)

    def group_type(self, group, T):
        """A struct, of a type parameter where the function has one, or a tuple."""
        if group.open:
            return f"Vector{{{T}}}"
        if not group.struct:
            return f"NTuple{{{len(group.members)}, {T}}}"
        return f"{group.struct}{{Ti}}" if T == "Ti" else group.struct

    def aggregate(self, group, texts, T):
        """A call of the struct's constructor, or a tuple."""
        if group.native is not None and group.native.make:
            from lego_emit.emit.natives import made

            return made(group, texts, f",{BREAK}".join)
        end = "," * (len(texts) == 1 and not group.struct)
        kind = self.group_type(group, T) if group.struct else ""
        return f"{kind}({f',{BREAK}'.join(texts)}{end})"

    def argument(self, module):
        """What gives the text of a struct of a module, or of a tuple, as an argument."""

        def argument(group, texts):
            if group.native is not None and not group.native.make:
                from lego_emit.emit.natives import is_plain, unmade

                if not is_plain(group, self.native_member):
                    raise unmade(group)
            text = self.inline(self.aggregate(group, texts, ""))
            text = f"[{', '.join(texts)}]" if group.open else text
            return f"{module}." * bool(group.struct and module) + text

        return argument

    def parts(self, function, value):
        """The texts of the outputs in the value of a call."""
        whole = function.aggregate
        if whole is not None and whole.native is not None:
            from lego_emit.emit.natives import of_value

            return of_value(whole, value, self)
        if whole is not None and whole.struct:
            return [f"{value}.{name}" for name in whole.fields]
        if whole is not None and whole.open:
            return [f"get({value}, {k + 1}, 0)" for k in range(len(function.outputs))]
        return [f"{value}[{k + 1}]" for k in range(len(function.outputs))]

    def struct_text(self, group, index_type):
        """The definition of a struct, and what makes one of integers of several types."""
        wide, kind, own = self.wider.get(index_type, ()), self.types[index_type], group.struct
        head = f"{own}{{Ti<:Union{{{', '.join(wide)}}}}}" if wide else own
        prepared = group.made is None and group.native is None
        kinds = group.types if prepared else ("",) * len(group.fields)
        fields = "".join(
            f"    {name}::{kind if own in ('', str(index_type)) else own.replace('ui', 'UI')}\n"
            for name, own in zip(group.fields, kinds, strict=True)
        )
        text = f"struct {head}\n{fields}end"
        if not wide or prepared:
            return text
        arguments = f",{BREAK}".join(f"{name}::Integer" for name in group.fields)
        values = f",{BREAK}".join(group.fields)
        made = self.line(f"{own}({arguments}) ={BREAK}{own}{{{wide[-1]}}}({values})", 0)
        return f"{text}\n\n{made}"

    def _vector(self, name):
        return f"{name}::AbstractVector{{<:Integer}}"

    def made(self, f):
        """The statement that makes the array that a function fills."""
        count = self.expression(f.aggregate.count, f)
        return f"{f.fills} = Vector{{{f.T}}}(undef, {count})"

    def returned(self, f):
        """The result: the value, or the tuple of values."""
        if f.fills:
            return f.fills
        texts = [self.expression(node, f) for _, node in f.outputs]
        if f.aggregate is not None:
            return self.aggregate(f.aggregate, texts, f.T)
        if f.named:
            texts = [f"{name} = {x}" for (name, _), x in zip(f.outputs, texts, strict=True)]
        return texts[0] if len(texts) == 1 else f"({f',{BREAK}'.join(texts)})"

    def docstring(self, f):
        """The call, the summary, and everything else as a list."""
        outputs = ", ".join(name for name, _ in f.outputs)
        struct = f.aggregate.struct if f.aggregate is not None else ""
        listed = struct or (len(f.outputs) > 1 and f.aggregate is None)
        results = f" -> {struct}({'; ' * f.named}{outputs})" if listed else ""
        lines = f.doc_lines("`{}`")
        summary = [lines.pop(0), ""] if f.summary else []
        arrays = [g.held or g.name for g in f.groups if g.spoken and not g.struct]
        arrays += ["result"] * (
            not struct and f.aggregate is not None and bool(f.header.promised())
        )
        lines += [f"Here `{n}[0]` is the first element of `{n}`, as in Python" for n in arrays[:1]]
        text = [*summary, *(f"- {x}" for x in lines)]
        names = self.arguments_of(f) + [t.name for t in f.tables]
        if f.receiver:
            name, own = julia_methods.called(f)
            return self.docstring_lines(f, name, [*own, *names], results, text)
        return self.docstring_lines(f, f.name, names, results, text)

    def docstring_lines(self, f, name, names, results, text):
        """The lines of a docstring: the call, and a text."""
        arguments = ", ".join(names)
        if f.index_type in self.wider and len(names) == len(f.static) and not f.receiver:
            arguments += ", " * bool(names)
            arguments += f"Ti = {self.wider[f.index_type][0]}"
        wrapped = [
            part
            for line in text
            for part in textwrap.wrap(
                line,
                self.line_width,
                subsequent_indent="  " * line.startswith("- "),
                break_long_words=False,
                break_on_hyphens=False,
            )
            or [""]
        ]
        lines = [f"    {name}({arguments}){results}", "", *wrapped]
        while not lines[-1]:
            lines.pop()
        return [
            x.replace("\\", "\\\\").replace("$", "\\$").replace('"""', '\\"' * 3) for x in lines
        ]

    def dividing(self):
        """With helpers whose products are of a wider type."""
        from lego_emit.printers.prepared_texts import julia

        return julia(self)

    # -- the array form --------------------------------------------------------------------

    def array_signature(self, f):
        """The head of the function that gives a function's results over its ':' axes."""
        return self.signature_of(f, self.array_name(f.name), self._scalars(f), self.array_kind(f))

    def array_kind(self, f):
        """The type of that array."""
        kinds = {1: "Vector{{{0}}}", 2: "Matrix{{{0}}}"}
        kind = kinds.get(len(f.axes), f"Array{{{{{{0}},{BREAK}{len(f.axes)}}}}}")
        return kind.format(self._element(f))

    def array_lines(self, f):
        """The statements that make the array."""
        if not f.steps:
            return [f"    {self.comprehension(f)}"]
        from lego_emit.printers.step_forms import julia

        return julia(self, f)

    def comprehension(self, f):
        """The statement that makes the array of calls."""
        call = f"{f.name}({f',{BREAK}'.join(f.inputs)})"
        loops = f",{BREAK}".join(f"{n} in {self.range_of(e, f)}" for n, e in f.axes)
        text = f"return [{call} for {loops}]"
        if len(text) + 4 > self.line_width:
            start = " " * len("    return [")
            call, loops = self.line(call, len(start)), self.line(f"for {loops}]", len(start))
            text = f"return [{call}\n{start}{loops}"
        return text.replace(BREAK, " ")

    def array_docstring(self, f):
        """The call, and which element is which."""
        axes, ranges = [name for name, _ in f.axes], f.header.ranges
        places = axes if getattr(f, "base", 0) else [f"{name} + 1" for name in axes]
        call = f"{f.name}({', '.join(f.inputs)})"
        text = (
            f"`{f.name}` for all {', '.join(ranges[name] for name in axes)}: element "
            f"`[{', '.join(places)}]` is `{call}`."
        )
        if len(axes) > 1:
            order = ", ".join(str(k) for k in range(len(axes), 0, -1))
            text += (
                f" The first axis is the fastest in memory; `permutedims(values, ({order}))` puts "
                f"`values` in row-major order, the last axis fastest."
            )
        return self.docstring_lines(f, self.array_name(f.name), self._scalars(f), "", [text])

    def _scalars(self, f):
        axes = {name for name, _ in f.axes}
        return [name for name in f.inputs if name not in axes]

    def range_of(self, extent, f):
        """The values of an axis, in the index type."""
        base = f.base
        first, one = (self.literal(n, f.index_type) for n in (base, 1))
        if extent.op == "const":
            return f"{first}:{self.literal(extent.value - 1 + base, f.index_type)}"
        last = self.expression(extent, f, 0 if base else self.ops["sub"].needs[0])
        if base and extent.op == "var":
            return f"{first}:{last}"
        return f"{first}:({last if base else f'{last} - {one}'})"
