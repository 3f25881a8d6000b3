"""A function's text with index expressions in place of its layouts: only their spans change."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ..algebra.block import Block
from ..arith.expr import Cond, Expr, symbols
from ..emit.kernel_language import KernelLanguage
from ..kernels.names import fresh
from ..kernels.spelling import NoExpression
from ..kernels.values import Several
from .descriptors import Descriptors
from .flow import (
    Either,
    Known,
    any_of,
    assigned,
    ends,
    free_names,
    joined,
    own_names,
    sizes_in,
)
from .outer import MISSING, comes_from
from .saying import assume
from .source import Source
from .widening import reads

RANGES = ("range", "prange", "static_range")


@dataclass
class Rewritten:
    """A function's new text. edits: how many spans are other ones; assumptions: what they rest on; said: what
    assume() says; needed: of that, what a descriptor does; layouts: by name; taken: what of what is around the function; helpers: functions that the new
    text calls, and the texts of modules that have them."""

    text: str
    edits: int
    assumptions: tuple[str, ...]
    said: dict[str, bool]
    needed: set[str]
    layouts: dict[str, str]
    taken: tuple[str, ...]
    helpers: dict[str, str]


class Rewriter(Descriptors):
    """Reads a function's statements in order."""

    def __init__(
        self,
        source: Source,
        language: KernelLanguage,
        assumed: Sequence[Any],
        ranges: Mapping[str, Any],
        index_type: str | None,
    ):
        super().__init__(source, language, assumed, ranges, index_type)
        self._always: set[str] | None = (
            None  # what was assumed before a statement could leave the function
        )
        self._conditional: set[str] = set()  # what is assumed in branches alone
        self._depth = 0  # of statements that may not run
        self._left = False  # whether a statement before may have left the function
        self._gone: dict[ast.stmt, int] = {}  # the edits of statements that vanish
        self._before: list[str] = []  # statements that stand before the one that is written

    def rewritten(self) -> Rewritten:
        """The function's text; the same where nothing in it is a layout."""
        node = self.source.node
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self._expression(default)
        for name in sorted(
            self.own | self._roots(node)
        ):  # others' names, too, are no names for ours
            self._declare(name, node)
        self._block(node.body)
        with self._placed(node):
            self.kernel.finished()
        text = self.source.replaced(self.edits)
        self._check_left(text)
        self._check_stored()
        return Rewritten(
            text,
            len(self.edits),
            tuple(self.kernel.assumptions),
            {text: self._is_asked(text) for text in self.kernel.assumptions} | self.said,
            self.needed,
            self.shown,
            (*self.outer.taken,),
            self.helpers,
        )

    def _is_asked(self, text: str) -> bool:
        """Whether an assumption holds at each launch, of parameters that nothing assigns."""
        always = self._always is None or text in self._always
        try:
            names = self._roots(ast.parse(text, mode="eval"))
        except SyntaxError:  # with text of the kernel's own
            return False
        return always and text not in self._conditional and not names & (self.assigned | self.moved)

    def _check_stored(self) -> None:
        """Raises KernelError where the function assigns a part of what a layout was taken from, or made of."""
        roots = {name for text in self.outer.taken for name in self._roots(ast.parse(text))}
        for node in ast.walk(self.source.node):
            if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(
                node.ctx, ast.Load
            ):
                root: ast.expr = node
                while isinstance(root, ast.Attribute | ast.Subscript):
                    root = root.value
                if isinstance(root, ast.Name) and root.id in roots - self.own:
                    raise self.source.error(
                        node,
                        f"{self.source.said(node)} is assigned here, and {root.id} is read before the kernel runs",
                    )

    def _check_left(self, text: str) -> None:
        """Raises KernelError where a name that was a layout is still read."""
        if not self.ever and not self.described:
            return
        tree = ast.parse("if True:\n" * self.source.above + text)
        self._check_described(tree)

        for statement in next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)).body:
            for node in free_names(statement, {*self.ever}):
                raise self.source.error(
                    node, f"{node.id} is a layout in line {self.ever[node.id]}, and none here"
                )

    def _block(self, body: list[ast.stmt]) -> None:
        before = {**self.tests}
        for statement in body:
            self._statement(statement)
        self.tests = {n: t for n, t in before.items() if self.tests.get(n) is t}
        if body and all(statement in self._gone for statement in body):  # a block has a statement
            last = self._gone[body[-1]]
            begin, end = self.source.span(body[-1])
            self.edits[last] = (begin, end, "pass" + self.edits[last][2].removeprefix("pass"))

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Call() as call) if self.outer.value(call.func) is assume:
                self._assume(node, call)
            case ast.Assign(targets=targets, value=value):
                self._assign(node, targets, value)
            case ast.AnnAssign(target=target, annotation=annotation, value=value):
                self._expression(annotation)
                if value is not None:
                    self._assign(node, [target], value)
            case ast.AugAssign(target=target, value=value):
                self._expression(value)
                if isinstance(target, ast.Name) and self._known(target) is not None:
                    self._expression(target)  # which says what it is
                self._target(target)
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                self._expression(iterable)
                self._loop(node, [target], body, orelse, self._counted(node, target, iterable))
            case ast.While(test=test, body=body, orelse=orelse):
                self._loop(node, [], body, orelse, test=test)
            case ast.If():
                self._if(node)
            case ast.With(items=items, body=body):
                for item in items:
                    self._expression(item.context_expr)
                    if item.optional_vars is not None:
                        self._target(item.optional_vars)
                self._perhaps(body)  # which may end early, unseen
            case ast.Try() | ast.TryStar():
                self._try(node)
            case ast.Match(subject=subject, cases=cases):
                self._expression(subject)
                for one in cases:
                    self._case(one)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._nested(node)
            case ast.Delete(targets=targets):
                for target in targets:
                    self._target(target)
            case ast.Global() | ast.Nonlocal():
                pass
            case _:
                self._expression(node)
                if isinstance(node, ast.Import | ast.ImportFrom):
                    for name in assigned(node):
                        self._rebound(name, node)
        if not self._left and any(isinstance(n, ast.Return | ast.Raise) for n in ast.walk(node)):
            self._left = True
            self._always = {*self.kernel.assumptions}

    def _assign(self, node: ast.stmt, targets: list[ast.expr], value: ast.expr) -> None:
        """An assignment: of a layout, of index expressions to names, of anything else."""
        target = targets[0]
        if self._describes(node, targets, value):
            return
        if (layout := self._layout(value)) is not None and all(
            isinstance(t, ast.Name) for t in targets
        ):
            self._made(node, [(t.id, layout) for t in targets if isinstance(t, ast.Name)])
            return
        pairs = self._pairs(target, value) if len(targets) == 1 else None
        if pairs is not None and any(self._layout(one) is not None for _, one in pairs):
            found = [(t.id, self._layout(v)) for t, v in pairs if isinstance(t, ast.Name)]
            made = [(name, layout) for name, layout in found if layout is not None]
            if len(made) < len(pairs):
                raise self.source.error(
                    node, "layouts and other values in one assignment; write two"
                )
            self._made(node, made)
            return
        names = [t.id for t in getattr(target, "elts", [target]) if isinstance(t, ast.Name)]
        several = isinstance(target, ast.Tuple) and len(names) == len(target.elts)
        if several and len(targets) == 1 and len({*names}) == len(names):
            found = self._index(self._named_apart(node, value))
            if isinstance(found, Several):
                if len(found) != len(names):
                    raise self.source.error(
                        node, f"{len(names)} names for {len(found)} values of {found.said}"
                    )
                self._written(node, names, found)
                return
            self._before.clear()
        taken = self._taken(value)
        self._expression(value)
        if isinstance(target, ast.Name):
            self._check_helper(value, target.id)
        for target in targets:
            self._target(target)
            self._know_positions(target, taken)
        if len(targets) == 1 and isinstance(target, ast.Name):
            self._learn(target.id, value)

    def _made(self, node: ast.stmt, made: list[tuple[str, Block | Either]]) -> None:
        """Names that are layouts from now on."""
        for name, _ in made:
            if name in self.plain or name in self.shared:
                where = f"in line {self.plain[name]}" if name in self.plain else "elsewhere"
                raise self.source.error(
                    node, f"{name} is a layout here, and another value {where}: take another name"
                )
            self._moved_on(name, node)
        for name, layout in made:
            self.ever.setdefault(name, self.source.line(node))
            self.layouts[name] = layout
            self.shown[name] = self._repr(layout)
        self._vanish(node)

    def _pairs(self, target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
        """The parts of an assignment of a tuple to a tuple."""
        if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
            return None
        if len(target.elts) != len(value.elts):
            return None
        return [*zip(target.elts, value.elts, strict=True)]

    def _written(self, node: ast.stmt, names: list[str], found: Several) -> None:
        """Names that are given the parts of an index: a statement each, on one line."""
        if any(self._uses(found, name) for name in names):  # as in tile, k = L.inv(tile)
            with self._placed(node):
                texts = [self._text(value) for value in found]
            for name in names:
                self._rebound(name, node)
            text = self._aliased(f"{', '.join(names)} = {', '.join(texts)}", node)
        else:
            for name in names:
                self._rebound(name, node)
            text = self._statements(node, names, found)
            self.bound |= {*names}
        for name in (self.moved | self.shared).intersection(names):
            self._declare(name, node)
        text = "; ".join([*self._before, text])
        self._before.clear()
        self._replace(node, self.source.filled(node, text))

    def _statements(self, node: ast.stmt, names: list[str], found: Several) -> str:
        """Names and their values on one line: a statement each, or a call of a function that returns all."""
        with self._placed(node):
            try:
                text = self.kernel.statements(names, found, "")
            except NoExpression:
                if not self.language.functions:
                    raise
                text = ""
            if not text or ("math." in text and self.language.functions):
                call = self._called(found)
                for name, value in zip(names, found, strict=True):
                    self._declare(name, node)
                    self.kernel.taken_from(name, value)
                return f"{', '.join(names)} = {self._aliased(call, node)}"
        return "; ".join(self._aliased(text, node).split("\n")[:-1])

    def _named_apart(self, node: ast.stmt, value: ast.expr) -> ast.expr:
        """An index of a position that is a call, with a name in the call's place: it is computed once."""
        match value:
            case ast.Call(func=ast.Attribute(attr="inv", value=base), args=[ast.Call() as call], keywords=[]) if (
                any_of(self._layout(base)) and self._index(call) is None and not self._has_index(call)
            ):  # fmt: skip
                self._check_names(call)
                name = fresh("position", self.own | {*self.kernel.types})
                self.own.add(name)
                if reads(self.source.said(call), self.kernel.unsure, self.language.loads):
                    self.kernel.unsure.add(name)
                self._rebound(name, node)
                self._learn(name, call)
                self._before.append(f"{name} = {self.source.said(call)}")
                at = ast.copy_location(ast.Name(name, ast.Load()), call)
                return ast.copy_location(ast.Call(value.func, [at], []), value)
        return value

    def _uses(self, found: Several, name: str) -> bool:
        return any(name in self.kernel._names_in(n) for value in found for n in value.names) or any(
            name in sizes_in(layout)
            for value in found
            for layout in value.layouts
            if isinstance(layout, Block)
        )

    def _target(self, target: ast.expr) -> None:
        """What is assigned: names are other values now; of subscripts the parts are read."""
        match target:
            case ast.Name(id=name):
                self._rebound(name, target)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                for one in elts:
                    self._target(one)
            case ast.Starred(value=value):
                self._target(value)
            case ast.Subscript(value=base) if self._layout(base) is not None:
                raise self.source.error(
                    target,
                    f"{self.source.said(base)} is a layout, which holds no elements to assign",
                )
            case _:
                self._expression(target)

    def _vanish(self, node: ast.stmt) -> None:
        """A statement that nobody needs when the kernel runs; its lines stay."""
        begin, end = self.source.span(node)
        text = ""
        if not self.source.stands_alone(node):
            text = "pass"
        elif self.source.ends_line(node):
            begin -= node.col_offset
        self._gone[node] = len(self.edits)
        self.edits.append((begin, end, self.source.filled(node, text)))

    def _loop(
        self,
        node: ast.stmt,
        targets: list[ast.expr],
        body: list[ast.stmt],
        orelse: list[ast.stmt],
        known: Sequence[Cond] = (),
        test: ast.expr | None = None,
    ) -> None:
        """A loop: what it assigns is unknown when a round begins, and behind it. known: what holds in a round; test: what
        is computed first."""
        self._forget([node])
        if test is not None:
            self._expression(test)
        for target in targets:
            self._target(target)
            if known and isinstance(target, ast.Name):
                self.kernel.counters.add(target.id)
        self._perhaps(body, known)
        self._forget([node])
        self._perhaps(orelse)

    def _perhaps(self, body: Sequence[ast.stmt], known: Sequence[Cond] = ()) -> None:
        """Statements that may run or not, or in part: what they assign is unknown behind them. known: what
        holds in them."""
        assume = [*self.kernel.assume]
        self.kernel.assume += known
        self._depth += 1
        self._block([*body])
        self._depth -= 1
        self.kernel.assume = [a for a in self.kernel.assume if any(a is said for said in assume)]
        self._forget(body)

    def _forget(self, nodes: Sequence[ast.AST]) -> None:
        """The names that statements assign are unknown from now on."""
        for name in sorted({name for node in nodes for name in assigned(node)}):
            if name in self.layouts or name in self.ever:
                line = self.source.line(nodes[0])
                self.layouts.lose(
                    name,
                    f"is a layout of line {self.ever.get(name, line)}, which may not have run, or may run again",
                )
            else:
                self._moved_on(name, nodes[0])

    def _counted(self, node: ast.For, target: ast.expr, iterable: ast.expr) -> list[Cond]:
        """What is known of the counter of a range in each round: it is at least 0, and below an end that is known."""
        match iterable:
            case ast.Call(func=func, args=[*start, end], keywords=[]) if (
                isinstance(target, ast.Name)
                and self._is_range(self.outer.value(func))
                and len(start) < 2
                and all((first := self._literal(one)) is not None and first >= 0 for one in start)
            ):
                pass
            case _:
                return []
        inside = {n for one in node.body for n in assigned(one)}
        if target.id in inside | self.moved | self.shared:
            return []
        counter = symbols(target.id)
        found = [Cond("le", Expr.of(0), counter)]
        if (last := self._end(end, {*inside, target.id})) is not None:
            found.append(Cond("lt", counter, last))
        return found

    def _end(self, node: ast.expr, inside: set[str]) -> Expr | None:
        """The end of a range, if it stays while the loop runs: a number, a name, a layout's size, or a quotient of two
        of these. (Where rounding towards zero and rounding down differ, a range has no round.)"""
        match node:
            case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):
                up = False
            case ast.Call(func=func, args=[left, right], keywords=[]) if self._is_cdiv(func):
                up = True
            case _:
                return self._steady(node, inside)
        of, by = self._steady(left, inside), self._steady(right, inside)
        if of is None or by is None or by == Expr.of(0):
            return None
        return (of + by - 1) // by if up else of // by

    def _steady(self, node: ast.expr, inside: set[str]) -> Expr | None:
        """A number, a name or a layout's size that no statement inside a loop assigns."""
        if (value := self._literal(node)) is not None:
            return Expr.of(value)
        match node:
            case ast.Name(id=name):
                if name in self.bound - inside - self.moved - self.shared and name not in self.ever:
                    return symbols(name)
            case ast.Attribute(value=base, attr="size"):
                layout = self._layout(base)
                if isinstance(layout, Block) and not sizes_in(layout) & inside:
                    return prod(map(Expr.of, layout.dims), start=Expr.of(1))
            case ast.Subscript(value=ast.Attribute(value=base, attr="dims"), slice=key):
                layout, axis = self._layout(base), self._literal(key)
                if isinstance(layout, Block) and axis is not None and axis < len(layout.dims):
                    return None if sizes_in(layout) & inside else Expr.of(layout.dims[axis])
        return None

    def _is_range(self, found: Any) -> bool:
        named = getattr(found, "__name__", "") in RANGES
        return found is range or (named and comes_from(found, (self.language.package,)))

    def _learn(self, name: str, value: ast.expr) -> None:
        """What is known of a name that has a value from now on."""
        if self._is_vector(value):
            self.vectors.add(name)
        if name in self.moved | self.shared | {*self.kernel.printer.reserved}:
            return
        self._learn_test(name, value)
        if isinstance(value, ast.Call):
            found = self.outer.value(value.func)
            natural = ast.unparse(value.func).rpartition(".")[2] in self.language.natural
            if natural and found is not MISSING and comes_from(found, (self.language.package,)):
                self._at_least_0(name)
                if getattr(found, "__name__", "") in self.language.programs:
                    self.kernel.programs.add(name)

    def _at_least_0(self, name: str) -> None:
        self.kernel.assume.append(f"{name} >= 0")

    def _if(self, node: ast.If) -> None:
        self._expression(node.test)
        known = {*self.kernel.assumptions}
        assume, before = [*self.kernel.assume], Known(self.layouts)
        described = {**self.descriptors}
        self._depth += 1
        self._block(node.body)
        one, self.layouts = self.layouts, Known(before)
        first, self.descriptors = self.descriptors, described
        self.kernel.assume = [*assume]
        self._block(node.orelse)
        self._depth -= 1
        other = self.layouts
        self._conditional |= self.kernel.assumptions.keys() - known
        self.kernel.assume = [a for a in self.kernel.assume if any(a is said for said in assume)]
        if ends(node.body) or ends(node.orelse):
            self.layouts = other if ends(node.body) else one
            self.descriptors = self.descriptors if ends(node.body) else first
        else:
            second = self.descriptors
            self.descriptors = {n: d for n, d in first.items() if second.get(n) is d}
            self.layouts = joined(one, other, self._test(node.test), self.source.line(node))
        for name in sorted({name for one in (*node.body, *node.orelse) for name in assigned(one)}):
            if not any_of(self.layouts.get(name)):
                self._declare(name, node)  # what is known of it held in a branch

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        """What the body assigns is unknown in handlers, and behind."""
        known = {*self.kernel.assumptions}
        self._perhaps(node.body)
        for handler in node.handlers:
            if handler.type is not None:
                self._expression(handler.type)
            if handler.name is not None:
                self._rebound(handler.name, handler)
            self._perhaps(handler.body)
        self._perhaps(node.orelse)
        self._conditional |= self.kernel.assumptions.keys() - known
        self._block(node.finalbody)

    def _case(self, case: ast.match_case) -> None:
        """A case: what its pattern and its statements assign is unknown in others, and behind."""
        before, known = Known(self.layouts), {*self.kernel.assumptions}
        self._expression(case.pattern)
        for name in assigned(case.pattern):
            self._rebound(name, case.pattern)
        if case.guard is not None:
            self._expression(case.guard)
        self._perhaps(case.body)
        self._conditional |= self.kernel.assumptions.keys() - known
        self.layouts = before
        self._forget([case.pattern, *([case.guard] if case.guard else []), *case.body])

    def _nested(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """A function within: a layout in it would be read when it is called."""
        inner = own_names(node) if isinstance(node, ast.FunctionDef) else set[str]()
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id not in inner and self._known(one) is not None:
                raise self.source.error(
                    one,
                    f"{one.id} is a layout in a function within the kernel; index it outside, or put that "
                    "function under lego_emit.jit",
                )
        self._rebound(node.name, node)

    def _asked_at_launch(self, names: set[str]) -> bool:
        return not self._depth and not self._left and not names & self.assigned

    def _assume(self, node: ast.stmt, call: ast.Call) -> None:
        """What assume() says: known from here on, and told to the kernel's compiler where it listens."""
        texts: list[str] = []
        for argument in call.args:
            said = self.source.said(argument)
            names = self._roots(argument)
            if moved := names & (self.moved | self.shared):
                raise self.source.error(
                    argument, f"{moved.pop()} may change at any time: nothing is assumed of it"
                )
            self.said[said] = self._asked_at_launch(names) and self.said.get(said, True)
            with self._placed(argument):
                self.kernel.suppose(said)
            match argument:
                case ast.Compare(
                    left=ast.BinOp(
                        left=ast.Name(id=name), op=ast.Mod(), right=ast.Constant(value=int(n))
                    ),
                    ops=[ast.Eq()],
                    comparators=[ast.Constant(value=0)],
                ) if self.language.multiple and name not in self._constants:
                    text = self.language.multiple.replace("{tl}.", "tl.")
                    texts.append(self._aliased(text.format(name=name, number=n), node))
        if texts:
            self._replace(node, self.source.filled(node, "; ".join(texts)))
        else:
            self._vanish(node)
