"""Calls of a user's functions on symbols: what they read, and what they cannot do."""

from __future__ import annotations

import builtins
import dis
import inspect
import re
import types
from collections.abc import Callable, Mapping
from typing import Any

from ..algebra.block import Block
from ..arith.expr import Cond, Expr, maximum, minimum
from ..arith.terms import TOO_DEEP
from ..ends import Endless, bounded, may_not_end
from ..errors import (
    RAISED,
    FatalError,
    InternalError,
    LegoError,
    TraceError,
    error_text,
    line_in,
    short_repr,
    way_to_import,
)
from ..ir.program import Group
from .signature import Signature
from .trace import Trace


class _Globals(dict):
    """A function's globals in which undefined names are parameters."""

    def __init__(self, original: Mapping[str, Any], trace: Trace):
        super().__init__(original)
        self._trace = trace
        for name, value in _FOR_SYMBOLS.items():
            self.setdefault(name, value)

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name) or name.startswith("__"):
            raise KeyError(name)
        trace = self._trace
        if name not in trace.free:
            if name in trace.axes:  # an axis took the name before it was known to be in use
                trace.axes.remove(name)
                if trace.tape is not None:
                    trace.tape.stale = True
            trace.free.append(name)
        if name not in trace.undefined:
            trace.undefined.append(name)
        return trace.argument(name)


def _minimum(*values: Any, **options: Any) -> Any:
    return _extreme(builtins.min, minimum, values, options)


def _maximum(*values: Any, **options: Any) -> Any:
    return _extreme(builtins.max, maximum, values, options)


def _is_instance(value: Any, classes: Any) -> bool:
    """A symbol stands for an int."""
    return isinstance(value, classes) or (isinstance(value, Expr) and isinstance(0, classes))


SYMBOL = re.compile(r"'(Taped|Context)?(Expr|Cond)'( object)?")  # as Python's messages say it
_FOR_SYMBOLS = {"min": _minimum, "max": _maximum, "isinstance": _is_instance}


def _extreme(builtin, ours, values, options):
    items = list(values[0]) if len(values) == 1 else list(values)
    if options or not any(isinstance(v, (Expr, Cond)) for v in items):
        return builtin(items, **options)
    result = items[0]
    for item in items[1:]:
        result = ours(result, item)
    return result


def signature_of(fn: Callable[..., Any]) -> Signature:
    """How a user's function is called. Raises TraceError where that cannot be read, or where it takes
    any number of arguments."""
    name = getattr(fn, "__name__", repr(fn))
    try:
        found = Signature(fn)
    except (TypeError, ValueError):
        raise TraceError(f"{name} has no signature that Python can read") from None
    for p in found.parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise TraceError(f"{name} takes *{p.name}: an index function has named parameters only")
    return found


def call_user_function(fn: Callable[..., Any], trace: Trace, signature: Signature) -> Any:
    """The result of fn with its parameters as symbols; undefined names are parameters too. signature:
    how it is called."""
    name = getattr(fn, "__name__", repr(fn))
    given = signature.taken({*trace.sizes, *trace.static})
    trace.signature = [n for p in given for n in signature.members(p)]
    trace.groups = [signature.groups[p] for p in given if p in signature.groups]

    def argument(p: inspect.Parameter) -> Any:
        if p.name not in given:
            return p.default
        if p.name not in signature.groups:
            return trace.argument(p.name)
        return _grouped(signature.groups[p.name], trace)

    def call() -> Any:
        trace.begin()
        positional, keywords = [], {}
        for p in signature.parameters.values():
            value = argument(p)
            if p.kind is p.KEYWORD_ONLY:
                keywords[p.name] = value
            else:
                positional.append(value)
        target = fn
        if isinstance(fn, types.FunctionType):
            from .helpers import Helpers, check_globals

            check_globals(fn)
            helpers, names = Helpers(_FOR_SYMBOLS, _copied), _Globals(fn.__globals__, trace)
            names.update(helpers.named_in(fn))
            target = _copied(fn, fn.__code__, names, helpers.cells(fn))
        result = called(target, name, *positional, **keywords)
        if signature.result is not None and not isinstance(result, Block | Mapping):
            return _members(signature.result, result, name)
        return result

    return call() if trace.tape is None else trace.tape.result(call)


def _grouped(group: Group, trace: Trace) -> Any:
    """What a function is given for a struct or an array of symbols."""
    values = [trace.argument(n) for n in group.names]
    if group.open and all(isinstance(v, int) for v in values):
        raise TraceError(
            f"sizes fixes {len(values)} elements of {group.name}, an array of any length; leave it out, or write "
            f"Array[{len(values)}]"
        )
    if group.struct:
        return called(group.value, group.struct, values)
    from .annotations import Elements, OpenElements

    return (OpenElements if group.open else Elements)(values, group)


def _members(group: Group, result: Any, name: str) -> tuple[Any, ...]:
    """The values of a result that an annotation says to be a struct or an array."""
    try:
        return tuple(group.split(result))
    except TypeError:
        what = group.struct or f"an array of {len(group.members)}"
        raise TraceError(
            f"{name} returns {short_repr(result)}, and its annotation says {what}"
        ) from None


