"""A user's function rewritten so that its branches can be joined where they meet.

Python does not go back to an `if` that it has left, so that both branches of one can be followed, and
joined right behind it, only where they are a function of their own. In

    def f(x, y, turned):
        if turned:
            x, y = y, x
        return x + 8*y

the `if` does nothing but assign variables, and becomes a function of those:

    def __lego_if__(x, y):
        if turned:
            x, y = y, x
        return __lego_locals__()
    x, y = __lego_join__(__lego_if__, __lego_locals__(), ('x', 'y'), ('x', 'y'))

The first names are those that it assigns, the others those that are read later; one that has no value is
`__lego_unbound__`, and deleted where it arrives. What is called is asked for when it is called, by
`__lego_callee__(g)(x)`, for only then it is known whether that has side effects. Conditional expressions,
and `and`, `or`, `not` and chains of comparisons that are values, become
`__lego_choose__(lambda: a if c else b)`; before `x += y` stands `__lego_changed__(x)`. All else stays as it is, and each line keeps its number.
joined.py has what these names stand for.

A function's text is looked up by its file, and taken where it compiles to the function's own code.
"""

from __future__ import annotations
import __future__ as futures

import ast
import linecache
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

UNBOUND, JOIN, CHOOSE, CALLEE, LOCALS, CHANGED = (
    f"__lego_{n}__" for n in ("unbound", "join", "choose", "callee", "locals", "changed")
)
NESTED = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
FRAMES = {"locals", "vars", "dir", "eval", "exec", "super", "globals"}  # look at who calls them
TYPES = {"type", "isinstance", "id", "repr", "str", "hash"}  # tell a number from a symbol
Place = tuple[tuple[int, int], tuple[int, int]]  # the lines and columns where it begins and ends
CONSUMERS = {"sum", "min", "max", "any", "all", "tuple", "list", "set", "sorted"}


@dataclass(frozen=True)
class Rewritten:
    """The code, and whether it only computes: it has no side effects if what it calls has none."""

    code: CodeType
    only_computes: bool


@lru_cache(maxsize=256)
def rewritten(code: CodeType) -> Rewritten | None:
    """A function's code with what can be joined; None where its text is not at hand, or it has what
    nothing can be moved out of."""
    top = _statement_with(code)
    function = None if top is None else _function_of(code, top)
    if top is None or function is None or not _stays_itself(function):
        return None
    only_computes, place = _is_expression(function), _place(function)
    if isinstance(function, ast.FunctionDef):
        only_computes = _only_computes(function.body, ends=True)
    _Rewriter(function).rewrite()
    for made in _codes(_compiled(top, code)):
        if (made.co_qualname, made.co_firstlineno) == (code.co_qualname, code.co_firstlineno):
            if _lies_in(made, place):
                return Rewritten(made, only_computes)
    return None


def _function_of(code: CodeType, top: ast.stmt) -> ast.FunctionDef | ast.Lambda | None:
    """The function in a statement that was compiled to this code: the innermost lambda that its parts
    lie in."""
    found = None
    for n in ast.walk(top):
        if isinstance(n, ast.FunctionDef):
            if (n.name, _first_line(n)) == (code.co_name, code.co_firstlineno):
                return n
        elif isinstance(n, ast.Lambda) and code.co_name == "<lambda>":
            if n.lineno == code.co_firstlineno and _lies_in(code, _place(n)):
                found = n
    return found


def _place(function: ast.FunctionDef | ast.Lambda) -> Place:
    """Where a function, or the value of a lambda, begins and ends."""
    node = function.body if isinstance(function, ast.Lambda) else function
    ends = node.end_lineno or node.lineno, node.end_col_offset or 0
    return (node.lineno, node.col_offset), ends


def _lies_in(code: CodeType, place: Place) -> bool:
    """Whether all that a code does stands in a place; what has no text, as its beginning, aside."""
    least, end = place
    for line, last, first, after in code.co_positions():
        if line is None or last is None or first is None or after is None or first == after == 0:
            continue
        if (line, first) < least or (last, after) > end:
            return False
    return True


