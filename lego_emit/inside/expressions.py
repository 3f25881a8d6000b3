"""The index expressions in a function, and their texts."""

from __future__ import annotations

import ast
import builtins
import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..algebra.block import is_bundle, is_packed
from ..emit.emit import emit
from ..emit.kernel_language import KernelLanguage
from ..errors import LegoError, did_you_mean
from ..kernels.names import fresh
from ..kernels.placed import Placed, placed, sizes_of
from ..kernels.slices import Axis
from ..kernels.spelling import NoExpression
from ..kernels.texts import MARKED
from ..kernels.values import Several, Test, Value
from .flow import Either, Gone, Known, any_of, own_names_within
from .layouts import METHODS, Layouts
from .names import OwnNames
from .outer import MISSING, comes_from, is_ours, makes_layouts, tables_in
from .source import Source
from .widening import CONVERTING, loaded

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
AT_ONCE = (sum, min, max, any, all, list, tuple, set, sorted, dict)
PURE = (
    len,
    min,
    max,
    abs,
    int,
    bool,
    divmod,
    sum,
    round,
    range,
)  # that may be called again, or not
LONG = 240  # characters of an index expression that stands in the kernel
PARTS = ("size", "physical_size", "dims")
# Around what stands there no brackets are needed.
ENCLOSING = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Call, ast.keyword, ast.Return, ast.Expr, ast.NamedExpr,
)  # fmt: skip
OPERATORS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
}


@dataclass(frozen=True)
class Chosen:
    """Index expressions of a layout that is one or another."""

    test: str
    yes: Any
    no: Any


