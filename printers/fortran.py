"""Fortran: one module, Fortran 2018 in free form, pure elemental procedures.

Reference: ISO/IEC 1539-1:2018, 10.1 (expressions) and 16.9 (intrinsic procedures);
https://gcc.gnu.org/onlinedocs/gfortran/Intrinsic-Procedures.html
"""

import re
import textwrap
from dataclasses import replace
from itertools import groupby, takewhile
from operator import itemgetter

from lego_emit.emit.printer import BREAK, Op, Printer, call, infix
from lego_emit.emit.static import said_of
from lego_emit.ir.index_types import DECLARED, INT32, IndexType
from lego_emit.ir.nodes import Node, const
from lego_emit.ir.program import Group
from lego_emit.ir.relations import all_of, conjuncts
from lego_emit.notation import Notation
from lego_emit.printers import fortran_methods

DEFAULT = "kind(1)"  # the kind of an integer of which nothing is said
INTEGER = IndexType("integer", *INT32.ends)  # of that kind
CONTINUED = 250  # lines of a table in one statement
SIGN = 12  # a sign may only stand before the first term: it binds as + and - do

FLOOR_DIV = """
{% set integer, kind = printer.declared(T), printer.literal(0, index_type)[1:] %}
  elemental {{ integer }} function floor_div_{{ index_type }}(a, b)
    {{ integer }}, intent(in) :: a, b
    floor_div_{{ index_type }} = a / b - merge(1{{ kind }}, 0{{ kind }}, mod(a, b) /= modulo(a, b))
  end function floor_div_{{ index_type }}
"""

# modulo(least, -1) is 0, but the processor's division traps on the quotient.
FLOOR_MOD = """
{% set integer, kind = printer.declared(T), printer.literal(0, index_type)[1:] %}
  elemental {{ integer }} function floor_mod_{{ index_type }}(a, b)
    {{ integer }}, intent(in) :: a, b
    floor_mod_{{ index_type }} = 0{{ kind }}
    if (b /= -1{{ kind }}) floor_mod_{{ index_type }} = modulo(a, b)
  end function floor_mod_{{ index_type }}
"""

ISQRT = """
{% set integer, kind = printer.declared(T), printer.literal(0, index_type)[1:] %}
  elemental {{ integer }} function isqrt_{{ index_type }}(n)
    {{ integer }}, intent(in) :: n
    {{ integer }} :: rest, root, bit
    rest = n
    root = 0{{ kind }}
    bit = shiftl(1{{ kind }}, bit_size(n) - 2)
    do while (bit /= 0{{ kind }})
      if (rest >= root + bit) then
        rest = rest - (root + bit)
        root = shiftr(root, 1) + bit
      else
        root = shiftr(root, 1)
      end if
      bit = shiftr(bit, 2)
    end do
    isqrt_{{ index_type }} = root
  end function isqrt_{{ index_type }}
"""

# Whether each operand has to have the index type's kind: it may have another one in what gives a truth
# value, and None, where the result has the operands' kind, stands for what is asked of the result.
MIXED = {
    **dict.fromkeys(("add", "sub", "mul", "div"), (None, None)),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), (False, False)),
}
KINDS = {
    **MIXED,
    **dict.fromkeys(("land", "lor"), (False, False)),
    **dict.fromkeys(("lnot", "int"), (False,)),
    **dict.fromkeys(("shl", "shr"), (None, False)),
    **dict.fromkeys(("neg", "not"), (None,)),
    "lookup": (False, False),
    "select": (False, True, True),
}

# Fortran reserves nothing, but a name that means something to the reader or that hides an
# intrinsic (16.9, iso_fortran_env) is no name for an argument.
KEYWORDS = frozenset(
    """abstract allocatable allocate assign associate asynchronous backspace bind block blockdata
    call case character class close codimension common complex concurrent contains contiguous
    continue critical cycle data deallocate default deferred dimension do double elemental else
    elseif elsewhere end enddo endfile endforall endfunction endif endinterface endmodule
    endprocedure endprogram endselect endsubroutine endtype endwhere entry enum enumerator
    equivalence error event exit extends external final flush forall form format function generic
    go goto if images implicit import impure in include inout inquire integer intent interface
    intrinsic is kind len lock logical memory module namelist non_intrinsic none nopass nullify
    only open operator optional out parameter pass pause pointer post precision print private
    procedure program protected public pure read real recursive result return rewind save select
    sequence stop submodule subroutine sync target team then to type unlock use value volatile
    wait where while write""".split()
)

