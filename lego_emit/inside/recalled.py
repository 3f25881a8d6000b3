"""A function's rewriting, kept on disk by the function's text, by where it stands, and by all that it names."""

from __future__ import annotations

import ast
import builtins
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..algebra.block import Block
from ..emit.kernel_language import KernelLanguage
from ..files import noting
from ..numeric import is_integer
from .kept import PURE, Unknown, kept, named, told
from .outer import MISSING, Outer, comes_from, is_ours, makes_layouts, number
from .rewriting import Rewriter, Rewritten
from .source import Source

MOST_PARTS = 4096  # of a list around a kernel that is told part by part


def rewritten(
    source: Source,
    language: KernelLanguage,
    assume: Sequence[Any],
    ranges: Mapping[str, Any],
    index_type: str | None,
) -> tuple[Rewritten, Outer]:
    """(what Rewriter makes of a function, or has made of it in another run; what it was made from).

    Another run's is taken where all is the same that the rewriting follows from. It is never kept where that
    cannot be told: where a layout is made by functions that read anything but numbers, lists, layouts and functions
    of this kind, or from a file.
    """
    rewriter = Rewriter(source, language, assume, ranges, index_type)
    options = [*assume], dict(ranges), index_type

    def make() -> Rewritten:
        with noting() as files:
            made = rewriter.rewritten()
        rewriter.exact &= not files
        return made

    made = kept(lambda: _parts(rewriter, options), make, lambda _: _is_exact(rewriter))
    if not rewriter.outer.taken:
        rewriter.outer.take_again(made.taken)
    return made, rewriter.outer


def _parts(rewriter: Rewriter, options: Any) -> Any:
    """All that a rewriting follows from. Raises Unknown where the language is not one of lego_emit's."""
    source, language, outer = rewriter.source, rewriter.language, rewriter.outer
    function = source.function
    own = named(type(language)), named(type(rewriter.kernel.printer))
    place = source.file, source.first, source.above, function.__module__, function.__qualname__
    space = function.__globals__
    modules = {m for full in language.aliases.values() for m in (full, full.partition(".")[0])}
    aliases = [
        (name, value.__name__, _version(value.__name__))
        for name, value in sorted(space.items())
        if isinstance(value, types.ModuleType) and value.__name__ in modules
    ]
    stem = f"{source.node.name.strip('_')}_"  # of functions beside the kernel
    stems = stem, *(f"_{module}" for module in modules)
    taken = sorted(name for name in space if name.startswith(stems))
    same = [outer.named(name) is getattr(builtins, name) for name in ("min", "max")]
    around = [
        (path, _described(outer.value(node), language.package))
        for path, node in sorted(_chains(source.node, outer.own).items())
    ]
    said = told(options, ())
    return "rewriting", own, place, source.text, said, aliases, taken, same, repr(around)


def _chains(tree: ast.AST, own: set[str]) -> dict[tuple[str, ...], ast.expr]:
    """The names in a tree that are not a function's own, and their attributes and parts by constants, each once."""
    found: dict[tuple[str, ...], ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and (path := _path(node)) and path[0] not in own:
            found.setdefault(path, node)
    return found


def _path(node: ast.expr) -> tuple[str, ...]:
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(value=base, attr=attr):
            return (*path, f".{attr}") if (path := _path(base)) else ()
        case ast.Subscript(value=base, slice=ast.Constant(value=key)):
            return (*path, repr(key)) if (path := _path(base)) else ()
    return ()


def _described(value: Any, package: str) -> Any:
    """A value as plain ones: the same for no other value, or, where that cannot be, for none of which a rewriting asks
    anything else."""
    try:
        exact = _exact(value, package)
    except Unknown:
        exact = "like", type(value).__module__, type(value).__qualname__
    name = str(getattr(value, "__name__", ""))
    module = str(getattr(value, "__module__", None) or type(value).__module__)
    parts = value.values() if isinstance(value, dict) else value
    holds = isinstance(value, list | tuple | dict) and any(isinstance(p, Block) for p in parts)
    own = isinstance(value, type), isinstance(value, Block), getattr(builtins, name, None) is value
    whole = None if (found := number(value)) is None else int(found)  # also of a class of integers
    makes = is_ours(value), makes_layouts(value), holds
    return exact, module, name, _version(module), own, whole, makes


def _exact(value: Any, package: str) -> Any:
    """A value as plain ones, the same for no other value. Raises Unknown where there is none."""
    if value is MISSING:
        return "missing"
    if type(value).__name__ == "constexpr" and (whole := number(value)) is not None:
        return "constexpr", str(type(value).__module__), int(whole)
    if type(value) is float or (is_integer(value) and type(value).__module__ == "numpy"):
        return type(value).__name__, repr(value)
    name = str(getattr(value, "__name__", ""))
    if name in PURE and getattr(builtins, name) is value:
        return "builtin", name
    if package and comes_from(value, (package,)):
        return *named(value, package), _version(value.__module__)
    if isinstance(value, list | tuple | dict) and len(value) > MOST_PARTS:
        raise Unknown
    try:
        return told(value, ())
    except RecursionError:
        raise Unknown from None


def _version(module: str) -> str:
    """The version of the package that a module is of, "" where it says none."""
    while module:
        found = getattr(sys.modules.get(module), "__version__", None)
        if isinstance(found, str):
            return found
        module = module.rpartition(".")[0]
    return ""


def _is_exact(rewriter: Rewriter) -> bool:
    """Whether what a rewriting took from around the function is told exactly."""
    outer, package = rewriter.outer, rewriter.language.package
    try:
        for layout in outer.layouts():
            _exact(layout, package)
        for tree in rewriter.evaluated:
            for value in _used(outer, tree):
                if comes_from(value, (package,)) and getattr(value, "__name__", "") != "cdiv":
                    return False  # which may read a file
                _exact(value, package)
    except Unknown:
        return False
    return rewriter.exact and outer.changed() is None


def _used(outer: Outer, tree: ast.AST) -> Iterator[Any]:
    """The values from around a function that an expression computes with: of mod.A.inv that of mod.A, and not mod; of
    a method its object's, too. Raises Unknown where it asks for an attribute as f.__annotations__."""
    chains = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and _path(node)]
    bases = {id(getattr(node, "value", None)) for node in chains}
    if any(part.startswith(".__") for node in chains for part in _path(node)):
        raise Unknown
    for node in chains:
        if id(node) not in bases and _path(node)[0] not in outer.own:
            part: Any = node
            while (found := outer.value(part)) is MISSING and not isinstance(part, ast.Name):
                part = part.value
            yield found
            if isinstance(found, types.FunctionType) and isinstance(part, ast.Attribute):
                if not isinstance(own := outer.value(part.value), types.ModuleType):
                    yield own