def _statement_with(code: CodeType) -> ast.stmt | None:
    """The statement of a file that a function is in, None where its text is not what was compiled."""
    lines, first = linecache.getlines(code.co_filename), code.co_firstlineno
    try:
        for top in ast.parse("".join(lines)).body:
            if _first_line(top) <= first <= (top.end_lineno or top.lineno):
                return top if code in _codes(_compiled(top, code)) else None
    except (SyntaxError, ValueError, RecursionError):
        pass
    return None


def _compiled(top: ast.stmt, code: CodeType) -> CodeType:
    flags = code.co_flags & futures.annotations.compiler_flag
    return compile(ast.Module([top], []), code.co_filename, "exec", flags, dont_inherit=True)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _first_line(s: ast.stmt) -> int:
    return min([s.lineno, *(d.lineno for d in getattr(s, "decorator_list", ()))])


# -- what may be moved ---------------------------------------------------------------------------


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """A node and those in it, but those of functions and classes inside."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, NESTED):
            yield from _own(child)


def _names(node: ast.AST, *contexts: type) -> set[str]:
    """The names in a node that are read, or assigned, in functions inside too."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, contexts)}


def _loads(node: ast.AST | None) -> set[str]:
    """The names that must have a value for a node to run."""
    if node is None:
        return set()
    changed = [_assigned(n.target) for n in ast.walk(node) if isinstance(n, ast.AugAssign)]
    return _names(node, ast.Load, ast.Del).union(*changed)


