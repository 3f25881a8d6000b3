"""The options of generate() and render(), each declared once.

A field of `Options` is a keyword of generate(), one of `RenderOptions` a keyword of render(). Its
`Option` says what it does and what kind of value it takes. Everything else is made from the fields, here
and in lego_emit/surfaces.py: the signatures and docstrings, the command line's options, the keys of lego-emit.toml, the arguments of
CMake's lego_emit_generate(), what a golden case or a text in the playground may say, and the tables of
the documentation. To add an option, add a field, and use its value where it matters.

    >>> Options(effort=4).effort
    4
    >>> beside({"assume": ["M < 9"], "M": 3})
    {'assume': ['M < 9']}
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ParamSpec, Self, TypeVar

from .arith.given import as_list
from .emit.naming import ARRAYS, RESULTS, STYLES, Naming
from .emit.registry import DEFAULT
from .errors import (
    AssumptionError,
    OptionError,
    TargetError,
    TemplateError,
    did_you_mean,
    short_repr,
)
from .ir.cost import COSTS, MEASURED, MOST_EFFORT, Cost, cost_model
from .numeric import as_integer, is_integer

Rewrite = Callable[[str, dict[str, Any]], Any]
P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


# -- checks of values in Python: each gives the value that is kept, and raises a LegoError ----------


def _flag(name: str, value: Any) -> bool:
    plain = value.item() if type(value).__module__ == "numpy" and not value.shape else value
    if not isinstance(plain, bool):
        raise OptionError(f"{name} is {short_repr(value)}; give True or False")
    return plain


def _effort(name: str, value: Any) -> int:
    number = None if isinstance(value, bool) else as_integer(value)
    if number is None or not 1 <= number <= MOST_EFFORT:
        raise TargetError(f"{name} is {short_repr(value)}; give a number from 1 to {MOST_EFFORT}")
    return number


def _assume(name: str, value: Any) -> Any:
    return as_list(value)


def _ranges(name: str, value: Any) -> Any:
    """Raises AssumptionError. It stays as it is given: it is read where symbols are."""
    if value is not None:
        from .arith.given_ranges import parse_ranges

        parse_ranges(value)
    return dict(value) if isinstance(value, Mapping) else value


def _sizes(name: str, value: Any) -> dict[str, int]:
    from .trace.follow import check_sizes

    return check_sizes(value)


def _group(name: str, value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not all(isinstance(n, str) for n in value):
        raise OptionError(
            f"group is {short_repr(value)}; give a dict such as {{'size': Coord(M, N)}}"
        )
    return dict(value)


def _param_types(name: str, value: Any) -> dict[str, str]:
    from .ir.index_types import DECLARED

    given = {} if value is None else value
    if not isinstance(given, Mapping) or not all(isinstance(n, str) for n in given):
        raise OptionError(
            f"param_types is {short_repr(value)}; give a dict such as {{'i': 'int16'}}"
        )
    for of, kind in given.items():
        if not isinstance(kind, str) or kind not in DECLARED:
            raise OptionError(
                f"param_types: {of} is {short_repr(kind)}; there are {', '.join(DECLARED)}."
                f"{did_you_mean(str(kind), DECLARED)}"
            )
    return dict(given)


def _bind(name: str, value: Any) -> dict[str, str]:
    given = {} if value is None else value
    if not isinstance(given, Mapping) or not all(isinstance(n, str) for n in given):
        raise OptionError(f"bind is {short_repr(value)}; give a dict such as {{'z': 'blockIdx.z'}}")
    for of, text in given.items():
        if not isinstance(text, str) or not text.strip() or "\n" in text:
            raise OptionError(
                f"bind: {of} is {short_repr(text)}; give a text on one line, as 'blockIdx.z'"
            )
    return dict(given)


def _methods(name: str, value: Any) -> bool | tuple[str, ...]:
    """Names of parameters, or whether a layout's sizes are meant. Raises OptionError."""
    if value is None or value is False:
        return False
    from .emit.methods import held_names

    return held_names(value)


