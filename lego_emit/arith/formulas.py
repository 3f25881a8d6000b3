"""What one function computes, as SymPy expressions: the seam between lego_emit and SymPy.

SymPy itself is loaded by whoever has an expression of it, never here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import TraceError, short_repr
from ..notation import is_name
from ..numeric import is_integer, is_sympy
from .expr import Expr
from .given import Pair, are_formulas, is_pair

LONG = 160  # characters of an expression in a message or a title
MOST_WRITTEN = 1000  # parts of one that is written out


class Formulas(Pair):
    """What one emitted function computes, operation by operation: it unpacks as
    `replacements, expressions = formulas`.

    replacements: [(symbol, expression)] of the common parts, in order; expressions: {name of the
    result: expression}. What is known of the symbols goes along, so that generate() takes it as it
    is; `_replace(expressions=...)` keeps it, a pair of one's own knows nothing.
    """

    problem: Any = None  # what the function was lowered from
    unit: str = ""  # the name of its unit
    _made: Pair | None = None  # as it was made: what is changed later is read anew

    @classmethod
    def of(
        cls,
        replacements: Sequence[tuple[Any, Any]],
        expressions: Mapping[str, Any],
        problem: Any,
        unit: str,
    ) -> Formulas:
        """A function's formulas, with what is known of their symbols."""
        made = cls([*replacements], dict(expressions))
        made.problem, made.unit = problem, unit
        made._made = Pair([*replacements], dict(expressions))
        return made

    @property
    def unchanged(self) -> bool:
        """Whether it is still what unit.sympy gave."""
        return self._made is not None and tuple(self) == tuple(self._made)

    def _replace(self, **changes: Any) -> Formulas:  # pyright: ignore
        made = Formulas(**{**self._asdict(), **changes})
        made.problem, made.unit, made._made = self.problem, self.unit, self._made
        return made

    def __reduce__(self) -> Any:
        # What is known is not written out: a copy from elsewhere is given ranges= again.
        return Formulas, (self.replacements, self.expressions)


# -- what users write ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Given:
    """Expressions that generate() was given: the functions by name, "" of a lone one without; the
    first parameters where it is one function, which all ranges speak of, else None; what the
    functions' names begin with; all of them as text."""

    pairs: Mapping[str, Pair]
    signature: Sequence[str] | None
    prefix: str
    title: str


def formulas_of(subject: Any) -> Given | None:
    """The expressions that generate() was given, None where it was a function or a layout. Raises
    TraceError for what is no integer expression."""
    if not are_formulas(subject):
        return None
    pairs = _functions(subject)
    return Given(
        pairs, _signature(subject) if len(pairs) == 1 else None, _prefix(pairs), _title(pairs)
    )


def _functions(subject: Any) -> dict[str, Pair]:
    """The functions by name; "" is the name of a lone one without."""
    if isinstance(subject, Mapping) and any(map(is_pair, subject.values())):
        found = {}
        for name, value in subject.items():
            if not isinstance(name, str) or not name.isidentifier():
                raise TraceError(f"{short_repr(name)} is not a name for a function")
            if not is_pair(value):
                raise TraceError(
                    f"{name} is {in_short(value)}, beside functions: give all of them as "
                    f"(replacements, expressions), as unit.sympy does"
                )
            found[name] = as_pair(*value) if not isinstance(value, Formulas) else value
        return found
    if is_pair(subject):
        return {"": subject if isinstance(subject, Formulas) else as_pair(*subject)}
    return {"": as_pair([], subject)}


def _signature(subject: Any) -> list[str]:
    """The names of a SymPy Lambda's arguments."""
    if not (is_sympy(subject) and type(subject).__name__ == "Lambda"):
        return []
    if not all(map(is_symbol, subject.signature)):
        raise TraceError(f"{in_short(subject)}: its arguments are no symbols")
    return [s.name for s in subject.signature]


def _prefix(functions: Mapping[str, Pair]) -> str:
    """What the functions' names begin with: layout of layout_apply and layout_inv."""
    first, pair = next(iter(functions.items()))
    heads = [pair.unit] if isinstance(pair, Formulas) else []
    heads += [first] if len(functions) == 1 else [first.rpartition("_")[0]]
    fit = (h for h in heads if h and all(f == h or f.startswith(f"{h}_") for f in functions))
    return next(fit, "")


def _title(pairs: Mapping[str, Pair]) -> str:
    """The expressions as SymPy shows them, in one line; a long one is cut."""
    texts = []
    for pair in pairs.values():
        single = len(pair.expressions) == 1 and "result" in pair.expressions
        results = [(n, in_short(e)) for n, e in pair.expressions.items()]
        texts += [e if single else f"{n} = {e}" for n, e in results]
        texts += [f"{s} = {in_short(e)}" for s, e in pair.replacements]
    text = ", ".join(texts)
    return text if len(text) <= LONG else f"{text[: LONG - 2]}.."


def as_pair(replacements: Any, expressions: Any) -> Pair:
    """The pair that someone wrote. Raises TraceError for what is no expression."""
    checked = []
    for one in replacements:
        if not isinstance(one, (tuple, list)) or len(one) != 2 or not is_symbol(one[0]):
            raise TraceError(f"{in_short(one)} is not a replacement; write (symbol, expression)")
        checked.append((one[0], _value(one[0].name, one[1])))
    return Pair(checked, {n: _value(n, e) for n, e in _named(expressions)})


