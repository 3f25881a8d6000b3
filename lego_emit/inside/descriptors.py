"""Tensor descriptors in a kernel: the dims, strides and block of a layout's tensor, and where an index's block begins."""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ..algebra.block import Block
from ..algebra.masked import ExpandBy
from ..algebra.strided import Strided
from ..arith.expr import Expr
from ..errors import LayoutError
from ..kernels.placed import Placed, sizes_of
from ..kernels.slices import Axis
from ..kernels.values import Value
from ..numeric import is_integer
from ..trace.layouts import in_general
from ..trace.learn import learn_application
from ..trace.paths import here
from ..trace.same import same_map
from .expressions import Chosen
from .flow import any_of
from .masks import Masks

MOST_DIMS = 5
SAMPLES = 64  # indices of a layout of known sizes that are looked at before it is proven
ALIGNED = 16  # bytes, of a descriptor's address and strides


@dataclass(frozen=True)
class Dim:
    """A dim of a tensor. terms: (axis of the layout, factor), whose sum is the coordinate where a block begins;
    axis: that the block has along the dim, None where it is one element."""

    size: Any
    stride: Any
    terms: tuple[tuple[int, Any], ...]
    axis: int | None


@dataclass(frozen=True)
class Described:
    """A descriptor of a layout. blocks: the sizes of its block, by axis, as text."""

    placed: Placed
    layout: Block
    dims: tuple[Dim, ...]
    blocks: dict[int, str]


@dataclass(frozen=True)
class _Text:
    """An expression of the kernel's language that is no index."""

    text: str

    def __str__(self) -> str:
        return self.text


def dims_of(layout: Block, tile: Mapping[int, bool]) -> tuple[Dim, ...]:
    """The dims of a tensor whose blocks along the axes of a tile are the layout's, the contiguous one last.

    tile: whether the block has all of an axis. Then an axis that continues it is one dim with it; a block of ':8' ends
    where its axis does. Of an ExpandBy each dim is one of the tensor's own sizes.
    Raises LayoutError where no descriptor gives the layout's positions.
    """
    inner, edges = layout, dict[int, tuple[Any, Any, Any]]()
    if isinstance(layout, ExpandBy) and layout.guard == "physical":
        inner = layout.layout
        for k in range(len(layout.n)):
            rounded, own = (_product(sizes[k + 1 :]) for sizes in (layout.n_prime, layout.n))
            edges[k] = layout.n_prime[k], rounded, (layout.n[k], own)
    strides = _strides(inner)
    last = [axis for axis in tile if _same(strides[axis], 1)]
    if not last:
        raise LayoutError(
            f"{layout!r}: no ':' is along elements that follow one another, as a descriptor's last dim does"
        )
    rest = [a for a in range(len(strides)) if a not in tile and not _same(inner.dims[a], 1)]
    left, found = [*(a for a in tile if a != last[-1]), last[-1]], list[Dim]()
    ordered, left = list[Dim](), [*left, *rest]
    while left:
        axis = left.pop(0)
        size, stride, terms = inner.dims[axis], strides[axis], [(axis, Expr.of(1))]
        while tile.get(axis, True) and not _edge(edges, size, stride):
            end = Expr.of(size) * Expr.of(stride)
            more = next((a for a in left if a not in tile and _same(strides[a], end)), None)
            if more is None:
                break
            left.remove(more)
            terms.append((more, size))
            size = Expr.of(size) * Expr.of(inner.dims[more])
        if edges:
            edge = _edge(edges, size, stride)
            if edge is None:
                raise LayoutError(
                    f"{layout!r}: axis {axis} is no part of one of the sizes that it masks alone"
                )
            size, stride = edge
        made = Dim(
            size, stride, tuple(sorted(terms, key=lambda t: t[0])), axis if axis in tile else None
        )
        (found if axis in tile else ordered).append(made)
    dims = (*reversed(ordered), *found)
    if len(dims) > MOST_DIMS:
        raise LayoutError(f"{layout!r}: {len(dims)} dims; a descriptor has at most {MOST_DIMS}")
    for dim in dims[:-1]:
        number = Expr.of(dim.stride).constant
        if number is not None and number % 2:  # of elements of at most 8 bytes
            raise LayoutError(
                f"{layout!r}: rows lie {number} elements apart, and a descriptor's are multiples of {ALIGNED} "
                "bytes: pad them, as by Strided"
            )
    return dims


