"""The layouts in a function: which expressions are one, and what it is with symbols for the function's own names."""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable
from typing import Any

from ..algebra.block import Block
from ..arith.expr import symbols
from ..emit.kernel_language import KernelLanguage
from ..errors import KernelError, LegoError
from .flow import (
    Either,
    Gone,
    Known,
    any_of,
    assigned,
    own_names,
    own_names_within,
    shared_names,
    steady,
)
from .outer import MISSING, Outer, comes_from, is_ours, number
from .source import Source

MAKERS = ("OrderBy", "TileBy", "TileOrderBy", "inverse")
ASKED = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop,
    ast.cmpop, ast.boolop, ast.expr_context,
)  # fmt: skip
METHODS = (
    "apply",
    "at",
    "inv",
    "in_bounds",
    "mask",
    "alignment",
    "contiguity",
    "descriptor",
)


class Layouts:
    """What is known of a function's names while its statements are read."""

    def __init__(self, source: Source, language: KernelLanguage):
        self.source, self.language = source, language
        self.own = own_names(source.node)
        self.outer = Outer(source.function, self.own)
        self.layouts = Known()
        self.ever: dict[str, int] = {}  # names that are layouts anywhere, and in which line
        self.shown: dict[str, str] = {}  # all layouts that had a name
        args = source.node.args
        arguments = (*args.posonlyargs, *args.args, *args.kwonlyargs)
        arguments += (*filter(None, (args.vararg, args.kwarg)),)
        self.bound: set[str] = {a.arg for a in arguments}
        self.shared, moved = shared_names(source.node)
        self.moved = moved & self.own
        self.assigned = {name for one in source.node.body for name in assigned(one)}
        told = {
            a.arg
            for a in arguments
            if language.is_constant(ast.unparse(a.annotation) if a.annotation else "")
        }
        calls = language.calls_by_value
        kept = self.own if calls else steady(source.node, self._is_harmless)
        self._constants = (told & kept) - self.assigned - self.moved
        self._kept: list[Block] = []  # that no other takes the identity of one
        self.evaluated: list[ast.expr] = []
        self.exact = True  # whether nothing is watched but what was taken, and functions of the function's own
        self._parents = {
            child: parent
            for parent in ast.walk(source.node)
            for child in ast.iter_child_nodes(parent)
        }

    def _index(self, node: ast.expr) -> Any:
        """The value of an index expression; None of any other."""
        raise NotImplementedError

    def _is_harmless(self, call: ast.Call) -> bool:
        """Whether a call makes a layout, or asks one."""
        func = call.func
        if isinstance(func, ast.Subscript):
            func = func.value
        asks = isinstance(func, ast.Attribute) and func.attr in (*METHODS, *MAKERS)
        return asks or is_ours(self.outer.value(func))

    def _known(self, node: ast.expr) -> Any:
        """What a name is known as: a layout, one that is gone, or nothing."""
        if isinstance(node, ast.Name) and node.id in self.own:
            if node.id in self.ever and node.id not in self.layouts:
                return Gone("is a layout elsewhere, and none here")
            return self.layouts.get(node.id)
        value = self.outer.value(node)
        if isinstance(value, Block) and (names := self._roots(node) & self.shared):
            raise self.source.error(
                node,
                f"{names.pop()} is declared global or nonlocal: a layout is read before the kernel runs",
            )
        parent = self._parents.get(node)
        parts: Any = value.values() if isinstance(value, dict) else value
        if isinstance(parent, ast.Subscript) and isinstance(value, list | tuple | dict):
            if any(isinstance(one, Block) for one in parts):
                if parent.value is node and not isinstance(parent.slice, ast.Constant):
                    raise self.source.error(
                        parent, "which layout this is must be a constant, as in [0]"
                    )
        return value if isinstance(value, Block) else None

    @staticmethod
    def _roots(node: ast.AST) -> set[str]:
        return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}

    def _layout(self, node: ast.expr) -> Block | Either | None:
        """The layout that an expression is; None of any other."""
        match node:
            case ast.Name() | ast.Attribute() | ast.Subscript(slice=ast.Constant()):
                known = self._known(node)
                if isinstance(known, Gone):
                    raise self.source.error(node, f"{self.source.said(node)} {known.why}")
                if isinstance(known, Block) and not (
                    isinstance(node, ast.Name) and node.id in self.own
                ):
                    self.shown.setdefault(self.source.said(node), self._repr(known))
                    return self.outer.take(node, known)
                return known
            case ast.IfExp(test=test, body=body, orelse=orelse):
                yes, no = self._layout(body), self._layout(orelse)
                if yes is None and no is None:
                    return None
                asked = self._test(test)
                if yes is None or no is None or asked is None:
                    raise self.source.error(
                        node, "which layout this is must be known when the kernel is compiled"
                    )
                return Either(*asked, yes, no)
            case ast.Call(func=func):
                if isinstance(func, ast.Attribute) and func.attr in (*METHODS, "step"):
                    return None
                if isinstance(func, ast.Attribute) and self._index(func.value) is not None:
                    return None
                return self._evaluated(node) if self._makes_layouts(node) else None
            case ast.BinOp(left=left, right=right):
                both = any_of(self._layout(left)) and any_of(self._layout(right))
                return self._evaluated(node) if both else None
        return None

    def _makes_layouts(self, node: ast.expr) -> bool:
        """Whether a call's outermost function is one that makes layouts, or a method of a layout."""
        match node:
            case ast.Call(func=func):
                return self._makes_layouts(func)
            case ast.Subscript(value=base):
                return self._index(node) is None and self._makes_layouts(base)
            case ast.Attribute(value=base) if not isinstance(self.outer.value(node), Block):
                found = self.outer.value(node)
                return is_ours(found) or self._makes_layouts(base) or any_of(self._known(base))
            case ast.Name(id=name) if name not in self.own:
                return is_ours(self.outer.named(name))
        return any_of(self._known(node)) or self._layout(node) is not None

    def _evaluated(self, node: ast.expr) -> Block | Either | None:
        """What an expression of layouts is, with symbols for the kernel's own names."""
        self.evaluated.append(node)
        values: dict[str, Any] = {}
        chosen: Either | None = None
        inner = own_names_within(node)
        for one in ast.walk(node):
            if not isinstance(one, ast.Name) or one.id in values or one.id in inner:
                continue
            if one.id not in self.own:
                found = self.outer.named(one.id)
                if found is MISSING:
                    raise self.source.error(
                        one,
                        f"{one.id} is not bound yet: a layout is made when the kernel is decorated",
                    )
                self._steady_outside(one)
                if not isinstance(found, type | types.ModuleType | types.BuiltinFunctionType):
                    self.outer.take(one, found)
                whole = number(found)
                values[one.id] = found if whole is None else whole
                continue
            known = self._layout(one)
            if known is None and one.id not in self.bound:
                raise self.source.error(one, f"{one.id} is assigned nowhere before")
            if one.id in self.moved:
                raise self.source.error(
                    one,
                    f"{one.id} is assigned by a function within the kernel, at a time that is not known",
                )
            if isinstance(known, Either):
                chosen = known
            values[one.id] = symbols(one.id) if known is None else known
        if chosen is not None:
            raise self.source.error(
                node, "a layout of one that is one of two: make both, and choose between them"
            )
        for one in ast.walk(node):
            if isinstance(one, ast.Attribute | ast.Subscript) and not self._roots(one) & self.own:
                found = self.outer.value(one)
                stays = isinstance(found, type | types.ModuleType | types.BuiltinFunctionType)
                stays |= comes_from(found, ("lego_emit", self.language.package))
                changes = isinstance(found, Block) or number(found) is not None or not stays
                if found is not MISSING and changes:
                    self.outer.take(one, found)
            if isinstance(one, ast.Call) and not self._is_evaluated(one):
                raise self.source.error(
                    one,
                    f"{self.source.said(one)} would be called once, when the kernel is decorated: give its value "
                    "a name before",
                )
            if isinstance(one, ast.IfExp) and {*self._own_in(one.test)} - inner:
                return self._either(node, one)
            if isinstance(one, ast.BoolOp | ast.Compare | ast.comprehension) or (
                isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not)
            ):
                if names := sorted({*self._own_in(one)} - inner):
                    raise self.source.error(
                        node,
                        f"{', '.join(sorted(names))} {'are' if names[1:] else 'is'} asked for while a layout is "
                        "made, and known when the kernel runs; make both layouts, and choose by if .. else ..",
                    )
        tree = ast.Expression(_Divisions(self._is_cdiv).visit(_copied(node)))
        code = compile(ast.fix_missing_locations(tree), self.source.file, "eval")
        space = {**values, "__cdiv": _cdiv}
        with self._placed(node):
            try:
                found = eval(code, space)
            except LegoError:
                raise
            except Exception as error:
                self._check_parts(node, inner)
                raise LegoError(f"{type(error).__name__}: {error}") from error
        if not isinstance(found, Block):
            return None
        self._kept.append(found)
        self.exact &= self.outer.watch_made(found, space)
        return found

    def _check_parts(self, node: ast.expr, inner: set[str]) -> None:
        """Raises KernelError where a layout is made of a part of what is no layout, as in Row(x.shape[0], 4)."""
        for one in ast.walk(node):
            part: ast.AST = one
            while isinstance(part, ast.Attribute | ast.Subscript | ast.Starred):
                part = part.value
            if part is not one and isinstance(part, ast.Name) and part.id in self.own - inner:
                if self._layout(part) is None:
                    names = "its parts names" if isinstance(one, ast.Starred) else "it a name"
                    raise self.source.error(
                        one,
                        f"{self.source.said(one)} is known when the kernel runs: give {names} before",
                    )

    def _is_evaluated(self, node: ast.Call) -> bool:
        """Whether a call within an expression of layouts may be made when the kernel is decorated."""
        if self._is_harmless(node) or self._makes_layouts(node):
            return True
        found = self.outer.value(node.func)
        return isinstance(found, types.FunctionType) or comes_from(found, (self.language.package,))

    def _steady_outside(self, node: ast.Name) -> None:
        if node.id in self.shared:
            raise self.source.error(
                node,
                f"{node.id} is declared global or nonlocal: a layout is read before the kernel runs",
            )

    def _own_in(self, node: ast.AST) -> list[str]:
        """The kernel's own names in a tree that are no layouts."""
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in self.own}
        names -= own_names_within(node)
        return sorted(name for name in names if not any_of(self.layouts.get(name)))

    def _either(self, node: ast.expr, choice: ast.IfExp) -> Either | None:
        """What an expression is with either part of a choice in it."""
        asked = self._test(choice.test)
        yes, no = (
            self._evaluated(_replaced(node, choice, part)) for part in (choice.body, choice.orelse)
        )
        if yes is None or no is None:
            return None
        if asked is None:
            raise self.source.error(
                choice, "which layout this is must be known when the kernel is compiled"
            )
        return Either(*asked, yes, no)

    def _test(self, node: ast.expr) -> tuple[str, frozenset[str]] | None:
        """(a condition's text, its own names) where it can be asked for again wherever they stay."""
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in self.own}
        plain = all(isinstance(n, ASKED) for n in ast.walk(node))
        if not plain or not names <= self._constants:
            return None
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id not in self.own:
                found = self.outer.named(one.id)
                if one.id in self.shared or (number(found) is None and not isinstance(found, bool)):
                    return None
                self.outer.take(one, found)
        return self.source.said(node), frozenset(names)

    @staticmethod
    def _repr(layout: Block | Either) -> str:
        if isinstance(layout, Either):
            return f"{layout.yes!r} if {layout.test} else {layout.no!r}"
        return repr(layout)

    def _literal(self, node: ast.expr) -> int | None:
        """An integer that is known now: a number, or a name around the function."""
        match node:
            case ast.Constant(value=bool()):
                return None
            case ast.Constant(value=int(value)):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self._literal(operand)
                return None if found is None else -found
            case ast.Name() | ast.Attribute():
                if self._roots(node) & self.shared:
                    return None  # the function itself assigns it
                found = self.outer.value(node)
                return None if number(found) is None else number(self.outer.take(node, found))
        return None

    def _is_cdiv(self, func: ast.expr) -> bool:
        found = self.outer.value(func)
        return getattr(found, "__name__", "") == "cdiv" and comes_from(
            found, (self.language.package,)
        )

    def _placed(self, node: ast.AST) -> Any:
        return _Placed(self.source, node)