def taking_symbols(fn: Any) -> Any:
    """A function in which min, max and isinstance take symbols."""
    from .helpers import Helpers

    return Helpers(_FOR_SYMBOLS, _copied).taking_symbols(fn)


def _copied(
    function: types.FunctionType,
    code: types.CodeType,
    names: dict[str, Any],
    cells: tuple[types.CellType, ...] | None,
) -> types.FunctionType:
    """A function with other code, that reads other globals and another closure."""
    made = types.FunctionType(code, names, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _without_sets(code: types.CodeType) -> types.CodeType:
    """The code with tuples for its constant sets: `i in {0, 2}` looks a hash up, and a symbol's is
    no number's; in a tuple it is compared."""

    def changed(constant: Any) -> Any:
        if isinstance(constant, types.CodeType):
            return _without_sets(constant)
        if isinstance(constant, frozenset):
            return tuple(sorted(constant, key=lambda x: (0, x) if type(x) is int else (1, repr(x))))
        return constant

    constants = tuple(map(changed, code.co_consts))
    same = all(a is b for a, b in zip(constants, code.co_consts, strict=True))
    return code if same else code.replace(co_consts=constants)


def called(function: Callable[..., Any], name: str, /, *positional: Any, **keywords: Any) -> Any:
    """function(..), a user's, on symbols; what it cannot do is an error that has its name and the
    line."""
    if isinstance(function, types.FunctionType):
        code = _without_sets(function.__code__)
        if code is not function.__code__:
            function = _copied(function, code, function.__globals__, function.__closure__)
    call = bounded if may_not_end(function) else _plainly
    raised: list[FatalError] = []
    token = RAISED.set(raised)
    try:
        result = call(function, *positional, **keywords)
        for error in raised:
            if error.caught_outside:  # by the function, which would go on with what is not so
                raise error
        return result
    except InternalError:
        raise
    except LegoError as error:
        error.place(f"{name}{line_in(function, error)}")
        raise
    except Endless as error:
        raise _placed(
            f"{name} {error}; give its loops an end, or compute what takes so long outside of it"
        ) from None
    except RecursionError as error:
        if _calls_itself(function, error):
            raise _placed(f"{name} calls itself without end on symbols") from None
        raise _placed(f"{name}: {TOO_DEEP}") from None
    except (Exception, SystemExit) as error:
        line = line_in(function, error)
        text = _not_imported(function, error) or _foreign(error)
        raise _placed(f"{name} failed on symbols{line}: {text}") from error
    finally:
        RAISED.reset(token)
        if (around := RAISED.get()) is not None:  # of the function that called this one
            around += raised


def _plainly(function: Callable[..., Any], /, *positional: Any, **keywords: Any) -> Any:
    return function(*positional, **keywords)


def _calls_itself(function: Callable[..., Any], error: BaseException) -> bool:
    code, where, count = getattr(function, "__code__", None), error.__traceback__, 0
    while where is not None:
        count += where.tb_frame.f_code is code
        where = where.tb_next
    return count > 1


def _placed(message: str) -> TraceError:
    error = TraceError(message)
    error.placed = True
    return error


def _not_imported(function: Callable[..., Any], error: BaseException) -> str:
    """What is said of a name of lego_emit's that a function did not import: it is undefined, or was taken for an index
    and is called, or asked for an attribute."""
    if isinstance(error, NameError):
        names = [error.name]
    elif isinstance(error, TypeError | AttributeError) and SYMBOL.search(str(error)):
        code, known = getattr(function, "__code__", None), getattr(function, "__globals__", {})
        read = dis.get_instructions(code) if code is not None else ()
        names = [i.argval for i in read if i.opname == "LOAD_GLOBAL" and i.argval not in known]
    else:
        return ""
    ways = ((name, way_to_import(name)) for name in names)
    return next((f"{name} is not defined{way}" for name, way in ways if way), "")


def _foreign(error: BaseException) -> str:
    """An exception that is not ours, with the way out where symbols are its cause."""
    text = f"{type(error).__name__}: {error_text(error)}".rstrip(": ")
    if isinstance(error, SystemExit):
        return f"it ends the program ({text})"
    if isinstance(error, AssertionError):
        return (
            f"{text}: it does not hold for all values; say what is asserted with assume=, as in "
            "assume=['i < 4']"
        )
    if isinstance(error, IndexError) and text.startswith("IndexError: only integers, slices"):
        return (
            "a NumPy array cannot be indexed by a symbol; compute the number, or write a chain of "
            "`a if i == 0 else b`"
        )
    named = SYMBOL.sub("a symbol", text)
    if named == text:
        return text
    if "not subscriptable" in named:
        return f"{named}; annotate a parameter that is an array of n integers as Array[n]"
    return (
        f"{named}; what symbols take: + - * // % ** & | ^ ~ << >>, comparisons, min, max, abs, "
        f"divmod, lego_emit.isqrt"
    )
