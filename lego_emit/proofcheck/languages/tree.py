"""What the readers share: syntax trees, scopes, calls, branches, loops."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import isqrt
from typing import Any, TypeVar

from ...errors import LegoError, MissingPackageError
from ..launch import Divisions, Helper
from ..stated import whole
from ..terms import TRUE, Term, made, term_of, var
from ..text import (
    BOOL,
    DIVISOR,
    FITS,
    HOLDS,
    Function,
    Machine,
    Text,
    Type,
    UnsupportedSyntax,
    Value,
)
from .forms import FORMS, Forms

MOST_STEPS = 4096  # of a loop
COMMENTS = ("comment", "line_comment", "block_comment")
BRANCHES = ("preproc_ifdef", "preproc_if")
NEWLINE = {"\n": "newline"}
# What ends a line in one language and not in another; and C's trigraphs, which some dialects have.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]|\?\?[=/'()!<>-]")
Found = TypeVar("Found")


def parsed(source: str, grammar: str, language: str = "") -> Any:
    """The root of a text's tree. language: whose forms it has, where it is not the grammar's. Raises
    UnsupportedSyntax where the text does not parse, or has what no text of ours has."""
    control = CONTROL.search(source)
    if control is not None:
        line = source.count("\n", 0, control.start()) + 1
        raise UnsupportedSyntax(
            f"line {line}: {control[0]!r}: a character that may end a line, or hide one"
        )
    try:
        module = import_module(f"tree_sitter_{grammar}")
        sitter: Any = import_module("tree_sitter")
    except ImportError as error:
        raise MissingPackageError(
            f"reading a text needs tree-sitter and tree-sitter-{grammar}: "
            f"pip install tree-sitter tree-sitter-{grammar}"
        ) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        parser = sitter.Parser(sitter.Language(module.language()))
    try:
        root = parser.parse(source.encode()).root_node
    except UnicodeEncodeError as error:
        raise UnsupportedSyntax(
            f"a character that no file has: {error.object[error.start]!r}"
        ) from None
    wrong = next((n for n in walk(root) if n.type == "ERROR" or n.is_missing), None)
    if wrong is not None:
        raise unread(wrong, "this is not understood")
    foreign = _foreign(root, FORMS[language or grammar])
    if foreign is not None:
        raise unread(foreign, "a form that the checker does not know")
    return root


def _foreign(root: Any, known: Forms) -> Any:
    """The first node that has not the form of its kind; None where all have."""
    left = [(root, [root.type])]
    while left:
        node, keys = left.pop()
        allowed, looked_into = known.allow(keys, words(node), symbols(node, known.joint))
        if not allowed:
            return node
        if looked_into:
            within = node.type
            if node.type in BRANCHES and len(keys) > 1:
                within = keys[-2].partition("/")[0]
            for child in reversed(node.children):
                if child.is_named and child.type not in COMMENTS:
                    parents = dict.fromkeys((node.type, within))
                    left.append((child, [*(f"{p}/{child.type}" for p in parents), child.type]))
    return None


def symbols(node: Any, joint: str) -> list[str]:
    """What a node is made of, without comments: its children as kinds and 'tokens', and ~text that
    is in none of them. joint: the token that joins lines."""
    found, end = [], node.start_byte
    text = node.text
    for child in [*node.children, None] if node.children else ():
        start = node.end_byte if child is None else child.start_byte
        between = text[end - node.start_byte : start - node.start_byte].decode().strip()
        if between:
            found.append("~number" if between.isdecimal() else f"~{between}")
        if child is None:
            break
        end = child.end_byte
        if child.type not in (*COMMENTS, joint):
            found.append(
                child.type if child.is_named else f"'{NEWLINE.get(child.type, child.type)}'"
            )
    return found


def walk(node: Any) -> Iterator[Any]:
    """A node and all below it."""
    left = [node]
    while left:
        found = left.pop()
        yield found
        left += reversed(found.children)


def words(node: Any) -> str:
    """The source text of a node of the syntax tree."""
    return node.text.decode()


def unread(node: Any, why: str) -> UnsupportedSyntax:
    """An error that names the place."""
    text = " ".join(words(node).split())
    text = text if len(text) <= 60 else text[:57] + "..."
    return UnsupportedSyntax(f"line {node.start_point[0] + 1}: {text}: {why}")


OTHER_FORMS = (AttributeError, IndexError, KeyError, StopIteration, TypeError, ValueError)


def understood(node: Any, reads: Callable[[], Found]) -> Found:
    """What reads() finds. Raises UnsupportedSyntax where a part of the tree has none of the forms that it knows."""
    try:
        return reads()
    except LegoError:
        raise
    except RecursionError:
        raise unread(node, "nested too deep") from None
    except OTHER_FORMS as error:
        raise unread(node, "a form that the checker does not know") from error


def inside(node: Any) -> list[Any]:
    """The named children that are no comments."""
    return [c for c in node.named_children if "comment" not in c.type]


# -- running a function on terms -----------------------------------------------------------------

Scope = dict[str, Value]


@dataclass
class Statement:
    """One statement, as all languages have it. kind: "set" (target, value; declares: a new name, which
    may not hide another one, unless it hides: of the function itself, not of a block), "end" (of names), "if" (value, then, otherwise), "loop" (value: as long as it holds;
    then: the body with its step), "block" (then), "return" (values), "demand" (value: what must
    hold there)."""

    kind: str
    node: Any = None
    target: str = ""
    type: Type | None = None
    value: Any = None
    values: Sequence[Any] = ()
    then: Sequence[Statement] = ()
    otherwise: Sequence[Statement] = ()
    names: tuple[str, ...] = ()  # of the values
    declares: bool = False
    hides: bool = False

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
            if s.kind == "end":
                for name in s.names:
                    scope.pop(name, None)
            elif s.kind == "demand":
                self.machine.demand(HOLDS, self.expression(s.value, scope).term)
            elif s.kind == "set":
                if s.declares and not s.hides and s.target in scope:
                    raise unread(s.node, "a second variable of this name")
                value = self.expression(s.value, scope)
                known = None if s.hides else scope.get(s.target)
                kind = s.type or (known.type if known is not None else None)
                scope[s.target] = self.assigned(value, kind)
            elif s.kind in ("loop", "block"):
                found = self._loop(s, scope) if s.kind == "loop" else self._block(s.then, scope)
                if found is not None:
                    return found
            elif s.kind == "if":
                condition = self.expression(s.value, scope).term
                if condition.op in ("true", "false"):
                    chosen = s.then if condition.op == "true" else s.otherwise
                    found = self._block(chosen, scope)
                    if found is not None:
                        return found
                    continue
                rest = statements[k + 1 :]
                if s.returns:
                    return self._split(condition, s, rest, scope)
                self._joined(condition, s, scope)
        return None

    def _block(self, statements: Sequence[Statement], scope: Scope) -> tuple[Value, ...] | None:
        """What they declare ends with them."""
        found = self.run(statements, scope)
        for s in statements:
            if s.declares:
                scope.pop(s.target, None)
        return found

    def _split(
        self, condition: Term, s: Statement, rest: Sequence[Statement], scope: Scope
    ) -> tuple[Value, ...] | None:
        found = []
        for holds, part in ((condition, s.then), (made("lnot", condition), s.otherwise)):
            end = Statement("end", names=tuple(p.target for p in part if p.declares))
            with self.machine.under(holds):
                found.append(self.run([*part, end, *rest], dict(scope)))
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

    def _loop(self, s: Statement, scope: Scope) -> tuple[Value, ...] | None:
        for _ in range(MOST_STEPS):
            condition = self.expression(s.value, scope).term
            if condition.op == "false":
                return None
            if condition.op != "true":
                raise unread(s.node, "how often the loop runs depends on a parameter")
            found = self._block(s.then, scope)
            if found is not None:
                return found
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


@dataclass
class File:
    """A parsed file. functions: the definitions of each name; tables: (type, entries) of each constant
    table. A language says how its definitions look."""

    root: Any
    language: str
    divisions: Divisions = field(default_factory=Divisions)
    functions: dict[str, list[Any]] = field(default_factory=dict)
    tables: dict[str, tuple[Type, list[int]]] = field(default_factory=dict)
    unclear: set[str] = field(default_factory=set)  # names of several tables
    roots: dict[str, str] = field(default_factory=dict)  # helpers that give square roots
    branch: bool | None = None  # while a helper is run: which way what the machine decides goes
    branched: bool = False  # whether it decided anything
    counts: Mapping[str, int] = field(default_factory=dict)  # of elements, by array

    def __post_init__(self) -> None:
        understood(self.root, self.collect)
        for name in self.divisions.words & self.functions.keys():
            raise unread(self.functions[name][0], f"a second function {name}")
        for node in walk(self.root) if self.divisions.helpers else ():
            if not node.children and words(node) in self.divisions.helpers and not _is_called(node):
                raise unread(node, "another use of a helper's name")

    @property
    def overloads(self) -> bool:
        """Whether functions of one name are told apart by the types of their parameters."""
        return False

    def collect(self) -> None:
        """Fill functions and tables."""
        raise NotImplementedError

    def parameters(self, node: Any, strict: bool = False) -> list[tuple[str, Any, bool]]:
        """(name, type, whether it is for a result) of each parameter of a definition; the type None
        where it is no plain integer: with strict, UnsupportedSyntax is raised there."""
        raise NotImplementedError

    def static(self, node: Any) -> tuple[str, ...]:
        """The parameters, the first ones, that are known when a caller of a definition is compiled."""
        return ()

    def comment(self, node: Any) -> str:
        """What stands before a definition."""
        raise NotImplementedError

    def call(self, node: Any, machine: Machine) -> Call:
        """A run of a definition."""
        raise NotImplementedError

    def add_table(self, name: str, kind: Type, numbers: list[int]) -> None:
        """A constant table. Of two of one name neither is known."""
        if name in self.tables and self.tables[name] != (kind, numbers):
            self.unclear.add(name)
        self.tables[name] = kind, numbers

    def table(self, node: Any, name: str) -> tuple[Type, list[int]]:
        """The table of a name. Raises UnsupportedSyntax where it is not known."""
        if name not in self.tables or name in self.unclear:
            raise unread(node, "a table that is not in the text, or not once")
        kind, numbers = self.tables[name]
        low, high = kind.lowest, kind.highest
        if low is not None and high is not None and not all(low <= n <= high for n in numbers):
            raise unread(node, f"not every entry of the table is of the type {kind.name}")
        return kind, numbers

    def definition(
        self, name: str, count: int | None = None, types: Sequence[Type] | None = None
    ) -> Any:
        """The function of a name on plain integers, with so many parameters; None without one. types: of the
        arguments of a call: where the language has overloads, the one of exactly these is called."""
        found = []
        for node in self.functions.get(name, ()):
            params = self.parameters(node)
            given = sum(not out for _, _, out in params)
            if all(kind is not None for _, kind, _ in params) and count in (None, given):
                found.append(node)
        if len(found) > 1 and types is not None and self.overloads:
            found = [n for n in found if [k for _, k, _ in self.parameters(n)] == [*types]] or found
        if len(found) > 1:
            raise unread(found[1], f"a second function {name}")
        if found and count is not None and self.static(found[0]):
            raise unread(found[0], "a call of a function that is compiled for a number")
        return found[0] if found else None

    def read(self, name: str, params: Sequence[str] = (), prepare: str = "") -> Function | None:
        """A function as terms. params: the names of what it takes, for an array of which the text does not
        say how many elements it has; prepare: the function that makes its first parameter of some of
        these."""
        self.counts = Counter(whole(param) for param in params if param[-1:] == "]")
        made_by = understood(self.root, lambda: self._read(prepare)) if prepare else None
        if prepare and made_by is None:
            raise UnsupportedSyntax(f"the text has no function {prepare}")
        return understood(self.root, lambda: self._read(name, made_by))

    def _read(self, name: str, prepare: Function | None = None) -> Function | None:
        node = self.definition(name)
        if node is None:
            for other in self.functions.get(name, ()):
                self.parameters(other, strict=True)
            return None
        params = [(n, kind) for n, kind, out in self.parameters(node) if not out]
        machine = Machine()
        call = self.call(node, machine)
        given, sizes = self._given(node, params, prepare) if prepare is not None else ({}, "")
        found = call.run([given.get(n) or Value.of(n, kind) for n, kind in params])
        if prepare is not None:
            params = [*prepare.params, *params[len(given) :]]
            machine.demands[:0] = prepare.demands
            machine.trusted |= {*prepare.trusted}
        machine.demands = [d for d in machine.demands if not self.divisions.holds(d.holds)]
        terms = [*(value.term for value in found), *(d.holds for d in machine.demands)]
        known = {*self.divisions.numbers, *(n for n, _ in params)}
        if not frozenset().union(*(t.names() for t in terms)) <= known:
            raise unread(node, "a result is used before it is set")
        return Function(
            name,
            tuple(params),
            found,
            tuple(machine.demands),
            self.comment(node),
            call.names,
            node.start_point[0] + 1,
            tuple(sorted(machine.trusted)),
            self.static(node),
            prepare,
            sizes,
        )

    def _given(
        self, node: Any, params: Sequence[tuple[str, Type]], prepare: Function
    ) -> tuple[dict[str, Value], str]:
        """(what the members of its first parameter are, the name of that) of a function that takes what another
        one gives."""
        sizes = whole(params[0][0]) if params else ""
        fields = [f"{sizes}.{name}" for name in prepare.names]
        own = [name for name, _ in params if whole(name) == sizes]
        if not fields or own != fields or [n for n, _ in params[: len(fields)]] != fields:
            raise unread(node, f"its first parameter is not what {prepare.name} gives")
        return dict(zip(fields, prepare.results, strict=True)), sizes

    def text(self) -> Text:
        """The whole file as a Text: its functions by name, each read when it is asked for."""
        names = [name for name, nodes in self.functions.items() for _ in nodes]
        return Text(self.language, names, self.read)

    def root_of(self, node: Any, name: str, kind: Type) -> str:
        """How a helper was found to give the square root; "" where it does not."""
        if name not in self.roots:

            def run(n: int) -> int | None:
                found = {once(n, self.branch)}
                if self.branched:
                    found.add(once(n, True))
                return found.pop() if len(found) == 1 else None

            def once(n: int, branch: bool | None) -> int | None:
                before, self.branch = self.branch, bool(branch)
                machine = Machine(depth=1)
                try:
                    found = self.call(node, machine).run([Value(term_of(n), kind)])
                finally:
                    self.branch = before
                wrong = any(d.holds is not TRUE for d in machine.demands)
                return None if wrong else found[0].term.constant

            self.branched = False
            count = is_root(run, kind.highest or 0)
            how = ", and the machine's own taken to round to nearest" if self.branched else ""
            self.roots[name] = f"{name} (it was run at {count} numbers{how})" if count else ""
        return self.roots[name]


@dataclass
class Call:
    """One run of a function on terms; a language says what its statements and expressions are."""

    file: File
    node: Any
    machine: Machine
    names: tuple[str, ...] = ()  # of the results, where the text returns them by name

    def body(self) -> list[Statement]:
        """The statements of the function that is called."""
        raise NotImplementedError

    def value(self, node: Any, scope: Scope) -> Value:
        """The value of an expression in a scope."""
        raise NotImplementedError

    def implicit(self, value: Value, kind: Type) -> Value:
        """A value where another type is expected."""
        raise NotImplementedError

    def key(self, name: str) -> str:
        """What a name is looked up by."""
        return name

    def place(self, name: str) -> str:
        """What a result that is written to is looked up by."""
        return self.key(name)

    def returned(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """What is returned, in the function's type."""
        return values

    def run(self, arguments: Sequence[Value]) -> tuple[Value, ...]:
        """The results of the function for these arguments."""
        params = self.file.parameters(self.node)
        given = [(n, kind) for n, kind, out in params if not out]
        if len(given) != len(arguments):
            raise unread(self.node, f"called with {len(arguments)} arguments")
        scope = {
            self.key(n): self.implicit(a, kind)
            for (n, kind), a in zip(given, arguments, strict=True)
        }
        results = [(self.place(n), kind) for n, kind, out in params if out]
        for name, kind in results:
            scope[name] = Value(var(f"{name} before it is set"), kind)
        runner = Runner(self.machine, self.value, self._finish, self._assigned)
        found = runner.run(self.body(), scope)
        if found is not None:
            return found
        if not results:
            raise unread(self.node, "its end is reached without a result")
        return tuple(scope[name] for name, _ in results)

    def _finish(self, s: Statement, scope: Scope) -> tuple[Value, ...]:
        if s.names:
            if self.names and self.names != s.names:
                raise unread(s.node, "the results have other names elsewhere")
            self.names = s.names
        return self.returned(tuple(self.value(v, scope) for v in s.values))

    def _assigned(self, value: Value, kind: Type | None) -> Value:
        return value if kind is None else self.implicit(value, kind)

    def helper(self, node: Any, name: str, values: Sequence[Value]) -> Value:
        """A call of another function of the text."""
        if name in self.file.divisions.helpers:
            return self.prepared(node, self.file.divisions.helpers[name], values)
        definition = self.file.definition(name, len(values), [value.type for value in values])
        if definition is None:
            raise unread(node, "a function that the text does not define")
        kind = next((kind for _, kind, _ in self.file.parameters(definition)), None)
        if len(values) == 1 and "sqrt" in name.lower() and kind is not None:
            tried = self.file.root_of(definition, name, kind)
            if tried:
                return self.root(values[0], kind, tried)
        if self.machine.depth > 8:
            raise unread(node, "calls that go too deep")
        self.machine.depth += 1
        try:
            found = self.file.call(definition, self.machine).run(values)
        finally:
            self.machine.depth -= 1
        if len(found) != 1:
            raise unread(node, "a helper of several results")
        return found[0]

    def prepared(self, node: Any, helper: Helper, values: Sequence[Value]) -> Value:
        """What a helper gives that divides by numbers that are prepared, or prepares them."""
        numbers, kind = self.file.divisions.numbers, helper.type
        first = self.implicit(values[0], kind)
        if helper.what:
            if len(values) != 1:
                raise unread(node, f"called with {len(values)} arguments")
            self.machine.demand(FITS, first.term >= 0)
            return Value(var(self.file.divisions.number(helper, first.term)), helper.gives)
        parts = ("_mul", "_shift") if kind.signed else ("_mul", "_add", "_shift")
        by = [numbers.get(str(v.term.args[0])) for v in values[1:] if v.term.op == "var"]
        made_of = [n[0] for n in by if n is not None]
        divisors = {n[1].key: n[1] for n in by if n is not None}
        if made_of != [Helper(part, kind) for part in parts] or len(divisors) != 1:
            raise unread(node, "a division by what is not prepared for one divisor")
        (divisor,) = divisors.values()
        self.machine.demand(DIVISOR, made("land", made("le", 1, divisor), first.term >= 0))
        self.machine.trusted.add(
            f"the division by a product and a shift ({words(node).partition('(')[0]})"
        )
        return Value(made("fdiv", first.term, divisor), kind)

    def root(self, value: Value, kind: Type, what: str) -> Value:
        """The square root, rounded down, as what gives it."""
        value = self.implicit(value, kind)
        self.machine.demand(FITS, value.term >= 0)
        self.machine.trusted.add(f"the square root by {what}")
        return Value(made("isqrt", value.term), kind)

    def extreme(self, least: bool, a: Value, b: Value, kind: Type) -> Value:
        """min or max of two values of one type."""
        x, y = (a, b) if least else (b, a)
        return Value(made("select", made("lt", x.term, y.term), a.term, b.term), kind)

    def compared(self, sign: str, a: Value, b: Value) -> Value:
        """A comparison of two values of one type."""
        op, turned = COMPARISONS[sign]
        x, y = (b, a) if turned else (a, b)
        return Value(made(op, x.term, y.term), BOOL)


def _is_called(name: Any) -> bool:
    """Whether a name is that of a function that is called."""
    node = name
    while node.parent is not None and node.parent.type == "qualified_identifier":
        node = node.parent
    return (
        node.parent is not None
        and node.parent.type == "call_expression"
        and node == node.parent.children[0]
    )


COMPARISONS = {
    "<": ("lt", False), "<=": ("le", False), ">": ("lt", True), ">=": ("le", True),
    "==": ("eq", False), "!=": ("ne", False),
}  # fmt: skip


def comment_before(node: Any, between: Sequence[str] = ()) -> str:
    """The comment lines right before a definition, whatever nodes of these types stand between."""
    lines: list[str] = []
    before, line = node.prev_sibling, node.start_point[0]
    while before is not None and before.end_point[0] >= line - 1:
        if "comment" in before.type:
            lines.insert(0, words(before).rstrip("\n"))
        elif before.type not in between:
            break
        line = before.start_point[0]
        before = before.prev_sibling
    return "\n".join(lines)
