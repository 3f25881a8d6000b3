"""What copy, pack and unpack give: a unit whose routine moves a whole array, that is checked, run and timed."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

from ..algebra.block import Block
from ..emit import registry
from ..emit.naming import AS_WRITTEN, Naming
from ..emit.nests import OWN, Routines, forms_of
from ..emitted import Emitted, emit_program
from ..errors import (
    LayoutError,
    LegoWarning,
    OptionError,
    TargetError,
    WidthError,
    a_type,
    brief,
    brief_methods,
    did_you_mean,
    short_repr,
)
from ..ir.grids import THREADS
from ..ir.index_types import IndexType
from ..ir.nests import (
    DESTINATION,
    ENTRIES,
    FIRST,
    LAST,
    PART,
    Abilities,
    Apply,
    Body,
    Each,
    Routine,
    Slices,
    times,
    walk,
)
from ..ir.nodes import Node, const, made
from ..ir.program import Function, Program
from ..ir.relations import greatest, names_in
from ..numeric import is_integer
from ..options import Options
from ..trace.definition import symbols_in
from ..trace.follow import TraceOptions
from .checks import check, sizes_of
from .chunks import Chunks, in_chunks
from .digits import index_space, neighbors
from .kinds import nest_of
from .pairs import check_layout, pair_of
from .pieces import Pieces, each_in_pieces, in_pieces
from .places import RESULTS, places
from .plan import CUT, Plan, plan_of
from .tiles import VECTOR, Names
from .value import followed
from .values import least, node_of

MOST_BYTES = 2**16  # of an element
WORDS = ("1", "2", "4", "8", "16")  # bytes
OWN_OF_THREADS = (
    "tile",
    PART,
    *(f"{memory}{k}" for memory in ("src", "dst", "tile") for k in WORDS),
)
TAKEN = ("assume", "ranges", "sizes", "namespace", "prefix", "header")  # options of generate()
NAMED = ("element", "name", "zero", "threads", "value", "order")
AMBIGUOUS = {
    "u8": "'uint8' or 'uint64'",
    "i8": "'int8' or 'int64'",
    "f8": "'float64'",
    "int": "'int32' or 'int64'",
    "uint": "'uint32' or 'uint64'",
    "float": "'float32' or 'float64'",
}


@brief_methods
@dataclass(frozen=True, repr=False)
class Copy(Emitted):
    """An emitted copy. plan: how it is done, as data; print it. checks: at how many sizes plan and nest were
    compared with the layouts before it was given out."""

    plan: Plan = field(default=None, compare=False, repr=False)  # type: ignore[assignment]
    checks: int = field(default=0, compare=False, repr=False)

    @property
    def name(self) -> str:
        """What the routine is called in the text."""
        return self.printer.naming.public(self.program.routines[0].name)

    def run(self, array: Any, out: Any = None, **sizes: int) -> Any:
        """The destination's memory after the copy of a flat array, places that it doesn't use being 0.

        array: the source's memory, a flat NumPy array with elements of as many bytes; out: the memory that is
        written, by default a new one of zeros; sizes: a number for each size that is a symbol.

        Raises LayoutError where lengths, types or sizes don't fit, or out shares memory with array, and
        ToolchainError where the compiler is missing.
        """
        from .running import run

        return run(self, array, out, sizes)

    def verify(
        self, on: str = "cpu", *, sizes: Mapping[str, int] | None = None, **others: Any
    ) -> Any:
        """Run the compiled routine on memory with guard bytes, and compare every place with both index functions.

        on: "cpu"; kernels of CUDA, HIP and Metal run on the host there, and those of OpenCL, GLSL and WGSL on what
        device there is. sizes: a number for each size that is a symbol; by default several are tried. Returns a
        Verified, true where everything held.

        Raises TargetError for another device.
        """
        from .running import verify

        self._check_device(on, others)
        return verify(self, sizes)

    def time(
        self,
        on: str = "cpu",
        *,
        sizes: Mapping[str, int] | None = None,
        threads: int = 1,
        **others: Any,
    ) -> Any:
        """Measure the copy beside memcpy of the same bytes in the same process: best of 7.

        on: "cpu". threads: how many share the copy, one of threads=True, and memcpy. Returns a Timed with seconds, gb_s,
        memcpy_gb_s and percent.

        Raises TargetError for another device.
        """
        from .running import time

        self._check_device(on, others)
        return time(self, sizes or {}, threads=threads)

    def _check_device(self, on: str, others: Mapping[str, Any]) -> None:
        """Raise TargetError where a device is not the host, and OptionError where something else is given."""
        known = {*signature(Emitted.verify).parameters, *signature(Emitted.time).parameters}
        if one := next((n for n in others if n not in known), ""):
            raise OptionError(
                f"{self.name}: {one} is no option; sizes are given by sizes={{'M': 8, ..}}.{did_you_mean(one, ('sizes', 'threads', 'on'))}"
            )
        if on != "cpu":
            raise TargetError(
                f"{self.name}: on is {short_repr(on)}, and copies are verified and timed on 'cpu' alone; "
                "benchmarks/gpu/kernels copies does so on a GPU"
            )


@brief
def copy(
    A: Block,
    B: Block,
    target: str = registry.DEFAULT,
    *,
    element: Any = "uint32",
    name: str = "copy",
    zero: bool = True,
    threads: bool = False,
    value: Any = None,
    order: Sequence[str] = (),
    **options: Any,
) -> Copy:
    """A routine that copies an array from one memory layout to another.

    A, B: layouts of the same index space; the routine reads the memory of A and writes that of B, of which
    each index has a place of its own. target: C, C++, Rust, Fortran, Julia, JavaScript or NumPy, or for GPUs CUDA, HIP,
    OpenCL, Metal, GLSL or WGSL. element: "uint8" .. "uint64", a number of bytes, or a NumPy dtype. zero: whether B's padding is written with zeros;
    what lies between a pitch's rows never is. threads: whether the copy can be shared out to threads: by OpenMP, or
    by Julia's threads, and in C and C++ by NAME_part, too, which moves some of NAME_parts parts; in Rust by rayon where the
    feature is on, and by NAME_part of what NAME_chunks gives, where the destination is made of rows that lie one behind the other. value: a function of an element as an unsigned integer, of 1, 2, 4 or 8 bytes, which
    gives what is written in its place: of + - * // % & | ^ ~ << >> and integers, whose arithmetic wraps, and of bytes of anything else, too; padding stays zero. order: names of sizes, in the
    order in which the routine takes them; others follow as the layouts print them. options: assume, ranges, sizes, namespace, prefix
    and header, as generate() takes them.

    Returns a Copy: str(), save(), run(), verify(), time() and plan.

    Raises LayoutError where the index spaces differ, B puts two indices in one place or has no places,
    OptionError on an element that is no number of bytes, a value that is none of these, an order of other names, or another option, TargetError for a language without copies,
    or without those that threads share.

        >>> from lego_emit import Row, TileBy, copy
        >>> copy(TileBy([2, 2], [4, 8]), Row(2, 2, 4, 8), "c").plan.is_memcpy
        False
    """
    for one in (A, B):
        check_layout("copy", one)
    element_bytes = bytes_of(element)
    printer = registry.printer(target)
    forms = forms_of(printer)
    if unknown := [option for option in options if option not in TAKEN]:
        raise OptionError(
            f"copy has no option {short_repr(unknown[0])}; it has {', '.join(NAMED)}, and of those of generate() "
            f"{', '.join(TAKEN)}.{did_you_mean(str(unknown[0]), (*NAMED, *TAKEN))}"
        )
    told, assume = Options.of(options), _listed(options.get("assume", ()))
    named = told.namespace or told.prefix
    naming = Naming.given(told.namespace, told.prefix) if named else AS_WRITTEN
    check_name(name, printer.spelling(naming))
    given = TraceOptions(options.get("sizes"), assume, ranges=_ranges(options.get("ranges")))
    known = symbols_in(A) | symbols_in(B)
    order = [order] if isinstance(order, str) else order or ()
    for size in order:
        if size not in known:
            raise OptionError(
                f"copy: order has {short_repr(size)}; give names of sizes, which are {', '.join(sorted(known)) or 'all numbers'}, "
                "in a list"
            )
    own = (*OWN, *forms.own, *(OWN_OF_THREADS if forms.abilities.threads else ()))
    own = (*own, FIRST, LAST, PART, "parts") if threads else own
    taken = [name, f"{name}_places", "T", *RESULTS, *own, FIRST, LAST, PART, *_taken(printer, ())]
    space = index_space(A, B, given, order, taken)
    made_of = None if value is None else followed(value, element_bytes, element)
    if made_of is not None and (why := forms.refuses(made_of, element_bytes)):
        raise TargetError(f"copy: {why}")
    if forms.abilities.threads and (threads or value is not None):
        what = "threads share every copy" if threads else "a copy changes no elements yet"
        raise TargetError(
            f"copy: in {printer.title} {what}; leave out {'threads' if threads else 'value'}"
        )
    if threads and forms.threads:
        raise TargetError(f"copy: {forms.threads}; leave out threads")
    for size in space.sizes:
        if not _spellings([size]).isdisjoint(map(str.lower, own)) or size.lower().startswith(
            f"{name.lower()}_"
        ):
            raise LayoutError(
                f"copy: a size is called {size}, as something of the routine is; rename it: {', '.join(own)} are taken, and "
                f"names that begin with {name}_"
            )
    plan = plan_of(space, element_bytes, zero)
    if CUT in plan.notes:
        warnings.warn(f"copy: this is memcpy; {CUT}", LegoWarning, stacklevel=3)
    try:
        function = places(space, f"{name}_places", printer, assume, forms.places_type)
        plan = replace(plan, function=function, value=made_of)
        return unit_of(plan, (A, B), target, name, naming, tuple(told.header), threads)
    except (TargetError, WidthError) as error:
        said = str(error).replace(f"{name}_places:", f"{name}:", 1)
        raise type(error)(
            said.removesuffix(f"; {error.way_out}"),
            "a copy's numbers have the type that its language has for sizes: give smaller sizes, or ranges= of them"
            * bool(error.way_out),
        ) from None


def unit_of(
    plan: Plan,
    subject: tuple[Block, Block],
    target: str,
    name: str,
    naming: Naming = AS_WRITTEN,
    header: tuple[str, ...] = (),
    threads: bool = False,
) -> Copy:
    """The unit of a plan with its function; one without digits is a loop over both index functions."""
    assert plan.function is not None
    forms = forms_of(registry.printer(target))
    function, printer = replace(plan.function, name=f"{name}_places"), registry.printer(target)
    taken, blocks = [name, *_taken(printer, plan.space.sizes)], None
    pieces: Pieces | None = None
    sizes, size, kind = plan.space.sizes, plan.element_bytes, forms.index_type
    abilities = forms.abilities
    if plan.value is not None:  # elements are changed as a register is loaded
        abilities = abilities._replace(pairs=False, segments=False, passes=False)
        if plan.value.op == ENTRIES:  # which no register looks up
            abilities = abilities._replace(kernels=False, streams=False)
    if abilities.threads:
        body, kinds, blocks = _in_threads(plan, function, taken, abilities)
    elif plan.is_affine:
        body, kinds = nest_of(plan, taken, abilities)
        if threads:
            pieces = (
                in_chunks(plan, sizes_of(plan), taken, abilities)
                if forms.has_slices
                else in_pieces(plan, taken, abilities)
            )
    else:
        body = _each(plan, function, abilities, _taken(printer, sizes))
        kinds = (_of_each(body[-1], plan.element_bytes),)
        if threads and forms.has_slices:
            raise LayoutError(
                "copy: threads each write a slice of the destination, and positions that are no sums of digits are in no "
                "rows; leave out threads"
            )
        if threads and not isinstance(body[0], Each):
            raise LayoutError(
                "copy: the padding of a layout whose positions are no sums of digits is written before all else, "
                "which threads don't share; leave out threads, or padding by zero=False"
            )
        pieces = each_in_pieces(body[0], [*sizes, *taken], size) if threads else None
    body = body if pieces is None else pieces.body
    plan = replace(plan, notes=(*plan.notes, *kinds))
    count = check(plan, body, blocks, abilities, pieces)
    registers: Body = ()
    if forms.asked is not None and plan.is_affine and plan.value is None:
        registers = _in_registers(plan, taken, forms.asked, threads)
    ends = ("source", plan.source_size), ("destination", plan.destination_size)
    functions = [_bytes(name, role, count, size, function, kind) for role, count in ends]
    if blocks is not None:
        said = f"How many blocks of {THREADS} threads are best for {name}; any number works."
        outputs = (("blocks", least(blocks, 0)),)
        functions.append(
            replace(functions[1], name=f"{name}_blocks", outputs=outputs, summary=said)
        )
    if not plan.is_affine:
        functions.append(function)
    routine = Routine(
        name, sizes, size, tuple(body), _summary(plan), node_of(plan.source_size),
        node_of(plan.destination_size), tuple(f.name for f in functions), value=plan.value,
        registers=tuple(registers),
    )  # fmt: skip
    if isinstance(pieces, Chunks):
        routine = replace(routine, slices=Slices(pieces.sliced, pieces.chunks))
    elif pieces is not None:
        parts = f"{name}_parts"
        functions.insert(2, replace(
            functions[1], name=parts, body=pieces.counted, outputs=(("parts", pieces.count),),
            summary=f"How many parts {name} has, for threads.",
        ))  # fmt: skip
        routine = replace(routine, parts=parts)
    title = f"A copy from {subject[0]!r} to {subject[1]!r}"
    program = Program(name, tuple(functions), title, routines=Routines((routine,)), header=header)
    program.check()
    unit = emit_program(program, target, subject=subject, naming=naming)
    return Copy(
        unit.source, unit.program, unit.printer, unit.fixed, unit.known, unit.subject, unit.lowered,
        plan, count,
    )  # fmt: skip


@brief
def pack(
    L: Block,
    target: str = registry.DEFAULT,
    *,
    of: Any = None,
    name: str | None = None,
    **options: Any,
) -> Copy:
    """A routine that copies a row-major array into a layout's memory.

    L: the layout. of: the sizes of the matrix that the layout's tiles are cut from, or a layout of it; by default the
    array has L's own index space. name: of the routine, pack unless the language has a function of that name. Other options are those of copy().

        >>> from lego_emit import Row, pack
        >>> pack(Row(4, 4, 8, 8), "c", of=(32, 32), element="uint8").plan.boxes[0].digits[0]
        Digit(n=4, a=256, b=256)
    """
    _check_target(target, "pack")
    pair = pair_of(L, of, "pack", options.get("sizes"))
    return copy(*pair, target, name=name_of(name, "pack", target), **options)


@brief
def unpack(
    L: Block,
    target: str = registry.DEFAULT,
    *,
    of: Any = None,
    name: str | None = None,
    **options: Any,
) -> Copy:
    """A routine that copies a layout's memory into a row-major array; as pack() otherwise.

    >>> from lego_emit import Row, unpack
    >>> print(unpack(Row(4, 4, 8, 8), target="c", of=(32, 32)).plan)
    - runs of 32 bytes
      4 (256 to 256) x 8 (8 to 32) x 4 (64 to 8) x 8 (1 to 1)
    """
    _check_target(target, "unpack")
    rows, own = pair_of(L, of, "unpack", options.get("sizes"))
    return copy(own, rows, target, name=name_of(name, "unpack", target), **options)


def way_of(A: Block, B: Block, element_bytes: int = 4) -> str:
    """How a copy is done, in a few words; nothing is emitted.

    Raises LayoutError as copy() does.

        >>> from lego_emit import Col, Row
        >>> way_of(Row(8, 8), Col(8, 8))
        'kernel of 4 registers'
    """
    plan = plan_of(index_space(A, B), element_bytes)
    if not plan.is_affine:
        return "a loop over both index functions"
    kinds = nest_of(plan)[1]
    return (
        "one run"
        if plan.is_memcpy
        else ", ".join(k for k in kinds if k.startswith(("runs", "kernel", "single")))
    )


def _check_target(target: Any, called: str) -> None:
    if not isinstance(target, str):
        raise LayoutError(
            f"{called}(layout, target) emits a routine, and target is {a_type(target)}; layout.{called}(x) moves an "
            "array"
        )


def bytes_of(element: Any) -> int:
    """The bytes of an element. Raises OptionError where it is no number of them."""
    if is_integer(element) and 1 <= element <= MOST_BYTES:
        return int(element)
    if isinstance(element, str) and element in AMBIGUOUS:
        raise OptionError(
            f"element is {element!r}, which has 8 bytes in NumPy and other sizes elsewhere; write {AMBIGUOUS[element]}"
        )
    if not is_integer(element) and element is not None:
        from ..packages import numpy as np

        try:
            found = np.dtype(element)
        except (TypeError, ValueError, SyntaxError):  # the last two of what is no type
            found = None
        if found is not None and 1 <= found.itemsize <= MOST_BYTES and not found.hasobject:
            return found.itemsize
    bits = re.fullmatch(r"[A-Za-z]+(\d+)(_\w+)?", element) if isinstance(element, str) else None
    n = int(bits[1]) if bits else 0
    said = f", {n // 8} for {n} bits," * (n % 8 == 0 < n)  # as of "f32" or "real64"
    raise OptionError(
        f"element is {short_repr(element)}; give 'uint8' .. 'uint64', a number of bytes up to {MOST_BYTES}{said or ','} "
        "or a NumPy dtype"
    )


def _listed(assume: Any) -> Sequence[Any]:
    from ..arith.given import as_list

    return as_list(assume)


def _ranges(ranges: Any) -> Any:
    from ..arith.given_ranges import parse_ranges

    return parse_ranges(ranges) if ranges else ()


def check_name(name: Any, printer: Any) -> None:
    """Raise OptionError where a routine of a language cannot be called so, or not so behind the file's prefix."""
    if isinstance(name, str) and name.isidentifier() and not _is_reserved(name, printer):
        name = printer.naming.public(name)
    if not isinstance(name, str) or not name.isidentifier() or _is_reserved(name, printer):
        raise OptionError(
            f"name is {short_repr(name)}, no name for a function in {printer.title}; write one as 'pack_tiles'"
        )


