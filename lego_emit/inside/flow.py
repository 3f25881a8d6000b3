"""What is known of the names of a function while its statements are read in order: which are layouts, and until
where."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..algebra.block import Block
from ..arith.expr import Expr

NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Either:
    """One layout where a condition holds, and another elsewhere. test: as the kernel writes it; names: in it."""

    test: str
    names: frozenset[str]
    yes: Layout
    no: Layout


@dataclass(frozen=True)
class Gone:
    """A name that was a layout. why: what happened, as the end of a sentence."""

    why: str


Layout = Block | Either


def sizes_in(layout: Layout) -> set[str]:
    """The names of the kernel that a layout was made of."""
    if isinstance(layout, Either):
        return {*layout.names} | sizes_in(layout.yes) | sizes_in(layout.no)
    return {name for n in (*layout.sizes(), *layout.offsets()) for name in Expr.of(n).symbols()}


def sides(layout: Layout) -> list[Block]:
    """A layout, or all that it may be."""
    return [layout] if isinstance(layout, Block) else sides(layout.yes) + sides(layout.no)


def assigned(node: ast.AST) -> Iterator[str]:
    """The names that a statement, or those in it, may bind; a function's own names within are its own."""
    nodes = [node]
    while nodes:
        one = nodes.pop()
        if not isinstance(one, NESTED):
            nodes += ast.iter_child_nodes(one)
        match one:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((n.asname or n.name).partition(".")[0] for n in names)


def own_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """All names that are a function's own, those of what is within it among them."""
    found = {name for statement in function.body for name in assigned(statement)}
    return (found | _arguments(function)) - shared_names(function)[0]


def shared_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[set[str], set[str]]:
    """(a function's names that are global or of a function around it, though it may assign them; its own that a
    function within assigns)."""
    outer: set[str] = set()
    inner: set[str] = set()

    def read(node: ast.AST, within: bool) -> None:
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.Global | ast.Nonlocal):
                (inner if within else outer).update(one.names)
            read(one, within or isinstance(one, NESTED))

    read(function, False)
    return outer, inner


def _arguments(tree: ast.AST) -> set[str]:
    return {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}


def own_names_within(expression: ast.AST) -> set[str]:
    """The names that lambdas and comprehensions in an expression bind."""
    return _arguments(expression) | {*assigned(expression)}


def free_names(node: ast.AST, names: set[str]) -> Iterator[ast.Name]:
    """Where a tree speaks of these names, and not of names of functions, classes and comprehensions in it that are
    spelled as they are."""
    match node:
        case ast.Name(id=name):
            parts: list[tuple[ast.AST, set[str]]] = []
            if name in names:
                yield node
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            around = [*node.decorator_list, node.args, *filter(None, [node.returns])]
            parts = [(one, names) for one in around]
            parts += [(one, names - own_names(node)) for one in node.body]
        case ast.Lambda():
            parts = [(node.args, names), (node.body, names - _arguments(node))]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            inner = names - own_names_within(node)
            parts = [(one, inner) for one in ast.iter_child_nodes(node)]
        case ast.ClassDef(body=body):
            own = names - {name for one in body for name in assigned(one)}
            around = [*node.decorator_list, *node.bases, *node.keywords]
            parts = [(one, names) for one in around]
            parts += [(one, names if isinstance(one, NESTED) else own) for one in body]
        case _:
            parts = [(one, names) for one in ast.iter_child_nodes(node)]
    for one, seen in parts:
        yield from free_names(one, seen)


def steady(function: ast.FunctionDef, harmless: Callable[[ast.Call], bool]) -> set[str]:
    """The parameters of a function whose values, and the truth of them, stay: nothing assigns them, and they are
    used as numbers alone. harmless: whether a call changes nothing that it is given."""
    bound = {name for one in function.body for name in assigned(one)}
    uses: set[int] = set()
    for node in ast.walk(function):
        match node:
            case ast.BinOp() | ast.BoolOp() | ast.UnaryOp() | ast.Compare():
                uses |= {id(one) for one in ast.iter_child_nodes(node)}
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                uses.add(id(test))
            case ast.Subscript(slice=key):
                uses |= {id(one) for one in getattr(key, "elts", [key])}
            case ast.Call(args=args) if harmless(node):
                uses |= {id(part) for one in args for part in (one, *getattr(one, "elts", ()))}
    others = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and id(node) not in uses
    }
    return _arguments(function.args) - bound - others


def ends(body: list[ast.stmt]) -> bool:
    """Whether nothing comes behind these statements."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return ends(last.body) and ends(last.orelse)
    return isinstance(last, ENDS)


class Known(dict[str, "Layout | Gone"]):
    """The layouts by name."""

    def forget(self, name: str, why: str) -> None:
        """The name stands for another value from now on; layouts that were made of it are gone."""
        for other, layout in self.items():
            if not isinstance(layout, Gone) and name in sizes_in(layout):
                self[other] = Gone(f"was made of {name}, which {why}")

    def lose(self, name: str, why: str) -> None:
        """A name that is no layout any more, if it was one."""
        self[name] = Gone(why)


def joined(one: Known, other: Known, test: tuple[str, frozenset[str]] | None, line: int) -> Known:
    """What is known behind an if. test: its condition, where it may be asked for again, and its names."""
    found = Known()
    for name in {**one, **other}:
        first, second = one.get(name), other.get(name)
        if first is second or (first is not None and first == second):
            found[name] = first or Gone("")
        elif isinstance(gone := first, Gone) or isinstance(gone := second, Gone):
            found[name] = gone
        elif first is None or second is None or test is None:
            found[name] = Gone(
                f"is another layout, or none, in one branch of the if in line {line}; index it within "
                "the branches, or let constants decide"
            )
        else:
            found[name] = Either(*test, first, second)
    return found


def any_of(value: Any) -> bool:
    """Whether a value is a layout of a kernel."""
    return isinstance(value, Block | Either)
