"""What the readers share: syntax trees, scopes, calls, branches, loops."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import isqrt
from typing import Any

from ...errors import MissingPackageError
from ..terms import Term, made
from ..text import Machine, Type, Unread, Value

MOST_STEPS = 4096  # of a loop


def parsed(source: str, grammar: str) -> Any:
    """The root of a text's tree. Raises Unread where the text does not parse."""
    try:
        language = import_module(f"tree_sitter_{grammar}")
        sitter: Any = import_module("tree_sitter")
    except ImportError as error:
        raise MissingPackageError(
            f"reading a text needs tree-sitter and tree-sitter-{grammar}: "
            f"pip install tree-sitter tree-sitter-{grammar}"
        ) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        parser = sitter.Parser(sitter.Language(language.language()))
    root = parser.parse(source.encode()).root_node
    wrong = next((n for n in walk(root) if n.type == "ERROR" or n.is_missing), None)
    if wrong is not None:
        raise unread(wrong, "this is not understood")
    return root


def walk(node: Any) -> Iterator[Any]:
    """A node and all below it."""
    yield node
    for child in node.children:
        yield from walk(child)


def words(node: Any) -> str:
    """A node's text."""
    return node.text.decode()


def unread(node: Any, why: str) -> Unread:
    """An error that names the place."""
    text = " ".join(words(node).split())
    text = text if len(text) <= 60 else text[:57] + "..."
    return Unread(f"line {node.start_point[0] + 1}: {text}: {why}")


def inside(node: Any) -> list[Any]:
    """The named children that are no comments."""
    return [c for c in node.named_children if "comment" not in c.type]


# -- running a function on terms -----------------------------------------------------------------

Scope = dict[str, Value]


@dataclass
class Statement:
    """One statement, as all languages have it. kind: "set" (target, value), "if" (value, then,
    otherwise), "loop" (value: as long as it holds; then: the body with its step), "return"
    (values), "skip"."""

    kind: str
    node: Any = None
    target: str = ""
    type: Type | None = None
    value: Any = None
    values: Sequence[Any] = ()
    then: Sequence[Statement] = ()
    otherwise: Sequence[Statement] = ()

    @property
    def returns(self) -> bool:
        """Whether a return stands in it."""
        return self.kind == "return" or any(s.returns for s in (*self.then, *self.otherwise))


@dataclass
class Runner:
    """Runs statements on terms. expression: a node's value in a scope; converted: a value put into a
    variable of a type, None where it takes the value's."""

    machine: Machine
    expression: Callable[[Any, Scope], Value]
    finish: Callable[[Statement, Scope], tuple[Value, ...]]
    assigned: Callable[[Value, Type | None], Value]

    def run(self, statements: Sequence[Statement], scope: Scope) -> tuple[Value, ...] | None:
        """What is returned; None where the end is reached."""
        for k, s in enumerate(statements):
            if s.node is not None:
                self.machine.at(s.node)
            if s.kind == "return":
                return self.finish(s, scope)
            if s.kind == "set":
                value = self.expression(s.value, scope)
                known = scope.get(s.target)
                kind = s.type or (known.type if known is not None else None)
                scope[s.target] = self.assigned(value, kind)
            elif s.kind == "loop":
                self._loop(s, scope)
            elif s.kind == "if":
                condition = self.expression(s.value, scope).term
                if condition.op in ("true", "false"):
                    chosen = s.then if condition.op == "true" else s.otherwise
                    found = self.run(chosen, scope)
                    if found is not None:
                        return found
                    continue
                rest = statements[k + 1 :]
                if s.returns:
                    return self._split(condition, s, rest, scope)
                self._joined(condition, s, scope)
        return None

    def _split(
        self, condition: Term, s: Statement, rest: Sequence[Statement], scope: Scope
    ) -> tuple[Value, ...] | None:
        found = []
        for holds, part in ((condition, s.then), (made("lnot", condition), s.otherwise)):
            with self.machine.under(holds):
                found.append(self.run([*part, *rest], dict(scope)))
        yes, no = found
        if yes is None or no is None:
            raise unread(s.node, "one way returns and another one does not")
        return tuple(
            Value(made("select", condition, a.term, b.term), a.type)
            for a, b in zip(yes, no, strict=True)
        )

    def _joined(self, condition: Term, s: Statement, scope: Scope) -> None:
        one, other = dict(scope), dict(scope)
        with self.machine.under(condition):
            self.run(s.then, one)
        with self.machine.under(made("lnot", condition)):
            self.run(s.otherwise, other)
        for name in scope:
            if one[name].term is not other[name].term:
                term = made("select", condition, one[name].term, other[name].term)
                scope[name] = Value(term, scope[name].type)

    def _loop(self, s: Statement, scope: Scope) -> None:
        for _ in range(MOST_STEPS):
            condition = self.expression(s.value, scope).term
            if condition.op == "false":
                return
            if condition.op != "true":
                raise unread(s.node, "how often the loop runs depends on a parameter")
            self.run(s.then, scope)
        raise unread(s.node, f"a loop of more than {MOST_STEPS} steps")


ROOTS = tuple(
    sorted(
        {
            max(0, r * r + d)
            for r in (*range(66), 181, 255, 256, 32767, 46339, 46340)
            for d in (-1, 0, 1)
        }
    )
)
LARGE_ROOTS = tuple(
    r * r + d for r in (2**16, 2**26 - 1, 2**26, 2**26 + 1, 2**31, 3037000498) for d in (-1, 0, 1)
)


def is_root(run: Callable[[int], int | None], highest: int) -> int:
    """At how many numbers a helper gives the square root rounded down; 0 where it once does not."""
    numbers = [n for n in (*ROOTS, *LARGE_ROOTS, highest - 1, highest) if 0 <= n <= highest]
    if all(run(n) == isqrt(n) for n in numbers):
        return len(numbers)
    return 0

