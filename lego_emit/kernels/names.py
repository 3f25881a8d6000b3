"""What a rendering knows of its names: their types and ranges, what is assumed, what a value comes to."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import count
from typing import Any

from ..algebra.block import Block
from ..arguments import candidates
from ..arith.assume import parse
from ..arith.context import bound
from ..arith.expr import RUNNING, Expr
from ..arith.given_ranges import parse_ranges
from ..arith.terms import Atom
from ..emit.printer import Printer
from ..errors import AssumptionError, TemplateError, did_you_mean, short_repr
from ..ir.index_types import IndexType
from ..ir.program import Program
from ..notation import UnreadableError, tree_of
from ..numeric import is_integer, is_symbolic
from ..pipeline import dialect_of, lowered_program
from ..problems import stated
from ..trace.follow import TraceOptions, go_on, run_trace
from ..trace.functions import index_of
from ..trace.learn import learn_layout
from ..trace.paths import here
from ..trace.trace import Trace
from .loops import PARTS, Parted, parted
from .placed import sizes_of
from .tags import place
from .texts import MARKED, NOTE, NOTED, STORAGE, Regions, declared_in, fault, names_in
from .values import Kernel, Name, Value

OPAQUE = re.compile(r"\bexpression_\d+\b")  # names that stand for text of the kernel's own
NAMES = re.compile(r"(?<![\w.])[^\W\d]\w*")
WRITTEN = re.compile(r"(?:[\s()+*-]|(?<!\w)(?:\d+|[^\W\d]\w*)(?!\w))*")  # each number a decimal one
ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
BLOCK = re.compile(r"\bblock_\d+\b")  # and for the numbers below a size


class Names(Kernel):
    """The printer, the names and their types, what is assumed of them.

    assumptions: what the expressions that were printed rest on, as a header says it.
    """

    arch: str | None = None
    asked: Sequence[Any] = ()  # conditions that the kernel asks where a value is used

    def __init__(
        self,
        printer: Printer,
        index_type: str | None,
        assume: Sequence[Any],
        ranges: Mapping[str, Any],
        where: Mapping[str, Any],
    ):
        own = printer.kernel_types or printer.default_index
        self.printer, self.index_type = printer, own[0] if len(own) == 1 else index_type
        self.assume, self.ranges, self.where = [*assume], dict(ranges), dict(where)
        self.types: dict[str, IndexType] = {}
        self.names: dict[str, Name] = {}
        self.typed_names: set[str] = set()  # those whose type the template says
        self.sizes: set[str] = set()
        self.assumptions: dict[str, None] = {}
        self._promises: dict[str, str] = {}  # the ranges of names that were written as statements
        self._texts: dict[str, str] = {}  # the names of opaque texts, and they
        self._made: dict[str, set[str]] = {}  # what the names that were written are made of
        self._blocks: dict[str, str] = {}  # the names of the numbers below a size, and their texts
        self._scopes: list[Any] = []
        self._ended: set[str] = set()  # names of inner scopes
        self._bindings: dict[str, Any] = {}
        self.given: set[str] = set()  # what layouts, functions and numbers are called
        self.told: list[str] = []  # warnings
        self.masks: set[str] = set()  # names that are conditions
        self.written: set[str] = set()  # names that a statement of the template gave their values
        self.taken: set[str] = (
            set()
        )  # names in the templates' texts, of a language without expressions
        self.counted: Mapping[str, frozenset[str]] = {}  # by place, what the innermost loop counts
        self._notes: list[Note] = []  # of what was printed
        self._unprinted: dict[str, str] = {}  # texts that were not, and their places
        self._programs: dict[Any, tuple[Program, set[str]]] = {}
        self._traces: dict[Any, Trace] = {}
        if not (printer.declaration or printer.kernel_lines):
            raise TemplateError(f"kernels are not rendered in {printer.title} yet")
        if index_type not in (None, "auto", self.index_type):
            raise TemplateError(f"kernels in {printer.title} compute in {own[0]}, not {index_type}")
        candidates(index_type, printer)
        self._usual = printer.index_types[own[0]]  # the language's int
        self.typed = index_type not in (None, "auto")

    def declare(self, name: str, type_name: str | None = None, typed: bool = True) -> Value:
        """A name of the kernel's own, of an index type; the language's usual int unless said. typed:
        it is the template that says it."""
        spelled = {text: name for name, text in reversed([*self.printer.types.items()])}
        if self.printer.kernel_lines and type_name in spelled:
            type_name = str(spelled[type_name])
        if type_name is not None and type_name not in self.printer.types:
            known = [*self.printer.index_types]
            raise TemplateError(
                f"{name}: no type {short_repr(type_name)}; {self.printer.title} has {', '.join(known)}."
                f"{did_you_mean(type_name, known)}"
            )
        ascii_only = self.printer.kernel_lines is not None
        if (
            not name.isidentifier()
            or name in self.printer.reserved
            or (ascii_only and not name.isascii())
        ):
            raise TemplateError(
                f"{short_repr(name)} is not a name in {self.printer.title}; write identifiers, as in "
                "pm, pn: int32, i"
            )
        if name in self.given:
            raise TemplateError(
                f"{name} is given, as a layout or another value, and the kernel's own {name} would hide "
                "it: take another name for one of them"
            )
        if name in self.types and name not in self.sizes:
            self._forget(name)
        self.types[name] = self.printer.index_types[type_name] if type_name else self._usual
        if type_name and typed:
            self.typed_names.add(name)
        if name not in self.sizes:
            self.names[name] = Name(self, lambda: self._bound(name), name)
        return self.names[name]

    def size(self, name: str) -> Value:
        """A layout's own size, which is a name of the kernel's too."""
        self.types.setdefault(name, self._usual)
        self.sizes.add(name)
        return self.names.setdefault(name, Name(self, lambda: self._bound(name), name))

    def enter(self) -> None:
        """Begin a scope of the template: a loop, a macro or a block."""
        known = {**self.names}, {**self.types}, {**self._made}, {*self.typed_names}, [*self.assume]
        self._scopes.append(known)

    def leave(self) -> None:
        """The scope ends, and with it what was assumed and declared there. Of a name that was declared
        before, too, nothing is known then, for the kernel's language may have other scopes."""
        names, types, made, typed, assume = self._scopes.pop()
        for name in [n for n, value in self.names.items() if names.get(n) is not value]:
            inner, of = self.types.pop(name), self._made.get(name, set())
            positions = self.names.pop(name).positions
            self._forget(name)
            if name in names and (narrower := _narrower(types[name], inner)):
                self.names[name], self.types[name] = names[name], narrower
                for held in positions | names[name].positions:
                    held.lost = f"{name} is assigned again: ask before that"
                names[name].positions |= positions
                self._made[name] = of
                self.typed_names |= typed & {name}
            else:
                self._ended.add(name)
        for name in made.keys() & self.names.keys():
            self._made[name] = self._made.get(name, set()) | made[name]
        self.assume = [a for a in self.assume if any(a is said for said in assume)]

    def suppose(self, said: Any) -> None:
        """One more assumption, of names that are declared."""
        for name in sorted(names_of(said)):
            self.declared(name, f"assume {short_repr(said)}")
        self.assume.append(said)

    def finished(self) -> None:
        """Raises TemplateError where something was said of what the template has not."""
        for text in self.where:
            if text not in self._texts.values():
                raise TemplateError(
                    f"where: the template gives no layout the text {short_repr(text)}."
                    f"{did_you_mean(text, list(self._texts.values()))}"
                )
        for said in self.assume:
            for name in sorted(names_of(said)):
                self.declared(name, f"assume {short_repr(said)}")
        for name in self.ranges:
            if name not in self._texts:
                self.declared(name, "ranges")

    def reassigned(self, name: str) -> None:
        """The name has another value from now on: no in_bounds can ask for a position of the one before."""
        for value in self.names.values():
            for held in value.positions:
                if name in set[str]().union(*map(self._words, held.names)):
                    held.lost = f"{name} is assigned again: ask before that"

    def _forget(self, name: str) -> None:
        """The name stands for another value from now on."""
        self.reassigned(name)
        stale = {n for n, said in self._promises.items() if n == name or name in names_of(said)}
        self._promises = {n: p for n, p in self._promises.items() if n not in stale}
        self.assume = [a for a in self.assume if name not in names_of(a)]
        self.ranges.pop(name, None)
        self._made = {n: of - {name} for n, of in self._made.items() if n != name}
        self.typed_names.discard(name)
        self.masks.discard(name)
        self.written.discard(name)

    def declared(self, name: str, user: str) -> None:
        """Raises TemplateError unless the name is one."""
        self._check_scope(name, user)
        if name not in self.types:
            raise TemplateError(
                f"{user}: {name} is not a declared name.{did_you_mean(name, list(self.types))}"
            )

    def _check_scope(self, name: str, user: str, meant: Name | None = None) -> None:
        """Raises TemplateError where a name is no longer the one that was meant, or none."""
        now = self.names.get(name)
        if now is not meant if meant is not None else now is None and name in self._ended:
            raise TemplateError(
                f"{user}: {name} was declared again, or in a loop, macro or block that has ended; write "
                f"{{% names {name} %}} where it is meant, or take another name"
            )

    def _bound(self, name: str) -> Expr:
        symbol = bound(Expr.atom(Atom("sym", name)))
        if (running := RUNNING.get()) is not None:
            made = running.analyzer.facts.symbol(name)
            if made.constant is not None:  # in the check of an emission, which is slow on symbols
                symbol = bound(made)
        return symbol + self._bindings[name] if name in self._bindings else symbol

    @contextmanager
    def moved(self, deltas: Mapping[str, Any]) -> Iterator[None]:
        """While the block runs, names are advanced by so much."""
        before = self._bindings
        self._bindings = {**before, **deltas}
        try:
            yield
        finally:
            self._bindings = before

    def value(self, given: Any) -> Value:
        """A value of a value, a number, a symbol, or text of the kernel's own language."""
        if isinstance(given, Value):
            return given
        if isinstance(given, str):
            return self._text(given)
        if is_integer(given):
            return Value(self, lambda: int(given), str(given))
        if is_symbolic(given):
            return Value(self, lambda: Expr.of(given), repr(given), names=Expr.of(given).symbols())
        if (name := getattr(given, "_undefined_name", None)) is not None:
            raise TemplateError(
                f"{name} is not a declared name, and nothing of that name was given."
                f"{did_you_mean(name, [*self.types])}"
            )
        raise TemplateError(
            f"{short_repr(given)} is not an index: give a declared name, an integer, an expression of them, "
            "or text of the kernel's language"
        )

    def _text(self, text: str) -> Value:
        """A name, or any other expression of the language, which is taken as it stands."""
        text = text.strip()
        if self.printer.kernel_lines and text.startswith("%"):
            text = text[1:]
        self._check_scope(text, f"the text {short_repr(text)}")
        if text in self.types:
            return self.names.get(text, Value(self, lambda: self._bound(text), text, names=[text]))
        if text not in self.where and (known := self._arithmetic(text)) is not None:
            return known
        if self.printer.kernel_lines:
            raise TemplateError(
                f"{short_repr(text)}: {self.printer.title} has no expressions; name the value, as in "
                "{% names x: index %}, and give the name"
            )
        if why := fault(text, self.printer):
            raise TemplateError(
                f"{short_repr(text)} {why}: give each index one expression in {self.printer.title}"
            )
        known = {t: n for n, t in self._texts.items()}
        name = known.get(text) or fresh(f"expression_{len(self._texts) + 1}", self.types)
        self._texts[name] = text
        self.types.setdefault(name, self._usual)
        if text in self.where:
            self.ranges[name] = self.where[text]
            try:
                parse_ranges({name: self.where[text]})
            except AssumptionError as error:
                raise AssumptionError(f"where: {str(error).replace(name, f'({text})')}") from None
        of = [self.names[word] for word in NAMES.findall(text) if word in self.names]
        if self._strange([name]):
            self._unprinted.setdefault(name, place())
        return Value(self, lambda: self._bound(name), text, of, names=[name])

    def _arithmetic(self, text: str) -> Value | None:
        """The value of a text that is a sum or a product of declared names and numbers, which means the same
        in each language; None of any other."""

        def value(node: ast.AST) -> Value:
            match node:
                case ast.Name(id=name) if name in self.types:
                    return self._text(name)
                case ast.Constant(value=int()):
                    return self.value(node.value)
                case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
                    return ARITHMETIC[type(op)](value(left), value(right))
                case ast.UnaryOp(op=ast.USub(), operand=operand):
                    return -value(operand)
                case _:
                    raise UnreadableError

        if not WRITTEN.fullmatch(text):
            return None
        try:
            return value(tree_of(text))
        except (UnreadableError, RecursionError):
            return None

    def noted(self, value: Value) -> str:
        """The mark of what checked() is to see of a value that is printed here."""
        words = self._strange(value.names)
        if not words and not value.holed:
            return ""
        for name in value.names:
            self._unprinted.pop(name, None)
        self._notes.append(Note(words, [*value.holed], place()))
        return f"{NOTED}{len(self._notes) - 1}{NOTED}"

    def noted_region(self, values: Sequence[Value], defined: Sequence[str] = ()) -> str:
        """The mark by which checked() sees that names which statements defined are used in their blocks, of MLIR
        in their regions. defined: the names that a statement gives these values."""
        used = sorted({name for value in values for name in value.names if name in self.written})
        self._notes.append(Note({}, [], place(), used, defined))
        return f"{NOTED}{len(self._notes) - 1}{NOTED}"

    def _strange(self, names: Iterable[str]) -> dict[str, str]:
        """The names in texts that only the kernel's own text can have declared, and which text."""
        texts = [self._texts[name] for name in names if name in self._texts]
        words = {word: text for text in texts for word in names_in(text, self.printer)}
        known = {*map(self._spelled_alike, self.types)} if words else set[str]()
        return {
            word: text
            for word, text in words.items()
            if (alike := self._spelled_alike(word)) not in known and alike not in self._common
        }

    @cached_property
    def _common(self) -> set[str]:
        """The language's own names, and those that `where` speaks of."""
        own = self.printer.reserved | self.printer.reserved_functions | self.printer.builtins
        said = (word for text in self.where for word in names_in(text, self.printer))
        return {*map(self._spelled_alike, (*own, *said))}

    def _spelled_alike(self, name: str) -> str:
        return name.lower() if self.printer.case_insensitive else name

    def checked(self, found: str) -> str:
        """What was rendered without the notes' marks, which ask whether the kernel declares the names in
        the texts of its own before, and what a size is used for.

        Raises TemplateError where it does not.
        """
        if not self._notes and not self._unprinted:
            return found
        *pieces, last = NOTE.split(found)
        parts, numbers = [*pieces[::2], last], [int(k) for k in pieces[1::2]]
        bare = [MARKED.sub("0", part) for part in parts]
        declared: dict[str, int] = {}
        for word, end in declared_in("".join(bare), self.printer):
            declared.setdefault(self._spelled_alike(word), end)
        before, regions = "", Regions(self.printer)
        for part, k in zip(bare, numbers, strict=False):
            before += part
            note = self._notes[k]
            regions.read(part)
            if ended := regions.ended(note.used):
                in_mlir = self.printer.kernel_lines
                block = "region" if in_mlir else "block" if regions.braces else "function"
                raise TemplateError(
                    f"{note.place}: {'%' * bool(in_mlir)}{ended[0]} was defined in a "
                    f"{block} that has ended; where another one is meant write "
                    f"{{% names {ended[0]} %}}"
                )
            regions.define(note.defined)
            self._check_words(note.words, declared, len(before), note.place)
            if note.holed and STORAGE.search(before.rpartition("\n")[2][-400:]):
                self.told += [
                    f"{note.place}: {name}.size counts indices, and {name} has more positions: where its "
                    f"storage is declared write {name}.physical_size"
                    for name in note.holed
                ]
        for name, where in self._unprinted.items():
            self._check_words(self._strange([name]), declared, len(found), where)
        return "".join(parts)

    def _check_words(
        self, words: Mapping[str, str], declared: Mapping[str, int], at: int, where: str
    ) -> None:
        for word, text in words.items():
            if declared.get(self._spelled_alike(word), at + 1) > at:
                known = [*self.types, *(name for name, end in declared.items() if end <= at)]
                known = [name for name in known if name not in self._texts]
                meant = did_you_mean(word, known) or did_you_mean(word, sorted(self._common))
                if word in self.given:
                    raise TemplateError(
                        f"{where}: {word} is given to the template, and no name of the kernel's, which has "
                        f"the text {short_repr(text)} as it stands; write {word} without quotation marks"
                    )
                raise TemplateError(
                    f"{where}: {word} in the text {short_repr(text)} is neither declared nor assigned before, "
                    f"and no name of {self.printer.title}'s own; where it is meant, write "
                    f"{{% names {word} %}}.{meant}"
                )

    def unknown(self, name: str, size: Any) -> Value:
        """An index below a size that is in no kernel's text: what is proven holds for all of them."""
        size, name = self.value(size), f"any_{name}"

        def make() -> Expr:
            here().analyzer.learn_range(name, Expr.of(0), Expr.of(size.make()) - 1)
            return bound(Expr.atom(Atom("sym", name)))

        return Value(self, make, f"{name} < {size.said}", [size])

    def is_zero(self, value: Value) -> bool:
        """Whether a value is proven to be 0 wherever what is known holds. A proof's assumptions of the kernel's own
        names are then among those of the rendering."""
        types, assumptions = {**self.types}, {**self.assumptions}
        (function,) = self._program({"value": value}).functions
        node = function.outputs[0][1]
        proven = node.op == "const" and node.value == 0
        if proven:
            rested = [said for said in self.assumptions if {*NAMES.findall(said)} <= types.keys()]
            assumptions |= dict.fromkeys(rested)
        self.types, self.assumptions = types, assumptions
        return proven

    def doubts(self, position: Sequence[Value]) -> bool:
        """Yes: of threads and of elements there may be more than positions."""
        return True

    def taken_from(self, name: str, value: Value) -> None:
        """The name is the value from now on, of the index of these positions, some of which may have none."""
        self.names[name].positions = value.positions
        if any(held.holes for held in value.positions):
            self._promises.pop(name, None)

    def _words(self, name: str) -> set[str]:
        """A name, or those in the text that it stands for."""
        return {*NAMES.findall(self._texts.get(name) or self._blocks.get(name, name))}

    def _names_in(self, name: str) -> set[str]:
        """A name, and those that it is made of."""
        words = self._words(name)
        return words.union(*(self._made.get(word, ()) for word in words))

    def moves(self, names: Iterable[str], counted: frozenset[str]) -> bool:
        """Whether what a loop counts is in these names, or in what they are made of."""
        return any(not counted.isdisjoint(self._names_in(name)) for name in names)

    def _program(
        self,
        values: Mapping[str, Value],
        counted: frozenset[str] = frozenset(),
        index_type: IndexType | None = None,
    ) -> Program:
        """Values as a lowered function of all names, of which params are those that it uses. counted:
        of one value, the names whose summands are a result of their own. index_type: where it is not the
        rendering's."""
        for value in values.values():
            for name in value.made_of:
                self._check_scope(name.said, value.said, name)
        what = tuple(
            (
                name,
                type(value),
                value.said,
                *(x if isinstance(x, str) else id(x) for x in value.rests_on),
            )
            for name, value in values.items()
        )
        layouts = tuple(dict.fromkeys(x for value in values.values() for x in value.layouts))
        names = set[str]().union(*(value.names for value in values.values()))
        names.update(name for layout in layouts for name in sizes_of(layout))
        while True:
            said = self._said(names)
            typed = names | (values.keys() & self.typed_names)
            wide = any(self.types[n].most > self._usual.most for n in typed & self.types.keys())
            key = what, tuple(map(id, layouts)), said.key, wide, counted, index_type
            if key not in self._programs:
                made = self._made_program(values, layouts, said, wide, counted, index_type)
                self._programs[key] = made
            program, params = self._programs[key]
            more = params & said.spoken
            if more <= names:
                return program
            names |= more  # of a function that brings names of its own

    def _said(self, names: set[str]) -> Stated:
        """All that is said of these names, which those that are named with them are added to."""
        assume = [(a, names_of(a)) for a in (*self.assume, *self._promises.values())]
        assume = [(a, of) for a, of in assume if of <= self.types.keys()]
        ranges = {n: r for n, r in self.ranges.items() if n in self.types}
        given = parse_ranges(ranges or None)
        spoken = [of for _, of in assume]
        spoken += [{r.name}.union(*(e.symbols() for e in r.bounds)) for r in given]
        while more := [of for of in spoken if not of.isdisjoint(names) and not of <= names]:
            names.update(*more)
        return Stated(
            [name for name in self.types if name in names],
            [a for a, of in assume if of <= names],
            {n: r for n, r in ranges.items() if n in names},
            set[str]().union(*spoken),
        )

    def _known(self, layouts: tuple[Block, ...], said: Stated) -> Trace:
        """What is known of names and of these layouts' sizes."""
        key = tuple(map(id, layouts)), said.key
        if key not in self._traces:

            def learn(trace: Trace) -> None:
                trace.signature = [*said.names]
                for layout in layouts:
                    learn_layout(layout, here())

            options = TraceOptions(assume=said.assume, ranges=parse_ranges(said.ranges or None))
            self._traces[key] = run_trace(learn, options)[0]
        return self._traces[key]

    def _made_program(
        self,
        values: Mapping[str, Value],
        layouts: tuple[Block, ...],
        said: Stated,
        wide: bool,
        counted: frozenset[str],
        index_type: IndexType | None,
    ) -> tuple[Program, set[str]]:
        """(the program, all of its names). wide: whether a name is declared as more than the usual int,
        which alone keeps values from being computed in that."""
        program, narrowed = self._lowered(values, layouts, said, wide, counted, index_type)
        (function,) = program.functions
        names = {param.name for param in function.params}
        used = {str(node.value) for node in function.nodes() if node.op == "var"}
        tags = {str(Expr.of(tag)) for layout in layouts for tag, _ in layout.tags} & used
        for param in function.params:
            self.types.setdefault(param.name, self._usual)  # a layout's own size
            if param.name in narrowed | tags and param.name not in self._texts:
                self.assumptions[param.range_text] = None
            if param.name in self._texts and param.name not in self.ranges and param.range_text:
                text = self._texts[param.name]
                self.assumptions[param.range_text.replace(param.name, f"({text})")] = None
        for text in function.assumptions:
            text = OPAQUE.sub(lambda m: f"({self._texts.get(m[0], m[0])})", text)
            text = BLOCK.sub(lambda m: self._blocks.get(m[0], m[0]), text)
            self.assumptions[text] = None
        if len(values) == 1 and not counted:
            ((name, value),) = values.items()
            if function.outputs[1:]:
                raise TemplateError(f"{value.said} has {len(function.outputs)} values: give one")
            formulas = tuple((name, node) for _, node in function.formulas)
            named = ((name, function.outputs[0][1]),)
            function = replace(function, outputs=named, formulas=formulas)
        function = replace(function, params=tuple(p for p in function.params if p.name in used))
        return replace(program, functions=(function,)), names

    def _lowered(
        self,
        values: Mapping[str, Value],
        layouts: tuple[Block, ...],
        said: Stated,
        wide: bool,
        counted: frozenset[str],
        index_type: IndexType | None,
    ) -> tuple[Program, frozenset[str]]:
        """(the program, the names whose ranges the layouts have narrowed)."""

        def outputs(_: Trace) -> Any:
            found = {name: value.make() for name, value in values.items()}
            return found if len(found) > 1 else next(iter(found.values()))

        trace, result = go_on(self._known(layouts, said), lambda _: None, outputs)
        usual = "auto" if wide and not self.typed else self.index_type
        dialect = dialect_of(self.printer, index_type or usual)
        dialect = replace(dialect, switches=False)  # no statement stands in an expression
        trace.is_unsigned = dialect.is_unsigned
        subject = index_of(trace, result)
        if counted:
            (made,) = subject.functions
            parts = parted(result, lambda names: self.moves(names, counted))
            named, whole = dict(zip(PARTS, parts, strict=True)), made.definition

            def apart(trace: Trace) -> Any:
                outputs(trace)  # what it learns holds for the parts, too
                return named

            trace, result = go_on(self._known(layouts, said), lambda _: None, apart)
            subject = index_of(trace, result)
            (made,) = subject.functions
            made.definition = Parted(whole, parts[1])
        program = lowered_program(subject, self.printer, dialect, said.assume)
        (function,) = program.functions
        asked = {node for one in self.asked for node in stated(one, trace)}
        function = replace(function, assumed=tuple(c for c in function.assumed if c not in asked))
        return replace(program, functions=(function,)), frozenset(trace.narrowed)