def _is_reserved(name: str, printer: Any) -> bool:
    return printer.legal_name(name) != name or name in printer.reserved_functions


def name_of(name: str | None, own: str, target: str) -> str:
    """The name that is given, or a routine's own one; pack is a function of Fortran."""
    is_taken = name is None and _is_reserved(own, registry.printer(target))
    return f"{own}_array" if is_taken else name or own


def _spellings(sizes: Sequence[str]) -> set[str]:
    """Names of sizes as a text may have them, and in lowercase."""
    local = [Naming(style="camelCase").local(name) for name in sizes]
    return {*local, *(name.lower() for name in (*sizes, *local))}


def _taken(printer: Any, sizes: Sequence[str]) -> Sequence[str]:
    return [*OWN, *printer.reserved, *printer.reserved_functions, *sorted(_spellings(sizes))]


def _bytes(
    name: str, role: str, size: Any, element_bytes: int, function: Function, kind: IndexType
) -> Function:
    """The function NAME_source_bytes, or NAME_destination_bytes, which the index type holds."""
    params = tuple(replace(p, size=True) for p in function.params if not p.axis)
    own, total = {p.name for p in params}, least(times(node_of(size), element_bytes), 0)
    of_elements = made("le", node_of(size, factors=False), greatest(kind.most))
    assumed = [c for c in function.assumed if own.issuperset(names_in(c)) and c != of_elements]
    if not is_integer(size):
        assumed.insert(0, made("le", total, greatest(kind.most)))
    elif size * element_bytes > kind.most:
        raise LayoutError(
            f"copy: the {role} has {size} elements of {element_bytes} bytes; {kind} counts no more than {kind.most}"
        )
    return Function(
        f"{name}_{role}_bytes",
        params,
        (),
        (("bytes", total),),
        kind,
        summary=f"How many bytes the {role} of {name} has.",
        assumed=tuple(assumed),
        checked=function.checked,
    )