def _edge(edges: dict[int, tuple[Any, Any, Any]], size: Any, stride: Any) -> Any:
    """The (size, stride) of the tensor's own that a rounded one of them is, or None."""
    for rounded, apart, own in edges.values():
        if _same(rounded, size) and _same(apart, stride):
            return own
    return None


def _strides(layout: Block) -> tuple[Any, ...]:
    """The stride of each axis. Raises LayoutError where the positions are no sum of multiples of the indices."""
    said = (
        f"{layout!r}: its positions are no sum of multiples of its indices, as a descriptor's are"
    )
    if layout.masks or len(layout.results or ()) > 1:
        raise LayoutError(said)

    def at(index: Sequence[int]) -> Any:
        found = layout.apply(*index) if layout.is_concrete else in_general(layout, index)
        return Expr.of(found[0] if isinstance(found, tuple) else found)

    rank = len(layout.dims)
    origin, one = [0] * rank, [not _same(n, 1) for n in layout.dims]
    start = at(origin)
    strides = tuple(
        at([*origin[:k], 1, *origin[k + 1 :]]) - start if one[k] else Expr.of(1)
        for k in range(rank)
    )
    if start != Expr.of(0):
        raise LayoutError(f"{layout!r}: its first position is {start!r}; add it to the pointer")
    if layout.is_concrete:
        rng = random.Random(0)
        for _ in range(SAMPLES):
            index = [rng.randrange(int(n)) for n in layout.dims]
            if at(index) != sum((i * d for i, d in zip(index, strides, strict=True)), start):
                raise LayoutError(said)
    plain = [n if (n := s.constant) is not None else s for s in strides]
    positive = all(not is_integer(n) or n > 0 for n in plain)
    if not positive or not same_map(layout, Strided(tuple(layout.dims), tuple(plain))):
        raise LayoutError(f"{said}, or that is not proven: give quotients names of their own")
    return tuple(plain)


def _same(a: Any, b: Any) -> bool:
    return Expr.of(a) == Expr.of(b)


def _product(sizes: Sequence[Any]) -> Any:
    return prod((Expr.of(n) for n in sizes), start=Expr.of(1))