@dataclass
class Note:
    """What is to be checked of a value that was printed: names in its texts, and in which; layouts whose
    sizes are in it; the place in the template; names that statements defined, and define here."""

    words: dict[str, str]
    holed: list[str]
    place: str
    used: Sequence[str] = ()
    defined: Sequence[str] = ()


@dataclass
class Stated:
    """What is said of some names: assumptions, ranges; the names that anything at all is said of."""

    names: list[str]
    assume: list[Any]
    ranges: dict[str, Any]
    spoken: set[str]

    @property
    def key(self) -> tuple[Any, ...]:
        """The same where the same is said."""
        return (*self.names,), (*map(str, self.assume),), (*map(str, self.ranges.items()),)


def _narrower(one: IndexType, other: IndexType) -> IndexType | None:
    """Of two index types the one whose values the other has, too; None where neither is."""
    for narrow, wide in ((one, other), (other, one)):
        (lo, hi), (least, most) = narrow.ends, wide.ends
        if least <= lo <= hi <= most:
            return narrow
    return None


def fresh(name: str, taken: Container[str]) -> str:
    """The name, or with a number behind it where it is taken."""
    return next(n for k in count(1) if (n := f"{name}_{k}" if k > 1 else name) not in taken)


def names_of(assumption: Any) -> frozenset[str]:
    """The names that an assumption speaks of."""
    return _names_in_text(assumption) if isinstance(assumption, str) else _names_in(assumption)


def _names_in(assumption: Any) -> frozenset[str]:
    return frozenset(name for c in parse(assumption) for e in c.exprs() for name in e.symbols())


_names_in_text = lru_cache(maxsize=1024)(_names_in)