def _walk(name: str, value: Any) -> str | tuple[str, ...]:
    """logical, memory, or names of indices. Raises OptionError."""
    given = [value] if isinstance(value, str) else value or ()
    known = isinstance(given, list | tuple) and all(isinstance(n, str) for n in given)
    names = [n for text in given for n in text.replace(",", " ").split()] if known else []
    if not known or len({*names}) < len(names) or (value and not names):
        raise OptionError(
            f"walk is {short_repr(value)}; give logical, memory, or names of indices, each once, such as ['i', 'j']"
        )
    return names[0] if names in (["logical"], ["memory"]) else tuple(names)


def _split(name: str, value: Any) -> bool | str:
    if value is None or isinstance(value, bool):
        return bool(value)
    if isinstance(value, str) and value in ("", "true"):
        return value == "true"
    if not isinstance(value, str) or value != "tables":
        raise OptionError(f"split is {short_repr(value)}; give True or 'tables'")
    return "tables"


def _prepare(name: str, value: Any) -> bool | list[str]:
    if value is False or value in ((), []):
        return False
    from .lower.prepared import names_of

    return names_of(value)


def _types(name: str, value: Any) -> dict[str, Any]:
    """By the names of structs a NativeType each. Raises OptionError."""
    if value is None or value == {}:
        return {}
    from .types import natives

    return natives(value)


def _index_types(name: str, value: Any) -> list[str] | None:
    if value is None:
        return None
    names = value.split(",") if isinstance(value, str) else value
    names = [*names] if isinstance(names, list | tuple) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise TargetError(
            f"no index type {short_repr(value)}; give auto, a type such as int32, or a list"
        )
    if "auto" in names[1:]:
        raise TargetError(
            "of several index types auto is the first; the others name their functions"
        )
    return [*dict.fromkeys(names)]


def _base(name: str, value: Any) -> Any:
    named = value.items() if isinstance(value, Mapping) else [("", value)]
    for of, number in named:
        if not is_integer(number) or number not in (0, 1):
            what = f"base of {of}" if of else "base"
            raise TargetError(f"{what} is {short_repr(number)}; indices count from 0 or from 1")
        if not isinstance(of, str):
            raise TargetError(f"base names {short_repr(of)}, which is no name; write {{'i': 1}}")
    return value


def _cost(name: str, value: Any) -> str | Cost | None:
    if not (isinstance(value, str) and value == MEASURED):
        cost_model(value)
    return value


def _header(name: str, value: Any) -> tuple[str, ...]:
    lines = value.splitlines() if isinstance(value, str) else value
    if not isinstance(lines, list | tuple) or not all(isinstance(line, str) for line in lines):
        raise TargetError(f"header={short_repr(value)}: give a text, or a list of its lines")
    return tuple(lines)


def _names(name: str, value: Any) -> list[str]:
    names = (
        re.sub(r"\s*:\s*", ":", value).replace(",", " ").split()
        if isinstance(value, str)
        else value
    )
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise TemplateError(f"names is {short_repr(names)}; write text such as 'pm pn: int64 i'")
    return [re.sub(r"\s*:\s*", ":", name) for name in names]


def _arch(name: str, value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and re.fullmatch(r"sm_\d+[af]?", value)):
        raise OptionError(
            f'{name} is {short_repr(value)}; write a GPU architecture such as "sm_90a"'
        )
    return value


def _outputs(name: str, value: Any) -> tuple[str, ...]:
    names = value.replace(",", " ").split() if isinstance(value, str) else value or ()
    known = isinstance(names, list | tuple) and all(isinstance(n, str) for n in names)
    if not known or not all(n.isidentifier() for n in names):
        raise OptionError(f"outputs is {short_repr(value)}; give names such as ('x', 'y')")
    return tuple(names)


