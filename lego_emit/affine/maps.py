"""A function's affine map, where it has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import TargetError, short_repr
from ..ir.nodes import Node
from ..ir.program import Function, Program
from . import bits as bits_of
from .terms import NoAffineMap, Term, add, const, divided, mul, text

MOST_CHARACTERS = 6000  # of a map's text
MOST_STEPS = 20_000  # operations that are looked at

WHY_NOT = {
    "select": "a choice",
    "min": "a minimum",
    "max": "a maximum",
    "isqrt": "a square root",
    "lookup": "a table",
    "loop": "a loop",
    "switch": "a choice among layouts",
    "int": "a comparison",
}


@dataclass(frozen=True)
class Extent:
    """A dim or a symbol of a map: its name in the definition, and its inclusive bounds, None where
    there is none."""

    name: str
    least: int | None
    most: int | None


@dataclass(frozen=True)
class AffineMap:
    """An index function as MLIR's affine_map: its text is the map, print() it or put it into a file.

    name: of the function; dims, symbols: its indices and sizes, in the order of d0, d1, .. and s0, s1, ..;
    results: of each result its text; kind: "affine", "semi-affine" where a size multiplies an index or
    divides, "bits" where bits are digits of their own, as of an exclusive or. assumptions: what it rests
    on, beside the ranges of dims and symbols.

    floordiv rounds down and mod is never negative, also where an index is negative: the map is the function
    for all indices that the function's comment allows.

        >>> from lego_emit import Col, GroupBy
        >>> print(GroupBy([6, 4]).OrderBy(Col(6, 4)).affine_map)
        affine_map<(d0, d1) -> (d1 * 6 + d0)>
    """

    name: str
    dims: tuple[Extent, ...]
    symbols: tuple[Extent, ...]
    results: tuple[str, ...]
    kind: str
    assumptions: tuple[str, ...] = ()

    def __str__(self) -> str:
        dims = ", ".join(f"d{k}" for k in range(len(self.dims)))
        symbols = ", ".join(f"s{k}" for k in range(len(self.symbols)))
        given = f"({dims})" + (f"[{symbols}]" if symbols else "")
        return f"affine_map<{given} -> ({', '.join(self.results)})>"

    def __repr__(self) -> str:
        return f"<AffineMap {self.name}: {self.kind}, {len(str(self))} characters>"

    def memref(self, element: str = "f32") -> str:
        """The type of a buffer that the map places: memref<6x4xf32, affine_map<..>>.

        element: the type of an element. An extent that is no number is a '?'.

        mlir-opt's --normalize-memrefs makes it a buffer of physical positions; LLVM 16 and 19 do so
        wrongly where memref.load and memref.store read and write it (affine.load is right), LLVM 22 right.

        Raises TargetError where an index does not begin at 0.

            >>> from lego_emit import Col, GroupBy
            >>> GroupBy([6, 4]).OrderBy(Col(6, 4)).affine_map.memref()
            'memref<6x4xf32, affine_map<(d0, d1) -> (d1 * 6 + d0)>>'
        """
        for dim in self.dims:
            if dim.least != 0:
                raise TargetError(
                    f"{self.name}: a memref's indices begin at 0, and {dim.name} at "
                    f"{'no number' if dim.least is None else dim.least}; use the map in affine.apply"
                )
        extents = "".join("?x" if d.most is None else f"{d.most + 1}x" for d in self.dims)
        return f"memref<{extents}{element}, {self}>"


def affine_map(function: Function) -> AffineMap:
    """The map that a function is. Raises TargetError with the reason where it is none."""
    try:
        return _Reader(function).map()
    except NoAffineMap as reason:
        raise TargetError(
            f"{function.name} is no affine map: it has {reason}. Call the function itself, or in a kernel "
            "let {% index %} print its operations"
        ) from None


def with_maps(program: Program, printer: Any) -> Program:
    """The program with each function's map. Raises TargetError where one is none, or the language has none."""
    if not printer.has_maps:
        raise TargetError(
            f"{printer.title} has no affine maps; MLIR has, and affine_map() of the unit gives them"
        )
    functions = tuple(replace(f, map=affine_map(f)) for f in program.functions)
    return replace(program, functions=functions)


@dataclass(slots=True)
class _Value:
    """A value as an expression, as bits, or as both: each is made of the other when it is asked for."""

    made: Term | None
    bits: tuple[bits_of.Bit, ...] | None = None

    @property
    def term(self) -> Term:
        if self.made is None:
            assert self.bits is not None
            self.made = bits_of.as_term(self.bits)
        return self.made

    @property
    def number(self) -> int | None:
        """Its value where that is a number."""
        if self.made is not None:
            return self.made.number
        assert self.bits is not None
        constant = all(bit in (bits_of.ZERO, bits_of.ONE) for bit in self.bits)
        return sum(bool(bit) << k for k, bit in enumerate(self.bits)) if constant else None

    def digits(self, count: int | None = None) -> tuple[bits_of.Bit, ...]:
        """Its bits, so many of them."""
        if self.bits is None:
            return bits_of.of_term(self.term, count)
        return self.bits if count is None else bits_of.trimmed(self.bits[:count])