def _summary(plan: Plan) -> str:
    """What the routine's comment begins with."""
    notes = "; ".join(plan.notes)
    what = "each element" if plan.value is None else "what is made of each element"
    return f"Copies {what} of the source to its place in the destination: {notes}."


def _in_registers(plan: Plan, taken: Sequence[str], abilities: Abilities, threads: bool) -> Body:
    """The nest of a language that has these abilities where it is asked for them; () where it uses none of them."""
    pieces = in_chunks(plan, sizes_of(plan), taken, abilities) if threads else None
    body = nest_of(plan, taken, abilities)[0] if pieces is None else pieces.body
    if not any(isinstance(s, Apply) or getattr(s, "streams", False) for s in walk(body)):
        return ()
    check(plan, body, None, abilities, pieces)
    return body


def _in_threads(
    plan: Plan, function: Function, taken: Sequence[str], abilities: Abilities
) -> tuple[Any, tuple[str, ...], Node]:
    """What threads do, how in words, and how many blocks of them there are."""
    from .grid import WORD
    from .launch import each_of, grid_of, word_of

    if plan.is_affine:
        return grid_of(plan, taken, abilities)
    *zeros, each = _each(plan, function, abilities, taken)
    if zeros:
        raise TargetError(
            f"copy: {plan.space.destination!r} pads, and its positions are no sums of digits: no thread knows which places no "
            "other one writes. Give zero=False, and clear the destination first"
        )
    word = word_of(plan.element_bytes)
    if abilities.packs and word < WORD:
        raise TargetError(
            f"copy: elements of {plan.element_bytes} bytes share words of {WORD}, and no thread knows which ones, as positions "
            f"are no sums of digits; give an element of {WORD} bytes"
        )
    parts = plan.element_bytes // word
    body, blocks = each_of(each, parts, [*plan.space.sizes, *taken], abilities)
    return body, ("a thread for each index, by both index functions",), blocks