def _where(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping | None) or not all(isinstance(t, str) for t in value or ()):
        raise AssumptionError(
            f"where is {short_repr(value)}; write a dict such as {{'tid / 4': (0, 8)}}"
        )
    return value or {}


# -- the options ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Option:
    """How one option is said and checked.

    text: what it does, in sentences of which the first is the command line's help. kind: a class of
    lego_emit.surfaces, and what it takes; None where it is said in Python alone. check: gives the value that is kept.
    flags: the command line's, where they are not --NAME. beside: whether a golden case, or a text in
    the playground, may say it beside its layout.
    """

    text: str
    kind: tuple[Any, ...] | None = None
    check: Callable[[str, Any], Any] = lambda name, value: value
    flags: tuple[str, ...] = ()
    beside: bool = False

    @property
    def help(self) -> str:
        """The first sentence of the text."""
        return f"{self.text.partition('. ')[0].rstrip('.')}."


def option(default: Any, text: str, kind: tuple[Any, ...] | None = None, **more: Any) -> Any:
    """The field of an option. text: as Option has it, over several lines."""
    said = Option(" ".join(text.split()), kind, **more)
    return field(default=default, metadata={"option": said})


def _field_of_assume() -> Any:
    return option(
        (),
        """What always holds, as "M % BM == 0". Relations between the symbols, as text or SymPy
        relations, and "pow2(n)", that n is a power of two.""",
        ("Texts", "M % BM == 0", "RELATION"), check=_assume, beside=True,
    )  # fmt: skip


def _field_of_ranges() -> Any:
    return option(
        None,
        """Ranges of parameters, half-open, as {"i": (0, "M")} for 0 <= i < M. Numbers, text, SymPy
        expressions or our symbols, None for an open end. The end of a range from 0 on is a size: at
        least 1. The range of an array bounds each of its elements.""",
        check=_ranges, beside=True,
    )  # fmt: skip


def _field_of_index_type() -> Any:
    return option(
        None,
        """auto, int32, int64, uint32 or uint64; size_t (C's languages), usize (Rust), integer
        (Fortran), index (MLIR); several as auto,int32. auto takes 32 bits where every intermediate value provably
        fits, else 64; what a size without a bound leaves open becomes a precondition in `assumptions`.
        Python's integers have no bound: there auto is int. The default, None, is auto; in CUDA C, HIP,
        OpenCL C, Metal and Triton it is 32 bits with that precondition, and 64 only where ranges, sizes
        or declared types exceed 32. A list such as ["auto", "int32"] gives each function in each type where they differ:
        NAME, and NAME_i32 beside it, with 32 bits as a precondition.""",
        ("Types",), check=_index_types, beside=True,
    )  # fmt: skip