def _assigned(node: ast.AST) -> set[str]:
    """The local variables that are assigned in it; a comprehension's own are none."""
    inner = [n.target for n in _own(node) if isinstance(n, ast.comprehension)]
    others = {id(n) for target in inner for n in ast.walk(target)}
    return {
        n.id
        for n in _own(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in others
    }


def _stays_itself(function: ast.AST) -> bool:
    """Whether a function is called to its end, in a frame that nothing in it looks at."""
    for n in _own(function):
        if isinstance(n, ast.Yield | ast.YieldFrom | ast.Await):
            return False
        if isinstance(n, ast.Name) and n.id in FRAMES:
            return False
    return True


def _is_expression(node: ast.AST | None, walrus: bool = True) -> bool:
    """Whether an expression has no side effects but a walrus, where that is allowed, if what it calls
    has none; a key= is called by who is called."""
    refused = (ast.Yield, ast.YieldFrom, ast.Await, *(() if walrus else (ast.NamedExpr,)))
    return node is None or not any(
        isinstance(n, refused) or (isinstance(n, ast.keyword) and n.arg == "key")
        for n in ast.walk(node)
    )


def _only_computes(body: Iterable[ast.stmt], ends: bool = False, loop: bool = False) -> bool:
    """Whether statements assign local variables and do nothing else. ends: they may leave the function;
    loop: they may leave a loop around."""
    for s in body:
        match s:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                fits = True
            case ast.Assign(targets=targets, value=value):
                fits = all(map(_is_variable, targets)) and _is_expression(value)
            case (
                ast.AugAssign(target=target, value=value)
                | ast.AnnAssign(target=target, value=value)
            ):
                fits = isinstance(target, ast.Name) and _is_expression(value)
            case ast.If(test=test, body=inner, orelse=orelse):
                fits = _is_expression(test) and _only_computes([*inner, *orelse], ends, loop)
            case ast.For(target=target, iter=test, body=inner, orelse=orelse):
                fits = _is_variable(target) and _is_expression(test)
                fits = fits and _only_computes(inner, ends, True)
                fits = fits and _only_computes(orelse, ends, loop)
            case ast.While(test=test, body=inner, orelse=orelse):
                fits = _is_expression(test) and _only_computes(inner, ends, True)
                fits = fits and _only_computes(orelse, ends, loop)
            case ast.Break() | ast.Continue():
                fits = loop
            case ast.Return(value=value):
                fits = ends and _is_expression(value)
            case ast.Raise() | ast.Assert():
                fits = ends
            case _:
                fits = False
        if not fits:
            return False
    return True


def _is_variable(target: ast.expr) -> bool:
    """Whether what is assigned to are local variables."""
    if isinstance(target, ast.Tuple | ast.List):
        return all(map(_is_variable, target.elts))
    return isinstance(target, ast.Name)


def _held(function: ast.AST) -> set[str]:
    """The names that stay variables of the function itself: those of others, those that a function
    inside reads, and those of which more is asked than their value."""
    found = set[str]()
    consumed = set[int]()  # generators that are gone through at once
    for n in ast.walk(function):
        match n:
            case ast.Call(func=ast.Name(id=name), args=args):
                if name in CONSUMERS and len(args) == 1:
                    consumed.add(id(args[0]))
                if name in TYPES:
                    found |= {name for a in args for name in _loads(a)}
            case ast.Compare(ops=ops) if any(isinstance(o, ast.Is | ast.IsNot) for o in ops):
                found |= {v.id for v in (n.left, *n.comparators) if isinstance(v, ast.Name)}
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found |= {*names}
            case ast.Match(subject=subject):
                found |= _loads(subject)
            case ast.GeneratorExp() if id(n) not in consumed:
                found |= _loads(n)
        if isinstance(n, NESTED) and n is not function:
            found |= _names(n, ast.Load, ast.Store, ast.Del)
    return found


# -- what is read later --------------------------------------------------------------------------


class _Later:
    """Of each `if` the names that may be read behind it."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.after: dict[ast.If, set[str]] = {}
        self._block(function.body, set(), set())

    def _block(self, body: Sequence[ast.stmt], after: set[str], around: set[str]) -> set[str]:
        """The names that are read from these statements on, if `after` are behind them, and `around`
        where a loop goes on, or ends."""
        for s in reversed(body):
            after = self._before(s, after, around)
        return after

    def _before(self, s: ast.stmt, after: set[str], around: set[str]) -> set[str]:
        match s:
            case ast.If(test=test, body=body, orelse=orelse):
                self.after[s] = self.after.get(s, set()) | after
                both = self._block(body, after, around) | self._block(orelse, after, around)
                return both | _loads(test)
            case ast.For(body=body, orelse=orelse) | ast.While(body=body, orelse=orelse):
                entry = after | self._block(orelse, after, around)
                head = (s.iter, s.target) if isinstance(s, ast.For) else (s.test,)
                entry = entry.union(*map(_loads, head))
                while (more := entry | self._block(body, entry, entry)) != entry:
                    entry = more
                return entry
            case ast.Assign(targets=targets, value=value) if all(map(_is_variable, targets)):
                return after.difference(*map(_assigned, targets)) | _loads(value)
            case ast.Break() | ast.Continue():
                return after | around
            case ast.Return(value=value):
                return _loads(value)
        if not isinstance(s, NESTED) and any(isinstance(n, ast.stmt) for n in [*_own(s)][1:]):
            return after | around | _loads(s)  # an `if` in it stays one
        return after | _loads(s)


# -- the rewriting -------------------------------------------------------------------------------


class _Rewriter(ast.NodeVisitor):
    """Changes a function in its place."""

    def __init__(self, function: ast.FunctionDef | ast.Lambda) -> None:
        self._function = function
        self._after = {} if isinstance(function, ast.Lambda) else _Later(function).after
        self._held = _held(function)

    def rewrite(self) -> None:
        """Put functions in the place of its branches."""
        function = self._function
        if isinstance(function, ast.Lambda):
            function.body = self.visit(function.body)
        else:
            self.generic_visit(ast.Module(function.body, []))  # which changes the list

    def visit_If(self, node: ast.If) -> Any:
        names = sorted(_assigned(node))
        fits = _only_computes([node]) and self._held.isdisjoint(names) and node in self._after
        read = [n for n in names if n in self._after.get(node, ())]
        is_simple = fits or not _is_expression(node.test, walrus=False)
        node.test = self._test(node.test)
        if not is_simple and isinstance(node.test, ast.BoolOp):
            truth = ast.IfExp(node.test, ast.Constant(True), ast.Constant(False))
            ast.copy_location(truth, node.test)
            node.test = _choice(ast.fix_missing_locations(truth))
        self.generic_visit(node, without="test")
        return _as_function(node, names, read) if fits else node

    def visit_While(self, node: ast.While | ast.Assert) -> Any:
        node.test = self._test(node.test)
        return self.generic_visit(node, without="test")

    visit_Assert = visit_While

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        return [*_at(node, ast.parse(f"{CHANGED}({node.target.id})")).body, node]

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        fits = _is_expression(node, walrus=False)
        node.test = self._test(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return _choice(node) if fits else node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        fits = _is_expression(node, walrus=False)
        self.generic_visit(node)
        return _choice(node) if fits else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if not isinstance(node.op, ast.Not):
            return self.generic_visit(node)
        fits = _is_expression(node, walrus=False)
        node.operand = self._test(node.operand)
        return _choice(node) if fits else node

    def visit_Compare(self, node: ast.Compare) -> Any:
        fits = len(node.ops) > 1 and _is_expression(node, walrus=False)
        self.generic_visit(node)
        return _choice(node) if fits else node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        asked = _at(node.func, ast.parse(f"{CALLEE}()", mode="eval").body)
        asked.args = [node.func]
        node.func = asked
        return node

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        node.iter, node.ifs = self.visit(node.iter), [self._test(c) for c in node.ifs]
        return node

    def generic_visit(self, node: ast.AST, without: str = "") -> Any:
        """Change what is in it, but for one part that is changed already."""
        for name, part in ast.iter_fields(node):
            if name == without:
                continue
            if isinstance(part, list):
                new = [self.visit(p) if isinstance(p, ast.AST) else p for p in part]
                part[:] = [p for v in new for p in (v if isinstance(v, list) else [v])]
            elif isinstance(part, ast.AST):
                setattr(node, name, self.visit(part))
        return node

    def _unchanged(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _unchanged

    def _test(self, node: ast.expr) -> Any:
        """What is asked for its truth alone, which parts the paths inside of an `if` alone."""
        if isinstance(node, ast.BoolOp):
            node.values = [self._test(v) for v in node.values]
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self._test(node.operand)
            return node
        if isinstance(node, ast.Compare):
            return self.generic_visit(node)
        return self.visit(node)


def _at(place: ast.AST, made: Any) -> Any:
    """A made node, all of it at the place of another."""
    for n in ast.walk(made):
        ast.copy_location(n, place)
    return made


def _choice(node: ast.expr) -> ast.expr:
    made = _at(node, ast.parse(f"{CHOOSE}(lambda: 0)", mode="eval").body)
    made.args[0].body = node
    return made


def _as_function(node: ast.If, names: Sequence[str], read: Sequence[str]) -> list[ast.stmt]:
    """The statements that have an `if` as a function of the names that it assigns."""
    body = [f"    if {n} is {UNBOUND}: del {n}" for n in names]
    lines = [f"def __lego_if__({', '.join(names)}):", *body, "    pass", f"    return {LOCALS}()"]
    call = f"{JOIN}(__lego_if__, {LOCALS}(), {tuple(names)}, {tuple(read)})"
    lines.append(f"{', '.join(read)}, = {call}" if read else call)
    lines += [f"if {n} is {UNBOUND}: del {n}" for n in read]
    made = _at(node, ast.parse("\n".join(lines)))
    made.body[0].body[len(names)] = node
    return made.body