def _each(
    plan: Plan, function: Function, abilities: Abilities, taken: Sequence[str]
) -> tuple[Any, ...]:
    """The loop over both index functions."""
    from ..check.emission import compiled
    from ..ir.nests import Ref, Zero

    space = plan.space
    extents = tuple(
        node_of(n if is_integer(n) else space.known.unsubstitute(n)) for n in space.source.dims
    )
    masked = space.source.masks or space.destination.masks
    arguments = tuple(p.name for p in function.params)
    each = Each(space.names, extents, arguments, masked, compiled(function))
    count, falls = neighbors(space) if abilities.segments and not masked else (1, "")
    if count > 1 and count * plan.element_bytes >= VECTOR:
        step = Names([*space.sizes, *space.names, *taken]).fresh("k")
        each = replace(each, count=count, falls=falls, step=step)
    elif abilities.segments and not masked:
        from .ways import ways_of

        each = replace(each, ways=ways_of(space, taken))
    if plan.pads:
        return Zero(Ref(DESTINATION, const(0)), node_of(plan.destination_size)), each
    return (each,)


def _of_each(each: Each, element_bytes: int) -> str:
    """What a loop over both index functions moves by, in words."""
    if each.ways is not None:
        block, many = " x ".join(str(n) for n in each.block if n > 1), len(each.ways.entries)
        return f"blocks of {block} by tables of {many} way{'s' * (many > 1)}"
    if each.count == 1:
        return "a loop over both index functions"
    backwards = ", some of them backwards" if each.falls else ""
    return f"runs of {each.count * element_bytes} bytes{backwards}"