@dataclass(frozen=True)
class _Checked:
    """What classes of options share: values are checked when one is made."""

    def __post_init__(self) -> None:
        for name, (said, _) in options_of(type(self)).items():
            object.__setattr__(self, name, said.check(name, getattr(self, name)))

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The options of these keywords. Raises OptionError for one that there is not, with the
        nearest."""
        known = options_of(cls)
        for name in given:
            if name not in known:
                raise OptionError(
                    f"no option {name!r}; there are {', '.join(known)}.{did_you_mean(str(name), known)}"
                )
        return cls(**given)

    def replace(self, **given: Any) -> Self:
        """The same with other values of some."""
        return self.of({name: getattr(self, name) for name in options_of(type(self))} | given)


@dataclass(frozen=True, kw_only=True)
class Options(_Checked):
    """The options of generate()."""

    sizes: Mapping[str, Any] | None = option(
        None,
        """Fix sizes, as M=6,N=8. In Python {"M": 6}: parameters that are numbers in the text; of a struct
        or an array member by member, {"size.x": 4}, or whole, {"size": Coord(4, 5)}. The number
        of a static size, `Static[int]`, is its default.""",
        ("Sizes",), check=_sizes, flags=("--size", "-s"),
    )  # fmt: skip
    assume: Sequence[Any] = _field_of_assume()
    ranges: Mapping[Any, Any] | None = _field_of_ranges()
    index_type: str | Sequence[str] | None = _field_of_index_type()
    base: int | Mapping[str, int] = option(
        0,
        """The number of the first index and position; names shift those alone, as g=1,local=1. 0, or 1
        for indices and positions that count from 1 (arguments and results; sizes stay, and what is
        masked is 0 then). A formula in which no layout stands, and an expression, say themselves what
        they count: nothing is shifted. {"g": 1, "local": 1} names the parameters and results that count
        from 1, of any function, and nothing else does.""",
        ("Bases",), check=_base,
    )  # fmt: skip
    index: Any = option(
        None,
        """The struct or array that a layout's index is, as a NamedTuple's class or Array[3]. NAME_apply
        takes one, called index, and NAME_inv gives one, instead of several integers.""",
    )  # fmt: skip
    group: Mapping[str, Any] | None = option(
        None,
        """Structs and arrays of symbols and free names, as {"size": Coord(M, N, K)}. The parameter size
        takes the place of M, N and K, which are called that in assume, ranges and sizes.""",
        check=_group,
    )  # fmt: skip
    param_types: Mapping[str, str] | None = option(
        None,
        """The types of parameters and results, as i=int16,return=int64. int8 .. int64, uint8 .. uint64,
        size, ssize or bool, of a struct's member at.x, of all elements of an array X, of the results return;
        I16 and the others of lego_emit.types say the same in annotations. Values are converted from and
        to the index type; without index_type, the result's type says which that is.""",
        ("Named", "i = \"int16\""), check=_param_types,
    )  # fmt: skip
    bind: Mapping[str, str] | None = option(
        None,
        """Texts that stand in the place of parameters, as size=params.screen_size,z=blockIdx.z. The
        function has no such parameter then: it is what the text is where the file is used. A struct's
        text is one with its members.""",
        ("Named", "z = \"blockIdx.z\""), check=_bind,
    )  # fmt: skip
    types: Mapping[str, Any] | None = option(
        None,
        """Structs that the code base has already, by their names in Python, as Coord=Vector3i. They are not
        defined in the file then. A name has members .x and is made of them in braces, or as the language
        does it; in Python a NativeType (lego_emit.types) says otherwise. In C, OpenCL C, C++, CUDA C, HIP,
        Metal, Rust, Fortran and Julia.""",
        ("Named", "Coord = \"Vector3i\""), check=_types,
    )  # fmt: skip
    name: str | None = option(
        None,
        """Name of the unit and its functions. Default: the function's name, "layout" for a layout,
        "index" for an expression; of several the unit's alone, by default the first one's.""",
        ("Text", "index"),
    )  # fmt: skip
    outputs: str | Sequence[str] = option(
        (),
        """Names of a function's results, as "x, y", in the order of the tuple that it returns. Without
        names they are out0, out1, ..; those of a NamedTuple or a dict have its names.""",
        ("Text", "x, y", "NAMES"), check=_outputs,
    )  # fmt: skip
    prepare: bool | Sequence[str] = option(
        False,
        """Divide by a multiplication where the divisor is fixed at launch: for all divisors that are made of
        parameters alone (True, or *), or of those that are named. NAME_prepare(those) computes NAME_sizes on
        the host, the first parameter of every function. In C's languages, Rust, Julia, JavaScript, GLSL, WGSL and Triton.""",
        ("Texts", "d1", "NAME"), check=_prepare,
    )  # fmt: skip
    wrapping: bool = option(
        False,
        """Take every operation modulo 2^32 or 2^64, as a hash does. index_type is uint32 or uint64, which
        says which; the subject is a function of integers that returns integers.""",
        ("Flag",), check=_flag, beside=True,
    )  # fmt: skip
    cost: str | Cost | None = option(
        None,
        """What the cheapest form is counted in: latency (the default of most targets), ops (the fewest
        operations), measured (the prices on this machine that `lego-emit calibrate` stored); plain for the
        formula as it is, strides times digits by division and remainder. In Python a Cost, too.""",
        ("Choice", *COSTS, MEASURED), check=_cost,
    )  # fmt: skip
    strict: bool = option(
        False,
        """Refuse what may not be meant, and otherwise only causes a warning. A name that nobody
        defined, a variable of the module, not in capitals, that is taken as an index, and a range of a
        name that the expressions do not have.""",
        ("Flag",), check=_flag,
    )  # fmt: skip
    rewrite: Rewrite | None = option(
        None,
        """A function (name, outputs) that is called once for each emitted function, between tracing and
        lowering, with its results as {output: SymPy expression} over the parameters, and returns them
        changed: such a dict, or (replacements, outputs) as sympy.cse gives them. What it returns is
        taken only where it is proven to have the same value for all parameters that the header allows:
        by the normal form, by the provers and Z3, or by looking at all values where they are few. A
        difference is shown with a counterexample; what is neither proven nor refuted is refused, too.""",
    )  # fmt: skip
    terse: bool = option(
        False,
        """Leave out the comments that say the plain formulas of results. Such a line stands above the
        body of each function that computes a result by another expression: it is the formula that
        cost="plain" emits, where it takes no more than 100 columns.""",
        ("Flag",), check=_flag,
    )  # fmt: skip
    view: bool = option(
        False,
        """With the view of a layout that holds an array. A type beside the layout's functions that
        holds an array and the layout's sizes, and reads and writes the array by the layout's index:
        NAME_view in C++ and CUDA C, with NAME_layout, a layout policy of std::mdspan, and NameView in
        Rust and Julia.""",
        ("Flag",), check=_flag, beside=True,
    )  # fmt: skip
    walk: str | Sequence[str] = option(
        (),
        """Add a walk over a layout's positions: logical, memory, or axes, as i,j. NAME_walk goes over a box of
        indices, first <= index < last, and takes no division from one to the next. logical gives the positions
        in row-major order of the indices; names of indices, the outermost first, go along those alone; memory goes
        over a range of positions and gives the index of each. It is a cursor that NAME_next advances in C, CUDA C,
        HIP and Fortran, a range in C++, an Iterator in Rust, an iterable in Julia, and a function that calls another
        one for each position in JavaScript.""",
        ("Names", "logical", "logical|memory|AXIS,.."), check=_walk, beside=True,
    )  # fmt: skip
    split: bool | str = option(
        False,
        """Add the part of the position that each index of a layout gives: true, or tables. NAME_AXIS(i) is the part
        of one axis, and its comment says how the parts are joined, by a sum or an exclusive or. Where two axes do not
        separate, the error names them. tables: each part is a constant table of at most 4,096 entries.""",
        ("Members", "tables", "true|tables"), check=_split, beside=True,
    )  # fmt: skip
    methods: bool | str | Sequence[str] = option(
        False,
        """A type that holds the sizes, with the index functions as its methods: true, or M,N. True holds the
        sizes of a layout; names, as "M, N", hold those parameters of a function. volume{M, N}(i, j) and
        .inv(flat) in C++, CUDA C, HIP and Metal, Volume { M, N }.apply(i, j) in Rust, VolumeSizes(M, N)(i, j)
        in Julia, Volume(M, N)(i, j) in Python, new Volume(M, N).apply(i, j) in JavaScript, a derived
        type in Fortran. compile() and verify() take all parameters as ever, and call the methods.""",
        ("Members", "M, N", "true|NAME,.."), check=_methods, beside=True,
    )  # fmt: skip
    header: str | Sequence[str] = option(
        (),
        "Lines for the comment at the head of the file, such as a licence.",
        check=_header,
    )  # fmt: skip
    namespace: str | None = option(
        None,
        """What the functions are in: acme::tiles, or a module's name. A namespace of C++ ("acme::tiles";
        "lego" unless given), CUDA C, HIP (global scope unless given) or Metal, the module of Fortran
        (NAME_mod) or Julia.""",
        ("Text", "acme::tiles"),
    )  # fmt: skip
    prefix: str | None = option(
        None,
        """What every public name of the file begins with: functions, types, helpers, include guard.""",
        ("Text", "acme_", "TEXT"),
    )  # fmt: skip
    names: str | None = option(
        None,
        """The style of functions, types, parameters and results: snake_case, camelCase or PascalCase.
        camelCase in JavaScript, GLSL, WGSL and Metal, elsewhere as in Python; a layout's functions in Rust are
        apply and inv, in the file's module, unless a style or a prefix is given. In PascalCase, parameters and
        results are in camelCase. The prefix is a word of them then. Names without lowercase letters, such as BM,
        stay as they are; names that become equal are refused.""",
        ("Choice", *STYLES),
    )  # fmt: skip
    arrays: str | None = option(
        None,
        """The form of a parameter that is an array: pointer, reference or std::array. In C, OpenCL C, CUDA
        C, HIP and Metal pointer, in C++ all three; a reference to an array of n unless given, in C a
        parameter int32_t X[4].""",
        ("Choice", *ARRAYS),
    )  # fmt: skip
    results: str | None = option(
        None,
        """The form of a result of more than one integer: struct, array, out or inout. struct gives an
        array's elements as a struct NAME_result. In C, OpenCL C, C++, CUDA C, HIP and Metal, out takes
        parameters that it writes to, the last ones, and inout writes to the first parameter that has the
        type of the result.""",
        ("Choice", *RESULTS),
    )  # fmt: skip
    hints: bool = option(
        False,
        """Tell the compiler the ranges of the arguments, in C, C++, CUDA C and HIP: an argument out of
        its range is undefined behavior then. Divisions need no corrections for signs. It is undefined
        also where the result is not used: a kernel that computes an index before it masks it must not
        have this.""",
        ("Flag",), check=_flag,
    )  # fmt: skip
    checks: bool = option(
        False,
        """Assert the ranges of the arguments and the preconditions, in debug builds. By assert (C, C++,
        CUDA C, HIP, Python, NumPy), debug_assert! (Rust), @assert (Julia), a RangeError unless NODE_ENV
        is production (JavaScript), an error stop where LEGO_CHECKS is defined (Fortran, which takes -cpp
        then). Release builds (-DNDEBUG, python -O, rustc -O) leave them out. A condition that the
        index type cannot compute without an overflow is not asserted.""",
        ("Flag",), check=_flag,
    )  # fmt: skip
    bmi2: bool = option(
        False,
        """Move bits by pdep and pext of x86 where that is shorter and the compiler may use them
        (-mbmi2, -C target-cpu=native), in C, C++ and Rust; elsewhere, and in constant expressions, the
        usual shifts and masks stand. In Rust such a function is not const, and has an unsafe block.""",
        ("Flag",), check=_flag,
    )  # fmt: skip
    affine: bool = option(
        False,
        """Put the affine map of each function before it, in MLIR: #NAME = affine_map<..>. A function that is
        none is refused with the reason.""",
        ("Flag",), check=_flag,
    )  # fmt: skip
    effort: int = option(
        1,
        f"""How many times the usual steps the searches for cheaper forms may take, 1 to {MOST_EFFORT}.
        More can find a shorter form of a small table, of bits that move or of many digits, and takes
        longer.""",
        ("Number", 1, MOST_EFFORT), check=_effort,
    )  # fmt: skip

    @property
    def naming(self) -> Naming:
        """How the names of the file are spelled. Raises TargetError."""
        return Naming.given(self.namespace, self.prefix, self.names, self.arrays, self.results)