def _named(given: Any) -> Iterable[tuple[str, Any]]:
    """The results by name."""
    if is_sympy(given) and type(given).__name__ == "Lambda":
        given = given.expr
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str) or not name.isidentifier():
                raise TraceError(f"{short_repr(name)} is not a name for a result")
        named = [*given.items()]
    elif isinstance(given, (tuple, list)):
        named = [(f"out{k}" if len(given) > 1 else "result", e) for k, e in enumerate(given)]
    else:
        named = [("result", given)]
    if not named:
        raise TraceError("no expression is given: there is nothing to emit")
    return named


def _value(name: str, value: Any) -> Any:
    if isinstance(value, Expr) or is_sympy(value) or is_integer(value):
        return int(value) if is_integer(value) else value
    raise TraceError(
        f"{name} is {in_short(value)}; give a SymPy expression"
        + (" (sympy.sympify() reads text)" if isinstance(value, str) else "")
    )


def check_replacements(pair: Pair, params: Collection[str], name: str) -> None:
    """Raise TraceError unless each common part has a name of its own and is defined before it is
    used. params: names that have a meaning already; name: whose pair it is."""
    waiting = [symbol.name for symbol, _ in pair.replacements]
    for local in waiting:
        if local in params or waiting.count(local) > 1:
            raise TraceError(f"{name}: {local} is replaced, and has a meaning already")
    for symbol, e in pair.replacements:
        if used := sorted({*waiting} & {s.name for s in symbols_of([e])}):
            raise TraceError(f"{name}: {used[0]} is used in {symbol} before it is defined")
        waiting.remove(symbol.name)


def is_symbol(value: Any) -> bool:
    """Whether a value is a symbol of SymPy."""
    return is_sympy(value) and says(value, "is_Symbol")


def stands(pair: Pair, shaped: bool = False) -> bool:
    """Whether a form is meant: nothing but our nodes, and sums or products of ours among them, or
    all of it once was a form of ours (shaped)."""
    from sympy import Tuple

    from .sympy_nodes import SHAPES, IntegerNode

    for part in parts(expressions_of(pair)):
        if isinstance(part, IntegerNode):
            shaped = shaped or isinstance(part, SHAPES)
        elif not (is_integer(part) or says(part, "is_Integer") or says(part, "is_Symbol")):
            if not isinstance(part, Tuple):  # a table
                return False
    return shaped


def expressions_of(pair: Pair) -> list[Any]:
    """All expressions of a pair."""
    return [*(e for _, e in pair.replacements), *pair.expressions.values()]


def symbols_of(values: Sequence[Any]) -> list[Any]:
    """The symbols in expressions, by name; to SymPy several of one name may be different."""
    found: dict[str, list[Any]] = {}
    for part in parts(values):
        if not says(part, "is_Symbol"):
            continue
        if not is_name(part.name):
            raise TraceError(f"the symbol {part.name!r} is not an identifier; give it a plain name")
        same = found.setdefault(part.name, [])
        same.append(part)
        if len(same) > 1 and {"Dummy", "Wild"} & {type(s).__name__ for s in same}:
            raise TraceError(
                f"two symbols that are different to SymPy have the name {part.name}; symbols are "
                f"known by their names here: give each its own"
            )
    return [s for name in sorted(found) for s in found[name]]


def parts(values: Sequence[Any]) -> Iterator[Any]:
    """Every part of expressions once."""
    seen: set[Any] = set()
    stack = [*values]
    while stack:
        part = stack.pop()
        if isinstance(part, Expr):
            part = part.to_sympy()
        try:
            if part in seen:
                continue
            seen.add(part)
        except TypeError:
            raise TraceError(
                f"{in_short(part)} ({type(part).__name__}) is not an integer expression; of a matrix, "
                f"give the elements as a tuple: tuple(matrix)"
            ) from None
        yield part
        if not isinstance(part, type):
            stack.extend(getattr(part, "args", ()))


def says(part: Any, what: str) -> bool:
    """Whether SymPy says so of an expression, and not of a class."""
    return getattr(part, what, False) is True


def in_short(value: Any) -> str:
    """An expression in a message or a title, in one line; a long one is cut, and one that has the
    same parts so often that it takes for ever to write out is counted."""
    count = _written(value, {})
    if count > MOST_WRITTEN:
        return f"an expression of {short_repr(count)} operations"
    text = " ".join(short_repr(value).split())
    return text if len(text) <= LONG else f"{text[: LONG - 2]}.."


def _written(value: Any, known: dict[int, int]) -> int:
    """How many parts are written out, those that stand more than once each time."""
    if not is_sympy(value) or isinstance(value, type):
        return 1
    stack = [value]
    while stack:
        part = stack[-1]
        inner = [a for a in getattr(part, "args", ()) if id(a) not in known]
        if inner:
            stack += inner
        else:
            known[id(part)] = 1 + sum(known[id(a)] for a in getattr(part, "args", ()))
            stack.pop()
    return known[id(value)]