class _Reader:
    """What reads a function's operations as expressions."""

    def __init__(self, function: Function):
        self._function = function
        self._named: dict[str, _Value] = {}
        self._body: dict[str, Node] = {}
        self._known: dict[int, _Value] = {}
        self._steps = 0
        self._split = False  # whether bits are digits of their own

    def map(self) -> AffineMap:
        """The map of the whole function."""
        f = self._function
        if f.wrapping:
            raise NoAffineMap("arithmetic that wraps")
        for p in f.params:
            kind = "sym" if p.size else "dim"
            self._named[p.name] = _Value(Term(kind, (), p.name, p.lo, p.hi))
        self._body = dict(f.body)
        terms = [self._result(name, node) for name, node in f.outputs]
        params = [Extent(p.name, p.lo, p.hi) for p in f.params]
        dims = [e for e, p in zip(params, f.params, strict=True) if not p.size]
        symbols = [e for e, p in zip(params, f.params, strict=True) if p.size]
        names = {e.name: f"d{k}" for k, e in enumerate(dims)}
        names |= {e.name: f"s{k}" for k, e in enumerate(symbols)}
        results = tuple(text(t, names) for t in terms)
        kind = "semi-affine" if any(t.is_semi for t in terms) else "affine"
        kind = "bits" if self._split and kind == "affine" else kind
        found = AffineMap(f.name, tuple(dims), tuple(symbols), results, kind, f.assumptions)
        if (length := len(str(found))) > MOST_CHARACTERS:
            raise NoAffineMap(f"{length:,} characters as one, more than {MOST_CHARACTERS:,}")
        return found

    def _result(self, name: str, node: Node) -> Term:
        """The expression of an output; of its plain formula, where it is computed otherwise."""
        try:
            return self._value(node).term
        except NoAffineMap:
            for of, formula in self._function.formulas:
                if of == name:
                    try:
                        return self._value(formula).term
                    except NoAffineMap:
                        break
            raise

    def _value(self, node: Node) -> _Value:
        if node.op == "const":
            return _Value(const(node.value))
        if node.op == "var":
            if node.value not in self._named:
                self._named[node.value] = self._value(self._body[node.value])
            return self._named[node.value]
        if id(node) not in self._known:
            if (why := WHY_NOT.get(node.op)) is not None:
                raise NoAffineMap(why)
            self._steps += 1
            if self._steps > MOST_STEPS:
                raise NoAffineMap(f"more than {MOST_STEPS:,} operations")
            self._known[id(node)] = self._operation(node, [self._value(a) for a in node.args])
        return self._known[id(node)]

    def _operation(self, node: Node, args: Sequence[_Value]) -> _Value:
        a, *rest = args
        b = rest[0] if rest else a
        match node.op:
            case "add":
                return self._sum(a, b)
            case "sub":
                return _Value(add(a.term, mul(b.term, const(-1))))
            case "neg":
                return _Value(mul(a.term, const(-1)))
            case "not":
                return _Value(add(mul(a.term, const(-1)), const(-1)))
            case "mul":
                return self._product(a, b)
            case "div" | "floordiv" | "mod" | "floormod":
                return self._divided(node, a, b)
            case "shl" | "shr":
                if (by := b.number) is None:
                    raise NoAffineMap("a shift by what is no number")
                power = _Value(const(1 << by))
                return self._product(a, power) if node.op == "shl" else self._quotient(a, power)
            case "and" | "or" | "xor":
                return self._joined(node.op, a, b)
            case _:
                raise NoAffineMap(f"an operation {short_repr(node.op)}")

    def _sum(self, a: _Value, b: _Value) -> _Value:
        if a.bits is not None or b.bits is not None:
            try:
                first, second = a.digits(), b.digits()
            except NoAffineMap:
                pass
            else:
                if bits_of.disjoint(first, second):
                    return _Value(None, bits_of.joined("or", first, second))
        return _Value(add(a.term, b.term))

    def _product(self, a: _Value, b: _Value) -> _Value:
        for value, by in ((a, b), (b, a)):
            number = by.number
            if value.bits is None or number is None or number <= 0:
                continue
            shifts = [k for k in range(number.bit_length()) if number >> k & 1]
            parts = [(*[bits_of.ZERO] * k, *value.bits) for k in shifts]
            total: Sequence[bits_of.Bit] = ()
            for part in parts:
                if not bits_of.disjoint(total, part) or len(part) > bits_of.MOST:
                    break
                total = bits_of.joined("or", total, part)
            else:
                return _Value(None, tuple(total))
        return _Value(mul(a.term, b.term))

    def _divided(self, node: Node, a: _Value, b: _Value) -> _Value:
        low = b.term.lo if node.args[1].lo is None else node.args[1].lo
        if node.op.startswith("floor") and (low is None or low < 1):
            raise NoAffineMap("a divisor that may be negative")
        if node.op in ("div", "floordiv"):
            return self._quotient(a, b)
        number = b.number
        if a.bits is not None and number is not None and number & (number - 1) == 0:
            return _Value(None, a.digits(number.bit_length() - 1))
        return _Value(divided("mod", a.term, b.term))

    def _quotient(self, a: _Value, b: _Value) -> _Value:
        number = b.number
        if a.bits is not None and number is not None and number & (number - 1) == 0:
            return _Value(None, a.bits[number.bit_length() - 1 :])
        return _Value(divided("floordiv", a.term, b.term))

    def _joined(self, op: str, a: _Value, b: _Value) -> _Value:
        count = None
        if op == "and":
            masks = [n for v in (a, b) if (n := v.number) is not None and n >= 0]
            count = min(masks).bit_length() if masks else None
        bits = bits_of.joined(op, a.digits(count), b.digits(count))
        self._split |= op != "and" or sum(1 for _ in bits_of.runs(bits)) > 1
        return _Value(None, bits)