class Expressions(Layouts):
    """Reads expressions, and keeps what is to stand in their place."""

    def __init__(
        self,
        source: Source,
        language: KernelLanguage,
        assumed: Sequence[Any],
        ranges: Mapping[str, Any],
        index_type: str | None,
    ):
        super().__init__(source, language)
        self.edits: list[tuple[int, int, str]] = []
        self.helpers: dict[str, str] = {}  # functions beside the kernel, and their modules' texts
        self.vectors: set[str] = set()  # names of arrays that have an axis
        self.plain: dict[str, int] = {}  # names that are given other values than layouts, and where
        loads = language.loads
        self.kernel = OwnNames(
            language,
            self.own,
            loaded(source.node, loads) if loads else self.own,
            index_type or language.index_type,
            assumed,
            ranges,
            {},
        )

    def _declare(self, name: str, node: ast.AST) -> None:
        if name in self.kernel.printer.reserved:
            self.kernel.reassigned(name)
            return  # a local name of the language's own module: its aliases are asked for
        try:
            self.kernel.declare(name)
        except LegoError as error:
            raise self.source.error(node, str(error)) from None

    def _rebound(self, name: str, node: ast.AST) -> None:
        """A name is given a value that is no layout."""
        if name in self.ever:
            raise self.source.error(
                node,
                f"{name} is a layout in line {self.ever[name]}, and another value here: take another name",
            )
        self.plain.setdefault(name, self.source.line(node))
        self._moved_on(name, node)

    def _moved_on(self, name: str, node: ast.AST) -> None:
        self.bound.add(name)
        self.vectors.discard(name)
        self.layouts.forget(name, f"is assigned again in line {self.source.line(node)}")
        self.kernel.sizes.discard(name)
        self.kernel.programs.discard(name)
        self.kernel.counters.discard(name)
        self._declare(name, node)

    def _replace(self, node: ast.AST, text: str) -> None:
        self.edits.append((*self.source.span(node), text))

    def _expression(self, node: ast.AST) -> None:
        """Replaces the index expressions in a tree."""
        if isinstance(node, COMPREHENSIONS):
            self._comprehension(node)
            return
        if isinstance(node, ast.Lambda | ast.JoinedStr) and self._has_layout(node):
            what = "a text" if isinstance(node, ast.JoinedStr) else "a function that runs later"
            raise self.source.error(
                node, f"a layout within {what}: give the position a name before"
            )
        if isinstance(node, ast.expr):
            found = self._index(node)
            if found is not None:
                self._put(node, found)
                return
            if any_of(layout := self._layout(node) if not isinstance(node, ast.BinOp) else None):
                text = self.source.said(node)
                raise self.source.error(
                    node,
                    f"{text} is a layout, {layout!r}, and is gone when the kernel runs: index it, as in "
                    f"{text}[..], {text}.inv(..), {text}.size",
                )
        if (base := _base_of(node)) is not None:
            self._check_helper(base)
        if isinstance(node, ast.NamedExpr):
            taken = self._taken(node.value)
            self._expression(node.value)
            self._rebound(node.target.id, node)
            self._know_positions(node.target, taken)
            if self._may_be_skipped(node):
                for held in _positions(taken):
                    held.lost = (
                        "its index is taken under a condition: take it in a statement before"
                    )
            return
        for child in ast.iter_child_nodes(node):
            self._expression(child)

    def _may_be_skipped(self, node: ast.AST) -> bool:
        """Whether an expression is a part of another that may be done without it."""
        while isinstance(above := self._parents.get(node), ast.expr | ast.comprehension):
            match above:
                case ast.BoolOp(values=[first, *_]) | ast.IfExp(test=first):
                    skipped = node is not first
                case ast.Compare(left=left, comparators=[first, *_]):
                    skipped = node not in (left, first)
                case _:
                    skipped = isinstance(above, (ast.comprehension, ast.Lambda, *COMPREHENSIONS))
            if skipped:
                return True
            node = above
        return False

    def _taken(self, value: ast.expr) -> Any:
        """What an expression is, if the index of a position may be in it."""
        takes = any(isinstance(one, ast.Attribute) and one.attr == "inv" for one in ast.walk(value))
        return self._index(value) if takes else None

    def _know_positions(self, target: ast.expr, taken: Any) -> None:
        """Names are an index of positions, of which in_bounds asks whether they are any."""
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._know_positions(part, taken)
        elif isinstance(target, ast.Name) and target.id in self.kernel.names:
            self.kernel.names[target.id].positions = _positions(taken)

    def _check_helper(self, node: ast.expr, name: str | None = None) -> None:
        """Raises KernelError where a call's result is used as a layout, and its function does not say that it is
        one. name: what is given the result."""
        found: Any = self.outer.value(node.func) if isinstance(node, ast.Call) else None
        if not makes_layouts(found):
            return
        if name is not None:
            bases = map(_base_of, ast.walk(self.source.node))
            if not any(isinstance(base, ast.Name) and base.id == name for base in bases):
                return
        raise self.source.error(
            node,
            f"{found.__qualname__} makes a layout and does not say so: write def {found.__name__}(..) -> Block, with "
            "from lego_emit.algebra.block import Block",
        )

    def _check_kind(self, node: ast.expr) -> None:
        """Raises KernelError where packed fields, or what is several functions, is used as a layout is."""
        value = self.outer.value(node)
        said, kind = self.source.said(node), type(value).__name__
        if is_packed(value):
            raise self.source.error(
                node,
                f"{said} is {kind}, fields of words: {said}.layout[..] is a field's position, of which the kernel takes "
                "word and bits, or call the functions that generate() prints",
            )
        if is_bundle(value):
            raise self.source.error(
                node,
                f"{said} is {kind}, which is several functions and no layout: call those that generate() prints",
            )

    def _has_layout(self, node: ast.AST) -> bool:
        """Whether a layout is named or made in a tree, but by the tree's own names."""
        inner = own_names_within(node)
        for one in ast.walk(node):
            if isinstance(one, ast.Name | ast.Attribute) and not self._roots(one) & inner:
                if self._known(one) is not None:
                    return True
            if isinstance(one, ast.Call) and is_ours(self.outer.value(one.func)):
                return True
        return False

    def _comprehension(self, node: Any) -> None:
        """A comprehension's names are its own while it runs; those of := are the function's."""
        first, *others = node.generators
        self._expression(first.iter)
        walrus = [n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
        if self._has_layout(node):
            parent = self._parents.get(node)
            if isinstance(node, ast.GeneratorExp) and not (
                isinstance(parent, ast.Call) and self.outer.value(parent.func) in AT_ONCE
            ):
                raise self.source.error(
                    node, "a layout within a generator, which runs later: make a list, as in [..]"
                )
            layouts, bound = Known(self.layouts), {*self.bound}
            own = sorted(own_names_within(node))
            for name in own:
                if name in self.layouts:
                    self.layouts.lose(name, "is another name within the comprehension")
                self.layouts.forget(name, "is another name within the comprehension")
                self._declare(name, node)
                self.bound.add(name)
            for part in (*(g.iter for g in others), *(c for g in node.generators for c in g.ifs)):
                self._expression(part)
            for part in ("key", "value", "elt"):
                if (value := getattr(node, part, None)) is not None:
                    self._expression(value)
            self.layouts, self.bound = layouts, bound
            for name in own:
                self._declare(name, node)
        for name in walrus:
            self._rebound(name, node)

    def _put(self, node: ast.expr, found: Any) -> None:
        """Writes a value in place of a node."""
        with self._placed(node):
            text, tight = self._spelled(found)
        text = self._aliased(text, node)
        lines = "\n" * self.source.lines_of(node)
        parent = self._parents.get(node)
        tight = tight and not (isinstance(parent, ast.Attribute) and text.isdecimal())
        enclosed = isinstance(parent, ENCLOSING) or (
            isinstance(parent, ast.Subscript) and parent.slice is node
        )
        if lines or not (tight or enclosed):
            text = f"({text}{lines})"
        self._replace(node, text)

    def _index(self, node: ast.expr) -> Any:
        """The value of an index expression, of a layout's size or of a part of these; None of any
        other."""
        match node:
            case ast.Subscript(value=base, slice=key):
                if any_of(layout := self._layout(base)):
                    parts = key.elts if isinstance(key, ast.Tuple) else [key]
                    return self._asked(node, layout, base, "apply", parts)
                several = self._index(base)
                if several is None:
                    self._check_kind(base)
                    return None
                return self._part(node, several, key)
            case ast.Attribute(value=base, attr=attr) if attr in PARTS:
                if any_of(layout := self._layout(base)):
                    return self._of(node, layout, base, lambda p: getattr(p, attr))
            case ast.Call(func=ast.Attribute(value=base, attr=attr)) if attr in METHODS:
                if any_of(layout := self._layout(base)):
                    if node.keywords:
                        raise self.source.error(node, f"{attr}() takes indices alone")
                    return self._asked(node, layout, base, attr, node.args)
                self._check_kind(base)
            case ast.Call(func=ast.Attribute(value=base, attr="step"), keywords=keywords):
                found = self._index(base)
                if found is not None:
                    return self._step(node, found, keywords)
        return None

    def _part(self, node: ast.Subscript, several: Any, key: ast.expr) -> Any:
        if isinstance(several, Chosen):
            return Chosen(
                several.test, self._part(node, several.yes, key), self._part(node, several.no, key)
            )
        place = self._literal(key)
        if not isinstance(several, tuple) or place is None:
            raise self.source.error(key, "the part of an index is taken by a number, as in [0]")
        if not -len(several) <= place < len(several):
            raise self.source.error(key, f"there are {len(several)} parts, and no [{place}]")
        return several[place]

    def _step(self, node: ast.AST, found: Any, keywords: list[ast.keyword]) -> Any:
        if isinstance(found, Chosen):
            yes, no = (self._step(node, x, keywords) for x in (found.yes, found.no))
            return Chosen(found.test, yes, no)
        deltas = {str(k.arg): self._literal(k.value) for k in keywords}
        if not deltas or None in deltas.values() or not isinstance(found, Value):
            raise self.source.error(node, "step() takes names and numbers, as in step(k=1)")
        with self._placed(node):
            return found.step(**deltas)

    def _asked(
        self, node: ast.expr, layout: Any, base: ast.expr, method: str, parts: Sequence[ast.expr]
    ) -> Any:
        if axes := sum(map(self._is_slice, parts)):
            for part in parts:
                if self._is_slice(part) or not self._is_vector(part, axes):
                    continue
                said = self.source.said(part)
                way = (
                    f"write {said}[:]" if isinstance(part, ast.Name) else "give it a name, rows[:]"
                )
                raise self.source.error(
                    part,
                    f"{said} is an array, whose axis would be that of the ':' beside it: {way} for an axis of its own",
                )
        return self._of(
            node,
            layout,
            base,
            lambda p: getattr(p, method)(*(self._argument(part) for part in parts)),
        )

    def _of(self, node: ast.expr, layout: Any, base: ast.expr, compute: Any) -> Any:
        """What is computed of a layout as a kernel sees it."""
        if isinstance(layout, Either):
            yes, no = (self._of(node, x, base, compute) for x in (layout.yes, layout.no))
            return Chosen(layout.test, yes, no)
        name = self.source.said(base)
        for size in sizes_of(layout):
            if size not in self.own or size not in self.bound:
                raise self.source.error(
                    base, f"{name} has the size {size}, which is no name of the kernel's here"
                )
            self.kernel.size(size)
        for table in tables_in(layout):
            if table not in self.own:
                self.exact = False  # no text of the function's names it
            found = self.outer.named(table) is not MISSING
            if not (table in self.bound if table in self.own else found):
                raise self.source.error(
                    base, f"{name} reads the table {table}, which is no name of the kernel's here"
                )
        with self._placed(node):
            found = compute(placed(self.kernel, name, layout))
        if isinstance(found, Placed) or found is None:
            raise self.source.error(node, f"{name} is no layout of index functions")
        return found

    @staticmethod
    def _is_slice(node: ast.expr) -> bool:
        """Whether an index has an axis of its own: ":", ":8" or rows[:]."""
        match node:
            case ast.Slice() | ast.Subscript(value=ast.Name(), slice=ast.Slice(None, None, None)):
                return True
            case ast.Constant(value=str(text)):
                return text.strip().startswith(":")
        return False

    def _is_vector(self, node: ast.expr, axes: int = 0) -> bool:
        """Whether a value is an array of one axis: what arange() of the language gives, or a slice, and what is
        computed of these element by element. axes: those of ':' beside it, before which it may have an axis of its
        own, as in rows[:, None]."""
        match node:
            case ast.Name(id=name):
                return name in self.vectors
            case ast.BinOp(left=left, right=right):
                return self._is_vector(left, axes) or self._is_vector(right, axes)
            case ast.UnaryOp(operand=operand):
                return self._is_vector(operand, axes)
            case ast.Compare(left=left, comparators=others):
                return any(self._is_vector(one, axes) for one in (left, *others))
            case ast.IfExp(body=yes, orelse=no):
                return self._is_vector(yes, axes) or self._is_vector(no, axes)
            case ast.Subscript(value=base, slice=key) if self._layout(base) is None:
                places = key.elts if isinstance(key, ast.Tuple) else [key]
                if not axes and isinstance(key, ast.Tuple):
                    return False  # of what axes, is seen where it is an index
                new = [isinstance(k, ast.Constant) and k.value is None for k in places]
                return any(isinstance(k, ast.Slice) for k in places) and new != [
                    False,
                    *[True] * axes,
                ]
            case ast.Call(func=func, args=args):
                return self._gives_vector(func, args, axes)
        return False

    def _gives_vector(self, func: ast.expr, args: list[ast.expr], axes: int) -> bool:
        """Whether a call gives an array of one axis."""
        found, language = self.outer.value(func), self.language
        if isinstance(func, ast.Attribute) and func.attr in CONVERTING and found is MISSING:
            return self._is_vector(func.value, axes)
        name = getattr(found, "__name__", "")
        if not comes_from(found, (language.package,)):
            return False
        if name == "arange":
            return True
        each = name in (*language.loads, *language.pure, *CONVERTING, "load", "gather")
        return each and any(self._is_vector(one, axes) for one in args)

    def _argument(self, node: ast.expr) -> Any:
        """An index as a kernel sees it."""
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                if step is not None or (lower is not None and self._literal(lower) != 0):
                    raise self.source.error(
                        node, "write ':' for all of an axis, or ':8' for 8 indices from 0 on"
                    )
                return Axis(None if upper is None else self._argument(upper))
            case ast.Constant(value=str(text)) if text.strip().startswith(":"):
                size = text.strip()[1:].strip()
                return Axis(int(size) if size.isdecimal() else size or None)
            case ast.Constant(value=value) if value is Ellipsis or isinstance(
                value, str | float | bool
            ):
                raise self.source.error(node, f"{value!r} is no index")
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                raise self.source.error(
                    node, f"{self.source.said(node)} is a condition, and no index"
                )
            case ast.Subscript(value=ast.Name(), slice=ast.Slice(None, None, None)) if (
                self._layout(node.value) is None
            ):
                self._check_names(node)
                return f"{self.source.said(node.value)}[:]"  # a vector of the kernel's own, along an axis
            case ast.Starred():
                raise self.source.error(node, "write the indices one by one")
        if (whole := self._literal(node)) is not None:
            return whole
        if (found := self._index(node)) is not None:
            if not isinstance(found, Value):
                raise self.source.error(
                    node, "an index of several values, or of one of two layouts"
                )
            return found
        if isinstance(node, ast.BinOp) and (op := OPERATORS.get(type(node.op))) is not None:
            if self._has_index(node):
                one, other = self._argument(node.left), self._argument(node.right)
                return op(self.kernel.value(one), self.kernel.value(other))
        if self._has_index(node):
            raise self.source.error(
                node, "an index expression within another: give it a name before"
            )
        self._check_names(node)
        self._check_calls(node)
        with self._placed(node):
            return self.kernel.value(self.source.said(node))

    def _has_index(self, node: ast.expr) -> bool:
        return any(
            isinstance(one, ast.expr) and one is not node and self._index(one) is not None
            for one in ast.walk(node)
        )

    def _check_names(self, node: ast.expr) -> None:
        """An index of names that there are."""
        inner = own_names_within(node)
        for one in ast.walk(node):
            if not isinstance(one, ast.Name) or not isinstance(one.ctx, ast.Load):
                continue
            if one.id in inner:
                continue
            if one.id in self.own:
                if any_of(self._known(one)) or isinstance(self._known(one), Gone):
                    self._expression(one)
                if one.id not in self.bound:
                    raise self.source.error(one, f"{one.id} is assigned nowhere before")
            elif self.outer.named(one.id) is MISSING:
                raise self.source.error(
                    one, f"{one.id} is no name of the kernel's, and none around it."
                    f"{did_you_mean(one.id, sorted(self.own))}"
                )  # fmt: skip

    def _check_calls(self, node: ast.expr) -> None:
        """An index that may be computed any number of times, at any time."""
        for one in ast.walk(node):
            again = not isinstance(one, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom)
            if isinstance(one, ast.Call):
                found = self.outer.value(one.func)
                name = one.func.attr if isinstance(one.func, ast.Attribute) else ""
                again = found in PURE or (
                    (
                        name in self.language.pure
                        or getattr(found, "__name__", "") in self.language.pure
                    )
                    and (found is MISSING or comes_from(found, (self.language.package,)))
                )
            if not again:
                raise self.source.error(
                    one,
                    f"{self.source.said(one)} is called as often as the position needs it: give it a name before",
                )

    def _called(self, values: Sequence[Value]) -> str:
        """A call of a function that returns values, which is written beside the kernel."""
        name = f"{self.source.node.name.strip('_')}_{len(self.helpers) + 1}"
        taken = {*self.source.function.__globals__, *self.kernel.types, *self.helpers}
        name = fresh(name, self.own | taken)
        call, program = self.kernel.function(name, values)
        text = emit(program, self.language.target).source
        for other, known in self.helpers.items():
            if known == text.replace(name, other):
                return call.replace(name, other, 1)
        self.helpers[name] = text
        return call

    def _spelled(self, found: Any) -> tuple[str, bool]:
        """(a value as text, whether it binds as tightly as a name)."""
        if isinstance(found, Chosen):
            yes, no = (self._text(x, bare=True) for x in (found.yes, found.no))
            if isinstance(ast.parse(yes, mode="eval").body, ast.IfExp):
                yes = f"({yes})"  # else the test would be one of its last part
            return f"({yes} if {found.test} else {no})", True
        if isinstance(found, Several):
            texts = [self._inline(x) for x in found]
            if None in texts and len(found) > 1:
                return self._called(found), True
            comma = "," * (len(found) == 1)
            return f"({', '.join(self._text(x, bare=True) for x in found)}{comma})", True
        if not isinstance(found, Value):
            return str(found), True
        text = self._inline(found)
        if text is None:
            call = self._called([found])  # of a condition it is 1 or 0
            return (f"{call} != 0", False) if isinstance(found, Test) else (call, True)
        match = MARKED.search(text)
        assert match is not None
        return match[2], bool(match[1])

    def _inline(self, found: Value) -> str | None:
        """A value as marked text; None of what a function is to compute: what is no expression, names a module, or is
        long and has parts that are used several times."""
        try:
            text = str(found)
        except NoExpression:
            if not self.language.functions:
                raise
            return None
        if not self.language.functions:
            return text
        if "math." in text:
            return None
        if len(text) > LONG and self.kernel.function("index", [found])[1].functions[0].body:
            return None
        return text

    def _text(self, found: Any, bare: bool = False) -> str:
        text, tight = self._spelled(found)
        return text if bare or tight else f"({text})"

    def _aliased(self, text: str, node: ast.AST) -> str:
        """A printed text with the names that the function's file has for the language's modules, and for Python's
        own functions."""
        for name in ("min", "max"):
            if re.search(rf"(?<![\w.]){name}\(", text) and name not in self._roots(node):
                if name in self.own or self.outer.named(name) is not getattr(builtins, name):
                    raise self.source.error(
                        node,
                        f"the index expression needs Python's {name}, and {name} is another here: rename that",
                    )
        for name, module in self.language.aliases.items():
            used = re.compile(rf"(?<![\w.]){name}\.")
            if used.search(text):
                text = used.sub(f"{self._alias(name, module, node)}.", text)
        return text

    def _alias(self, name: str, module: str, node: ast.AST) -> str:
        head, _, tail = module.partition(".")
        around = self.source.function.__globals__
        spelled = [name, *sorted(around)]
        for one in spelled:
            value = around.get(one)
            if one in self.own or not isinstance(value, types.ModuleType):
                continue
            if value.__name__ == module:
                return one
        for one in spelled:
            value = around.get(one)
            if (
                one not in self.own
                and isinstance(value, types.ModuleType)
                and value.__name__ == head
            ):
                return f"{one}.{tail}" if tail else one
        if self.language.imports:
            begin = f"import {module} as "
            for one, text in self.helpers.items():
                if text.startswith(begin):
                    return one
            one = fresh(f"_{head}", self.own | {*around, *self.kernel.types, *self.helpers})
            self.helpers[one] = f"{begin}{one}\n"
            return one
        raise self.source.error(
            node, f"the index expression needs {module}: import it in the kernel's file, as {name}"
        )


def _base_of(node: ast.AST) -> ast.expr | None:
    """What is asked as a layout is: by an index of several parts, inv() and the like."""
    match node:
        case ast.Subscript(value=base, slice=ast.Tuple()):
            return base
        case ast.Attribute(value=base, attr="inv" | "in_bounds" | "apply"):
            return base
    return None


def _positions(found: Any) -> dict[Any, None]:
    """The positions that values are of the index of. Of two layouts that have not as many, which is asked is not
    known where in_bounds stands."""
    if isinstance(found, Chosen):
        yes, no = _positions(found.yes), _positions(found.no)
        counts = [{repr(held.layout.physical_size) for held in side} for side in (yes, no)]
        if counts[0] == counts[1]:
            return yes
        for held in (*yes, *no):
            held.lost = f"{found.test} says of which layout: take the index, and ask, in the branches of an if"
        return yes | no
    parts = found if isinstance(found, Several) else [found] if isinstance(found, Value) else []
    return dict.fromkeys(held for part in parts for held in part.positions)
