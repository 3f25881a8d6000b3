"""TorchInductor: SizeVarAllocator on FloorDiv and ModularIndexing."""

from __future__ import annotations

from functools import partial

import sympy
import torch
from sympy.core.cache import clear_cache
from torch._inductor.sizevars import SizeVarAllocator
from torch.utils._sympy import functions
from torch.utils._sympy.functions import FloorDiv, ModularIndexing
from tree import Tree, made, translated

from . import Attempt
from .sympy import Converter, leaf

TITLE = "Inductor"

BUILD = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": FloorDiv,
    "%": lambda a, b: ModularIndexing(a, sympy.Integer(1), b),
}
if hasattr(functions, "BitwiseFn_bitwise_xor"):
    BUILD["^"] = functions.BitwiseFn_bitwise_xor

NAMED = {
    "FloorDiv": partial(made, "//"),
    "CleanDiv": partial(made, "//"),
    "ModularIndexing": lambda base, divisor, modulus: base // divisor % modulus,
    "Mod": partial(made, "%"),
    "PythonMod": partial(made, "%"),
    "BitwiseFn_bitwise_xor": partial(made, "^"),
    "Identity": lambda a: a,
}


def version() -> str:
    return torch.__version__


def attempts(problem):
    found = [
        Attempt(name, partial(step, problem), partial(_trees, problem), _fresh)
        for name, step in (("as built", _built), ("simplify_with_ranges", _simplified))
    ]
    return {TITLE: found}


def _fresh() -> SizeVarAllocator:
    clear_cache()
    return SizeVarAllocator()


def _built(problem, sizevars: SizeVarAllocator) -> list[sympy.Expr]:
    return translated(problem.outputs, leaf, BUILD)


def _simplified(problem, sizevars: SizeVarAllocator) -> list[sympy.Expr]:
    names = problem.variables
    ranges = {
        leaf(names[n]): translated([size], leaf, BUILD)[0] for n, size in problem.ranges.items()
    }
    return [sizevars.simplify_with_ranges(e, ranges) for e in _built(problem, sizevars)]


def _trees(problem, results: list[sympy.Expr]) -> tuple[Tree, ...]:
    convert = Converter(problem.variables, NAMED)
    return tuple(convert(e) for e in results)