class _Placed:
    """Errors of ours with the place of a node in front."""

    def __init__(self, source: Source, node: ast.AST):
        self.source, self.node = source, node

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, _: Any) -> None:
        placed = isinstance(error, KernelError) and "\n" in str(error)
        if isinstance(error, LegoError) and not placed:
            raise self.source.error(self.node, str(error)) from None


class _Divisions(ast.NodeTransformer):
    """cdiv of the kernel language, as it is of symbols."""

    def __init__(self, is_cdiv: Callable[[ast.expr], bool]):
        self.is_cdiv = is_cdiv

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call, its arguments first."""
        self.generic_visit(node)
        if self.is_cdiv(node.func):
            node.func = ast.copy_location(ast.Name("__cdiv", ast.Load()), node.func)
        return node


def _cdiv(a: Any, b: Any) -> Any:
    return (a + b - 1) // b


def _replaced(node: Any, old: ast.expr, new: ast.expr) -> Any:
    """A tree with another one in place of a part of it, which the rest is shared with."""
    if node is old:
        return new
    made = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            parts = [_replaced(v, old, new) if isinstance(v, ast.AST) else v for v in value]
            setattr(made, name, parts)
        elif isinstance(value, ast.AST):
            setattr(made, name, _replaced(value, old, new))
    return made


def _copied(node: ast.expr) -> ast.expr:
    made = ast.parse(ast.unparse(node), mode="eval").body
    return ast.copy_location(made, node)