INTRINSICS = frozenset(
    """abs achar acos acosh adjustl adjustr aimag aint all allocated anint any asin asinh
    associated atan atan2 atanh atomic_add atomic_and atomic_cas atomic_define atomic_fetch_add
    atomic_fetch_and atomic_fetch_or atomic_fetch_xor atomic_or atomic_ref atomic_xor bessel_j0
    bessel_j1 bessel_jn bessel_y0 bessel_y1 bessel_yn bge bgt bit_size ble blt btest ceiling char
    cmplx co_broadcast co_max co_min co_reduce co_sum command_argument_count conjg cos cosh
    coshape count cpu_time cshift date_and_time dble digits dim dot_product dprod dshiftl dshiftr
    eoshift epsilon erf erfc erfc_scaled event_query execute_command_line exp exponent
    extends_type_of failed_images findloc floor fraction gamma get_command get_command_argument
    get_environment_variable get_team huge hypot iachar iall iand iany ibclr ibits ibset ichar
    ieor image_index image_status index int int8 int16 int32 int64 ior iparity is_contiguous
    is_iostat_end is_iostat_eor ishft ishftc kind lbound lcobound leadz len len_trim lge lgt lle
    llt log log10 log_gamma logical maskl maskr matmul max maxexponent maxloc maxval merge
    merge_bits min minexponent minloc minval mod modulo move_alloc mvbits nearest new_line nint
    norm2 not null num_images out_of_range pack parity popcnt poppar precision present product
    radix random_init random_number random_seed range rank real reduce repeat reshape rrspacing
    same_type_as scale scan selected_char_kind selected_int_kind selected_real_kind
    set_exponent shape shifta shiftl shiftr sign sin sinh size spacing spread sqrt
    stopped_images storage_size sum system_clock tan tanh team_number this_image tiny trailz
    transfer transpose trim ubound ucobound unpack verify""".split()
)