@dataclass(frozen=True, kw_only=True)
class RenderOptions(_Checked):
    """The options of render(), where assume and ranges are said of names and of the layouts' sizes."""

    names: str | Sequence[str] = option(
        (),
        """The kernel's index variables, as "pm pn: int64 i". {% names pm, pn: int64, i %} in the
        template says it, too; the type is the language's usual int where none is given.""",
        ("Text", "i j: int64", "TEXT"), check=_names,
    )  # fmt: skip
    assume: Sequence[Any] = _field_of_assume()
    ranges: Mapping[Any, Any] | None = _field_of_ranges()
    index_type: str | Sequence[str] | None = _field_of_index_type()
    where: Mapping[str, Any] | None = option(
        None,
        "Ranges of expressions of the kernel's own language that stand in the template as text.",
        check=_where,
    )  # fmt: skip
    arch: str | None = option(
        None,
        """The GPU that the kernel is for, as "sm_90a": it is an error if a template asks for what that GPU
        lacks. By default nothing is refused.""",
        ("Text", "sm_90a", "TEXT"), check=_arch,
    )  # fmt: skip
    sandboxed: bool = option(
        False, "Render in Jinja's sandbox, for a template of somebody else.", ("Flag",), check=_flag
    )


@dataclass(frozen=True)
class Request(Options):
    """What generate() takes: a subject, a target and the options."""

    fn_or_layout: Any
    target: str = DEFAULT