class Descriptors(Masks):
    """Reads descriptors, d = A.descriptor(pointer), and their loads and stores, d[p, q, :, :]."""

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.said: dict[str, bool] = {}  # what is assumed, and whether a launch can be asked
        self.needed: set[str] = (
            set()
        )  # of what is assumed, that without which a GPU copies wrong elements
        self.descriptors: dict[str, Any] = {}  # by name, as of now
        self.described: dict[str, int] = {}  # names that are one anywhere, and in which line

    def _asked_at_launch(self, names: set[str]) -> bool:
        """Whether a condition of these names holds wherever the kernel is launched, so that a launch can be asked."""
        raise NotImplementedError

    def _moved_on(self, name: str, node: ast.AST) -> None:
        super()._moved_on(name, node)
        for one, made in [*self.descriptors.items()]:
            if one == name or name in _names_of(made):
                del self.descriptors[one]

    def _has_layout(self, node: ast.AST) -> bool:
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return super()._has_layout(node) or bool(names & self.described.keys())

    def _index(self, node: ast.expr) -> Any:
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ctx) if name in self.described:
                if not isinstance(ctx, ast.Load):
                    raise self.source.error(
                        node,
                        f"a block is stored by {self.source.said(node)} = .., and nothing else beside it",
                    )
                return self._each(self._descriptor(node), lambda d: self._loaded(node, name, d))
            case ast.Call(func=ast.Attribute(value=base, attr="descriptor")) if any_of(
                self._layout(base)
            ):
                raise self.source.error(
                    node, "a descriptor is given a name of its own, as in d = A.descriptor(a)"
                )
        return super()._index(node)

    def _describes(self, node: ast.stmt, targets: list[ast.expr], value: ast.expr) -> bool:
        """Whether an assignment makes a descriptor or stores a block by one; then it is rewritten."""
        match targets, value:
            case [ast.Name(id=name)], ast.Call(func=ast.Attribute(value=base, attr="descriptor")) if (
                any_of(self._layout(base))
            ):  # fmt: skip
                self._make_descriptor(node, name, base, value)
                return True
            case [ast.Subscript(value=ast.Name(id=name)) as target], _ if name in self.described:
                self._store(node, target, name, value)
                return True
        return False

    def _make_descriptor(self, node: ast.stmt, name: str, base: ast.expr, call: ast.Call) -> None:
        forms = self.language.descriptors
        if not forms:
            raise self.source.error(
                call,
                f"{self.language.name} has no tensor descriptors; {self.source.said(base)}[..] gives positions",
            )
        if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
            raise self.source.error(
                call, "descriptor() takes the pointer to the layout's first element"
            )
        (given,) = call.args
        if self._index(given) is not None or self._has_index(given):
            raise self.source.error(
                given, "an index expression within another: give it a name before"
            )
        layout, pointer = self._layout(base), self.source.said(given)
        self._check_names(given)
        if not isinstance(given, ast.Name):
            self._check_calls(given)
        shape = self._shape_of(name, call, base)
        whole = {k: part.size is None for k, part in enumerate(shape) if isinstance(part, Axis)}

        def made(view: Placed) -> Described:
            if len(shape) != len(view._layout.dims):
                raise LayoutError(
                    f"{self.source.said(base)} has {len(view._layout.dims)} indices, {len(shape)} given"
                )
            sizes = view.dims
            blocks = {
                k: self.kernel.extent(
                    sizes[k] if shape[k].size is None else self.kernel.value(shape[k].size)
                )
                for k in whole
            }
            return Described(view, view._layout, dims_of(view._layout, whole), blocks)

        found = self._of(call, layout, base, made)

        def text(one: Described) -> _Text:
            sizes = [self._number_text(one, d.size, f"sizes[{k}]") for k, d in enumerate(one.dims)]
            block = [one.blocks[d.axis] if d.axis is not None else "1" for d in one.dims]
            parts = (", ".join(part) for part in (sizes, self._strides_text(one), block))
            return _Text(forms["make"].format(*parts, pointer=pointer))

        with self._placed(call):
            texts = self._each(found, text)
        for condition in (f"{pointer} % {ALIGNED} == 0", *self._alignments(found, pointer)):
            names = self._roots(ast.parse(condition)) - {"sizeof"}
            self.said[condition] = self._asked_at_launch(names) and self.said.get(condition, True)
            self.needed.add(condition)
        self._put(call, texts)
        self._rebound(name, node)
        self.described.setdefault(name, self.source.line(node))
        self.descriptors[name] = found

    def _shape_of(self, name: str, call: ast.Call, base: ast.expr) -> list[Any]:
        """An Axis for each ':' with which a descriptor is indexed, None for other indices."""
        found: dict[tuple[str | None, ...], ast.Subscript] = {}
        for one in ast.walk(self.source.node):
            if (
                isinstance(one, ast.Subscript)
                and isinstance(one.value, ast.Name)
                and one.value.id == name
            ):
                found.setdefault(tuple(map(self._colon, _parts(one))), one)
        if not found:
            raise self.source.error(
                call,
                f"no {name}[..] says which part of {self.source.said(base)} a block is, as {name}[i, :] does",
            )
        one, *others = found.values()
        if others:
            raise self.source.error(
                others[0],
                f"{name} has blocks of another shape in line {self.source.line(one)}: take a name for each",
            )
        parts = [self._argument(p) if self._colon(p) is not None else None for p in _parts(one)]
        if not any(isinstance(p, Axis) for p in parts):
            raise self.source.error(
                one, "a block has a ':', as in [i, :]; tl.load takes one element"
            )
        return parts

    def _colon(self, part: ast.expr) -> str | None:
        match part:
            case ast.Slice(upper=upper):
                return ":" if upper is None else f":{ast.unparse(upper)}"
            case ast.Constant(value=str(text)) if text.strip().startswith(":"):
                return text.replace(" ", "")
        return None

    def _descriptor(self, node: ast.Subscript) -> Any:
        name = self.source.said(node.value)
        if name not in self.descriptors:
            raise self.source.error(
                node,
                f"{name} is a descriptor of line {self.described[name]}, which may not have run, may run again or was "
                "made of a name that is assigned again",
            )
        return self.descriptors[name]

    def _each(self, found: Any, compute: Any) -> Any:
        """What is computed of a descriptor, or of either of two."""
        if isinstance(found, Chosen):
            return Chosen(found.test, self._each(found.yes, compute), self._each(found.no, compute))
        return compute(found)

    def _number_text(self, one: Described, number: Any, said: str) -> str:
        if (plain := Expr.of(number).constant) is not None:
            return str(plain)
        said = f"{one.placed._name}.descriptor(..).{said}"
        made = Value(one.placed._kernel, lambda: Expr.of(number), said, (), (one.layout,))
        return self._text(made.resting_on(number), bare=True)

    def _strides_text(self, one: Described) -> list[str]:
        return [self._number_text(one, d.stride, f"strides[{k}]") for k, d in enumerate(one.dims)]

    def _alignments(self, found: Any, pointer: str) -> list[str]:
        """What a launch is asked of the strides."""
        if isinstance(found, Chosen):
            yes, no = (
                " and ".join(self._alignments(x, pointer)) or "True" for x in (found.yes, found.no)
            )
            return [f"({yes}) if {found.test} else ({no})"]
        return [
            f"({n}) * sizeof({pointer}) % {ALIGNED} == 0" for n in self._strides_text(found)[:-1]
        ]

    def _offsets(self, node: ast.Subscript, one: Described) -> str:
        """Where the block of an index begins, along each dim."""
        given = [self._argument(p) if self._colon(p) is None else 0 for p in _parts(node)]
        kernel = one.placed._kernel
        values = [kernel.value(g) for g in given]
        shown = ", ".join(v.said for v in values)

        def offset(k: int, terms: Sequence[tuple[int, Any]]) -> Value:
            def make() -> Any:
                index = [Expr.of(v.make()) for v in values]
                learn_application(one.layout, index, here())
                known = here().analyzer
                return sum(
                    (index[axis] * known.rebuilt(Expr.of(factor)) for axis, factor in terms),
                    Expr.of(0),
                )

            said = f"{one.placed._name}.descriptor(..)[{shown}], offset {k}"
            return Value(kernel, make, said, values, (one.layout,)).resting_on(terms)

        with self._placed(node):
            return ", ".join(
                self._text(offset(k, [t for t in d.terms if t[0] != d.axis]), bare=True)
                for k, d in enumerate(one.dims)
            )

    def _loaded(self, node: ast.Subscript, name: str, one: Described) -> _Text:
        forms = self.language.descriptors
        text = forms["load"].format(name=name, offsets=self._offsets(node, one))
        axes = [d.axis for d in one.dims if d.axis is not None]
        if len(axes) < len(one.dims):
            text = forms["shape"].format(text, ", ".join(one.blocks[a] for a in axes))
        if axes != sorted(axes):
            order = ", ".join(str(axes.index(a)) for a in sorted(axes))
            text = forms["order"].format(text, order)
        return _Text(text)

    def _store(self, node: ast.stmt, target: ast.Subscript, name: str, value: ast.expr) -> None:
        """d[p, q, :, :] = x: the value's own text stays where it is."""
        one, forms = self._descriptor(target), self.language.descriptors
        if not isinstance(one, Described):
            raise self.source.error(
                target, f"{name} is one of two descriptors here: store within the branches of an if"
            )
        head, tail = forms["store"].format(name=name, offsets=self._offsets(target, one)), ")"
        axes = [d.axis for d in one.dims if d.axis is not None]
        if len(axes) < len(one.dims):
            block = ", ".join("1" if d.axis is None else one.blocks[d.axis] for d in one.dims)
            before, after = forms["shape"].format("\0", block).split("\0")
            head, tail = head + before, after + tail
        if axes != sorted(axes):
            order = ", ".join(str(sorted(axes).index(a)) for a in axes)
            before, after = forms["order"].format("\0", order).split("\0")
            head, tail = head + before, after + tail
        text = self.source.text.encode()
        (begin, after), (_, end) = self.source.span(target), self.source.span(node)
        equals = text.index(b"=", after) + 1
        while text[equals : equals + 1] in (b" ", b"\t"):
            equals += 1
        self._expression(value)
        self.edits += [
            (begin, equals, self._aliased(head, node)),
            (end, end, self._aliased(tail, node)),
        ]

    def _check_described(self, tree: ast.AST) -> None:
        """Raises KernelError where a descriptor is still indexed, as in a function within."""
        for one in ast.walk(tree):
            if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name):
                if one.value.id in self.described:
                    raise self.source.error(
                        one, f"{one.value.id} is a descriptor, and is indexed by the kernel alone"
                    )


def _parts(node: ast.Subscript) -> list[ast.expr]:
    return [*node.slice.elts] if isinstance(node.slice, ast.Tuple) else [node.slice]


def _names_of(found: Any) -> set[str]:
    """The kernel's names that a descriptor was made of."""
    if isinstance(found, Chosen):
        return _names_of(found.yes) | _names_of(found.no)
    return {*sizes_of(found.layout)}