class FortranPrinter(Printer):
    """Fortran's spellings; nearly all operations are intrinsic procedures."""

    loops = "lego_emit.printers.loop_forms:FORTRAN"
    switches = "lego_emit.printers.switch_forms:FORTRAN"
    walks = "lego_emit.printers.walk_forms:FORTRAN"
    steps, nearest = "divisions", 0
    copies = "lego_emit.printers.copy_fortran:CopiesInFortran"
    name = "fortran"
    aliases = ("f90",)
    title = "Fortran"
    extension = ".f90"
    lazy_select = False
    cast = "int({0}, {T})"
    widens = True
    declaration = "{name} = {expr}"
    comments = ("!",)
    remark = "!"
    notation = Notation(
        {"//": "/", "!=": "/=", "and": ".and.", "or": ".or.", "not": ".not. "},
        {
            **{"%": "mod({0}, {1})", "if": "merge({1}, {2}, {0})", "int": "merge(1, 0, {0})"},
            **{"&": "iand({0}, {1})", "|": "ior({0}, {1})", "^": "ieor({0}, {1})"},
            **{"<<": "shiftl({0}, {1})", ">>": "shifta({0}, {1})"},
        },
        # floor() takes no integers, and / rounds towards zero.
        {"//": "(({0} - modulo({0}, {1})) / {1})", "%": "modulo({0}, {1})"},
        most={31: "huge(0_int32)", 63: "huge(0_int64)"},
    )
    truths = (".false.", ".true.")
    types = {"int32": "int32", "int64": "int64", INTEGER: DEFAULT}
    declares = True
    declared_types = {
        **{kind: kind for kind in ("int8", "int16", "int32", "int64")},
        "bool": "logical",
    }
    ops = {
        "mul": infix("*", 13),
        "div": infix("/", 13),
        "add": infix("+", 12),
        "sub": infix("-", 12),
        "neg": Op("-{0}", SIGN, (SIGN + 1,)),
        "mod": call(f"mod({{0}},{BREAK}{{1}})", 2),
        "floordiv": call(f"floor_div_{{T}}({{0}},{BREAK}{{1}})", 2, "floor_div"),
        "floormod": call(f"modulo({{0}},{BREAK}{{1}})", 2),
        "floormod.careful": call(f"floor_mod_{{T}}({{0}},{BREAK}{{1}})", 2, "floor_mod"),
        "shl": call(f"shiftl({{0}},{BREAK}{{1}})", 2),
        "shr": call(f"shifta({{0}},{BREAK}{{1}})", 2),
        "and": call(f"iand({{0}},{BREAK}{{1}})", 2),
        "or": call(f"ior({{0}},{BREAK}{{1}})", 2),
        "xor": call(f"ieor({{0}},{BREAK}{{1}})", 2),
        "not": call("not({0})", 1),
        "min": call(f"min({{0}},{BREAK}{{1}})", 2),
        "max": call(f"max({{0}},{BREAK}{{1}})", 2),
        "isqrt": call("isqrt_{T}({0})", 1, "isqrt"),
        "lt": infix("<", 10, 11),
        "le": infix("<=", 10, 11),
        "gt": infix(">", 10, 11),
        "ge": infix(">=", 10, 11),
        "eq": infix("==", 10, 11),
        "ne": infix("/=", 10, 11),
        "lnot": Op(".not. {0}", 9, (10,)),
        "land": infix(".and.", 8),
        "lor": infix(".or.", 7),
        "lookup": call("{0}({1})", 2),
        "int": call(f"merge(1_{{T}},{BREAK}0_{{T}},{BREAK}{{0}})", 1),
        "select": call(f"merge({{1}},{BREAK}{{2}},{BREAK}{{0}})", 3),
    }
    helpers = {"floor_div": FLOOR_DIV, "floor_mod": FLOOR_MOD, "isqrt": ISQRT}
    template = "fortran.jinja"
    reserved = (
        KEYWORDS
        | INTRINSICS
        | {f"{h}_{t}" for h in helpers for t in ("int32", "int64", "integer")}
        | {"iso_fortran_env", "unused", "values"}
    )
    case_insensitive = True
    max_name = 63 - len("_positions")
    suffix = " &"
    outputs_are_variables = True
    has_fits = has_checks = names_limits = True
    has_structs = has_arrays = gives_arrays = has_packed = True
    fills = "argument"
    static = "constant"
    native_member, first = "%{}", 1
    receiver, asks_types = "self%{}", False
    lazy_logic = False
    namespaces = ""

    def module_name(self, unit):
        """The unit's module: a module may not share its name with one of its procedures."""
        return self.namespace or f"{unit}_mod"

    def unit_mark(self, unit):
        """The module; Fortran ignores case."""
        return f"the module {self.module_name(unit).lower()}"

    def unit_scope(self, unit):
        """The module's own name."""
        return {self.module_name(unit).lower()}

    def accessors(self, view):
        """The functions that read and write fields of words."""
        from lego_emit.printers.fortran_packed import FortranFields

        return FortranFields(self, view).lines()

    def companions(self, name):
        """The array form's name."""
        return {self.array_name(name).lower()}

    def constant_lines(self, program):
        """The constants that static sizes are."""
        lines = []
        for p in program.constants:
            integer = self.declared(self.spelled(p.type))
            lines += ["", *self.wrapped(said_of(p, self), "  !> ")]
            value = self.literal(p.default, p.type)
            lines.append(f"  {integer}, parameter, public :: {p.name} = {value}")
        return [*lines, ""] if lines else []

    def public(self, functions):
        """The names that a user of the module sees."""
        named = [f for f in functions if not f.receiver]
        own = [n for f in named for n in (f.name, self.array_name(f.name))[: 1 + bool(f.axes)]]
        own += [f.walk.names[n] for f in functions if f.walk for n in ("walk", "next")]
        return own + [n for f in functions if f.packing for n in (f.packing.get, f.packing.set)]

    def receiver_type(self, name):
        """The type that holds the sizes of a subject, called otherwise than the procedures."""
        return self.naming.type_after(self.naming.public(name), "sizes")

    def receivers(self, functions, fits):
        """The types whose methods functions are."""
        return fortran_methods.receivers(self, functions, fits)

    def object_lines(self, f):
        """The lines that declare the object of a method."""
        return fortran_methods.declared(f) if f.receiver else []

    def member(self, group, place):
        """A component, or an element: they count from 1, those of an array of any length from 0."""
        if group.native is not None:
            return super().member(group, place)
        if group.struct:
            return f"{group.name}%{group.fields[place]}"
        return f"{group.name}({place + (not group.open)})"

    def native_type(self, name):
        """The part of module::type behind the module, which is used."""
        return name.rpartition("::")[2]

    def included(self, program):
        """The use statements of types of a code base."""
        own = [n.name.rpartition("::")[::2] for n in program.natives if "::" in n.name]
        return [*program.included, *dict.fromkeys(f"use {m}, only: {name}" for m, name in own)]

    def fitted(self, function):
        """Members of a type of a code base are converted unless it says what they are."""
        made = super().fitted(function)
        if all(g.native is None for g in function.groups):
            return made
        from lego_emit.emit.natives import converted

        index = str(function.index_type)
        return converted(made, lambda node: Node("cast", (node,), index))

    def group_type(self, group, T):
        """The type of a variable."""
        if group.struct:
            return f"type({group.struct})"
        return f"{self.declared(T)}, dimension({'0:*' if group.open else len(group.members)})"

    def aggregate(self, group, texts, T):
        """The constructor of a structure or of an array with the texts of its members."""
        if group.native is not None and group.native.make:
            from lego_emit.emit.natives import made

            return made(group, texts, f",{BREAK}".join)
        together = f",{BREAK}".join(texts)
        return f"{group.struct}({together})" if group.struct else f"[{together}]"

    def struct_lines(self, group, types):
        """The definition of a derived type: neighbors of one type together."""
        pairs = groupby(zip(types, group.fields, strict=True), key=itemgetter(0))
        found = [(T, [name for _, name in own]) for T, own in pairs]
        lines = (f"{self.declared(T)} :: {f',{BREAK}'.join(own)}" for T, own in found)
        return [
            f"  type, public :: {group.struct}",
            *(f"    {self.line(line, 4)}" for line in lines),
            f"  end type {group.struct}",
        ]

    def parameter_lines(self, f, names):
        """The lines that declare parameters: those of one type together."""
        found, other = {}, []
        for one in f.entries:
            if one.name in names:
                if isinstance(one, Group) and one.native is not None and one.native.passing:
                    other.append(self.passed(one))
                    continue
                if isinstance(one, Group):
                    kind = self.group_type(one, self.member_types(one, f.index_type)[0])
                else:
                    kind = self.declared(f.type_of(one))
                found.setdefault(kind, []).append(one.name)
        texts = (f"{kind}, intent(in) :: {f',{BREAK}'.join(own)}" for kind, own in found.items())
        return [self.line(text, 4) for text in (*texts, *other)]

    def passed(self, group):
        """The declaration of a parameter of a type of a code base, as that says."""
        from lego_emit.emit.natives import filled

        return filled(group.native.passing, {"type": group.struct, "name": group.name})

    def output_lines(self, f):
        """The lines that declare several results, or an array that is filled."""
        if f.fills:
            kind = self.group_type(f.aggregate, f.output_types[0])
            return [self.line(f"{kind}, intent(out) :: {f.fills}", 4)]
        found = {}
        for name, T in f.typed_outputs:
            found.setdefault(T, []).append(name)
        texts = (
            f"{self.declared(T)}, intent(out) :: {f',{BREAK}'.join(own)}"
            for T, own in found.items()
        )
        return [self.line(text, 4) for text in texts]

    def head(self, f):
        """The line that begins a procedure: a function, or a subroutine of several results. Arrays do not
        go together with elemental."""
        names, whole = [*f.inputs, *(t.name for t in f.tables)], f.aggregate
        names = names if f.receiver is None else ["self", *names]
        groups = [g for g in (*f.groups, whole) if g is not None and not g.held]
        arrays = [g for g in groups if (g.whole or g.open) and not g.struct]
        pure = "pure" if f.tables or arrays or not (names or f.several) else "elemental"
        kind = "function" if whole in arrays else f"{self.declared(f.output_types[0])} function"
        if whole is not None and whole.struct:
            kind = f"type({whole.struct}) function"
        elif f.fills:
            kind = "subroutine"
            names.append(f.fills)
        elif whole is None and f.several:
            kind = "subroutine"
            names += [name for name, _ in f.outputs]
        return self.line(f"{pure} {kind} {f.name}({f',{BREAK}'.join(names)})", 2)

    def line(self, text, indent):
        """A statement with continuation marks where it is broken."""
        made = super().line(text, indent)
        if max(map(len, f"{' ' * indent}{made}".split("\n"))) <= self.line_width:
            return made
        # Long names or deep calls leave no room at the operators: fill the lines.
        lines, room = [""], self.line_width - indent - len(self.suffix)
        for piece in re.split(r"(?<=[ (])(?<!result\()", text.replace(BREAK, " ")):
            if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > room - 4 * (len(lines) > 1):
                lines.append("")
            lines[-1] += piece
        return f"{self.suffix}\n{' ' * (indent + 4)}".join(x.rstrip() for x in lines)

    def wrapped(self, text, prefix):
        """Comment lines of a text: the standard's 132 columns hold for comments too."""
        width = self.line_width - len(prefix)
        lines = text.split("\n")
        parts = [p for x in lines for p in textwrap.wrap(x, width, break_on_hyphens=False) or [""]]
        return [prefix + part for part in parts]

    def literal(self, value, index_type):
        """A literal with its kind."""
        # The least integer is no literal: the sign stands before a number that is too large.
        if value == (self.index_types.get(index_type) or DECLARED[index_type]).least:
            return f"not(huge({self.literal(0, index_type)}))"
        return str(value) if index_type == "integer" else f"{value}_{index_type}"

    def operands(self, node, view, needs):
        """Literals without a kind where the other operand has it. Two kinds become the wider one, so that
        a default integer, of 32 or 64 bits, changes no value; but intrinsic functions, the elements of an
        array and helpers want the very kind, which an int32 and a default integer have not together."""
        asks = KINDS.get(node.op, (True,) * len(node.args))
        exact = view.exact or (view.aggregate is not None and not view.aggregate.struct)
        asked = [exact if ask is None else ask for ask in asks]
        views = [view.requiring(ask) for ask in asked]
        texts = [self.expression(a, v, n) for a, v, n in zip(node.args, views, needs, strict=True)]
        mixed = view.mixed or any(one.bound for one in (*view.params, *view.groups))
        if node.op not in MIXED or mixed or (asked[0] and view.index_type != "int64"):
            return texts
        for k, (a, other) in enumerate(zip(node.args, reversed(node.args), strict=True)):
            if a.op == "const" != other.op and texts[k] == self.literal(a.value, view.index_type):
                texts[k] = str(a.value) if 0 <= a.value <= INT32.most else texts[k]
        return texts

    def declared(self, T):
        """The type of that kind."""
        return "integer" if T == DEFAULT else T if T == "logical" else f"integer({T})"

    def imported(self, functions, more=()):
        """The statement that brings the kinds, and more; none for default integers alone."""
        kinds = {*more, *(f.T for f in functions)}.union(*(f.declared for f in functions))
        for p in (f.packing for f in functions):
            kinds |= set[str]() if p is None else {"int64", f"int{64 if p.by_value else p.word}"}
        kinds = sorted(kinds - {DEFAULT, "bool"})
        return f"use, intrinsic :: iso_fortran_env, only: {', '.join(kinds)}" if kinds else ""

    def conversion(self, kind):
        """int(), of default kind where it says no other."""
        return call("int({0})" if kind == INTEGER else "int({0}, {T})", 1)

    def given(self, kind, text):
        """A conversion, or a comparison."""
        if kind == "bool":
            return f"({text} /= 0)"
        return self.conversion(kind).text.format(text, T=self.spelled(kind))

    def notation_of(self, index_type):
        """A file of default integers imports no other kind."""
        if index_type != INTEGER:
            return self.notation
        return replace(self.notation, most={31: f"huge({self.literal(0, INTEGER)})"})

    def fit(self, node, function):
        """A careful modulo where the processor's division may trap, and no quotient of constants, of
        which compilers warn."""
        if node.op == "div" and node.lo is not None and node.lo == node.hi:
            return const(node.lo)
        if node.op == "div" and function.static and _is_constant(node, function):
            num, den = node.args  # exact, of which no compiler warns
            rest = Node("mod", node.args, lo=0)
            return node.over((Node("sub", (num, rest), lo=0), den))
        if node.op == "floormod" and _may_trap(node, function.index_type):
            return replace(node, op="floormod.careful")
        if node.op == "lookup" and node.args[0].value.array == "fixed":  # which counts from 1
            return node.over((node.args[0], Node("add", (node.args[1], const(1)))))
        return node

    def table(self, entries, index_type):
        """A named constant; of very many digits the parts of one, for a statement has at most 255
        continuation lines."""
        T, most = self.types[index_type], INT32.most
        texts = [str(v) if v <= most else self.literal(v, index_type) for v in entries.values]
        lines = textwrap.wrap(", ".join(texts), self.line_width - 6)
        cut = range(0, len(lines), CONTINUED)
        parts = [[x.rstrip(",") for x in lines[k : k + CONTINUED]] for k in cut]
        names = [f"{entries.name}_{k}" for k in range(1, len(parts) + 1)]
        made = []
        if len(parts) > 1:
            for name, part in zip(names, parts, strict=True):
                made.append(_constant(self.declared(T), f"{name}(*)", part))
            parts = [[", ".join(names)]]
        made.append(_constant(self.declared(T), f"{entries.name}(0:{len(entries) - 1})", parts[0]))
        return "\n".join(made)

    def table_parameter(self, form, T):
        """An array that counts from 0."""
        return f"{self.declared(T)}, intent(in) :: {{name}}(0:*)"

    def op(self, node, view):
        """The spelling; default integers without a kind, as a shift's distance is."""
        op = super().op(node, view)
        if view.index_type == "integer":
            op = replace(op, text=op.text.replace("_{T}", "_integer" if op.helper else ""))
        if node.op in ("shl", "shr") and node.args[1].op == "const":
            # The distance may have any kind.
            return replace(op, text=op.text.replace("{1}", str(node.args[1].value)))
        return op

    def tests(self, f):
        """The statements of a condition on sizes: .and. may compute both of its sides, so that what is
        computed where the parts before it hold is tested in a statement of its own."""
        ((_, whole),) = f.outputs
        parts = [*conjuncts(whole)]
        plain = takewhile(lambda c: not any(a.args for a in c.args), parts)
        first = [*plain] or parts[:1]
        said = [self.expression(c, f) for c in (all_of(first), *parts[len(first) :])]
        tests = [f"if ({f.name}) " * (k > 0) + f"{f.name} = {text}" for k, text in enumerate(said)]
        return [self.line(text, 4) for text in tests]

    def checks(self, f):
        """The lines that stop where something asserted does not hold, as they stand; the preprocessor
        drops them unless LEGO_CHECKS is defined."""
        lines = []
        for condition in f.asserted:
            text = self.expression(condition, f)
            said = f'error stop "{f.name}: {self.inline(text)}"'
            if len(said) > self.line_width - 6:
                said = f'error stop "{f.name}: a precondition does not hold"'
            test = self.line(f"if (.not. ({text})) then", 4)
            lines += [f"    {test}", f"      {said}", "    end if"]
        return ["#ifdef LEGO_CHECKS", *lines, "#endif"] if lines else []

    # -- the array form --------------------------------------------------------------------

    def bounds(self, f):
        """The declared bounds of each axis: an element's subscripts are the axes' values."""
        base = getattr(f, "base", 0)
        for _, extent in f.axes:
            if extent.op == "const":
                yield f"{base}:{extent.value - 1 + base}"
            elif base:
                yield f"1:{self.expression(extent, f)}"
            else:
                yield f"0:{self.expression(extent, f, self.ops['sub'].needs[0])} - 1"

    def array_form(self, f):
        """The lines of the procedure that gives a function's results over its ':' axes."""
        axes, bounds = [name for name, _ in f.axes], list(self.bounds(f))
        scalars = [name for name in f.inputs if name not in axes]
        values = [name for name, _ in f.outputs]
        name, integer, comma = self.array_name(f.name), self.declared(f.T), f",{BREAK}"
        inputs, whole, places, first = comma.join(f.inputs), f.aggregate, comma.join(axes), []
        if whole is not None and whole.struct:
            integer = f"type({whole.struct})"
        elif whole is not None:  # its elements lie next to each other
            first, places = [str(len(values))], f":,{BREAK}{places}"
        dimension = f"dimension({comma.join([*first, *bounds])})"
        if whole is None and len(values) > 1:
            head = f"subroutine {name}({comma.join([*scalars, *values])})"
            dimension += f",{BREAK}intent(out)"
            elements = comma.join(f"{value}({places})" for value in values)
            body = f"call {f.name}({inputs},{BREAK}{elements})"
        else:
            values = ["values"]
            head = f"function {name}({comma.join(scalars)}) result(values)"
            body = f"values({places}) = {f.name}({inputs})"
        # The first axis stands last, and so innermost: it is the one that lies next in memory.
        loops = [f"{axis} = {bound}" for axis, bound in zip(axes, bounds, strict=True)][::-1]
        lines = [
            (0, f"pure {head}"),
            *((2, text) for text in self.parameter_lines(f, scalars)),
            (2, f"{integer}, {dimension} :: {comma.join(values)}"),
            (2, f"{self.declared(f.T)} :: {comma.join([*axes, *sorted(f.stepped)])}"),
        ]
        calls = [(2, f"do concurrent ({comma.join(loops)})"), (4, body), (2, "end do")]
        made = [
            [" " * indent + self.line(text, indent + 2) for indent, text in part]
            for part in (lines, calls, [(0, f"end {head.split()[0]} {name}")])
        ]
        if f.steps:
            from lego_emit.printers.step_forms import fortran

            made[1] = [line[2:] for line in fortran(self, f, "values", 4)]
        return [line for part in made for line in part]

    def docs(self, f):
        """The lines of the doc comment. Where they count elements as Python does, they say so."""
        lines, arrays = f.doxygen, [g.name for g in f.groups if not g.struct] + ["result"]
        if f.fills:
            from lego_emit.printers.c_results import told

            lines = told(f)
        text = "\n".join(lines)
        first = next((n for n in arrays if re.search(rf"\b{n}\[\d", text)), "")
        said = f"@note Here {first}[0] is the first element of {first}, as in Python"
        return [*lines, said] if first else lines

    def array_docs(self, f):
        """The lines of the array form's doc comment."""
        axes, ranges = [name for name, _ in f.axes], f.header.ranges
        whole = f.aggregate
        several = whole is None and len(f.outputs) > 1
        values = [name for name, _ in f.outputs] if several else ["values"]
        first = [] if whole is None or whole.struct else [":"]
        elements = [f"{value}({', '.join([*first, *axes])})" for value in values]
        yield f"{f.name} for all {', '.join(ranges[axis] for axis in axes)}."
        yield (
            f"@return {', '.join(elements)}; an array declared with the same bounds is indexed alike"
        )
        if len(axes) > 1 and not first:
            extents = [e for _, e in reversed(f.axes)]
            shape = [self.expression(e, f).replace(BREAK, " ") for e in extents]
            if all(e.op == "const" for e in extents):
                shape = [str(e.value) for e in extents]
            order = [str(k) for k in range(len(axes), 0, -1)]
            yield (
                f"The first axis is the fastest in memory; the row-major order, last axis fastest, "
                f"is reshape({values[0]}, [{', '.join(shape)}], order=[{', '.join(order)}])"
            )


def _is_constant(node, function):
    """Whether a value is known when the file is compiled: one of static sizes."""
    static = {p.name for p in function.static}
    return all(n.value in static for n in node.walk() if n.op == "var")


def _constant(integer, declared, lines):
    """A named constant of lines of values."""
    values = ", &\n    ".join(lines)
    return f"  {integer}, parameter :: {declared} = [{integer} :: &\n    {values}]"


def _may_trap(node, index_type):
    """Whether a modulo may meet the least integer and -1."""
    dividend, divisor = node.args
    least = dividend.lo is None or dividend.lo == index_type.least
    minus_one = (divisor.lo is None or divisor.lo <= -1) and (
        divisor.hi is None or divisor.hi >= -1
    )
    return least and minus_one