# -- what is made of them --------------------------------------------------------------------------


def index_types_of(options: Options | RenderOptions) -> list[str | None]:
    """The index types that are asked for, one by one; None is the language's own choice."""
    return [None] if options.index_type is None else [*options.index_type]


def options_of(of: type) -> dict[str, tuple[Option, Any]]:
    """{keyword: (its option, its default)} of a class of options, in the order of the reference."""
    own = [f for f in fields(of) if "option" in f.metadata]
    return {f.name: (f.metadata["option"], f.default) for f in own}


def beside(names: Mapping[str, Any]) -> dict[str, Any]:
    """The options that the names of a golden case, or of a text in the playground, say beside its layout.
    A function of lego_emit, as `import *` brings assume(), is none."""
    return {
        name: names[name]
        for name, (said, _) in options_of(Options).items()
        if said.beside and name in names and not _is_own(names[name])
    }


def _is_own(value: Any) -> bool:
    return inspect.isfunction(value) and value.__module__.partition(".")[0] == __package__


def takes(request: Callable[P, Any]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """A decorator for a function of **given: type checkers, help() and signatures see the options."""
    return says(request)  # pyright: ignore[reportArgumentType, reportReturnType]


def says(of: type) -> Callable[[F], F]:
    """A decorator for a function of **given or **context: its signature and docstring, where OPTIONS
    stands on a line, name the options of a class."""

    def made(function: F) -> F:
        own = inspect.signature(function).parameters.values()
        named = [p for p in own if p.kind is p.POSITIONAL_OR_KEYWORD]
        rest = [p for p in own if p.kind is p.VAR_KEYWORD and p.name != "given"]
        types = {f.name: f.type for f in fields(of)}
        keywords = [
            inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=d, annotation=types[n])
            for n, (_, d) in options_of(of).items()
        ]
        returned = function.__annotations__["return"]
        signature = inspect.Signature([*named, *keywords, *rest], return_annotation=returned)
        function.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
        function.__doc__ = (function.__doc__ or "").replace("    OPTIONS\n", described(of))
        return function

    return made


def described(of: type) -> str:
    """The options as a docstring says them."""
    return "".join(
        textwrap.fill(
            f"{name}: {said.text}", 96, initial_indent="    ", subsequent_indent="        "
        )
        + "\n"
        for name, (said, _) in options_of(of).items()
    )
