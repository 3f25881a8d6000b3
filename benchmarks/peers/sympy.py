"""SymPy: what its constructors do on their own, simplify, factor_terms and cse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import sympy
from sympy.core.cache import clear_cache
from tree import Tree, Unsupported, constant, made, product, total, translated

from . import Attempt

TITLE = "SymPy"


class Xor(sympy.Function):
    """a ^ b of integers, which SymPy does not have."""

    is_integer = True
    is_nonnegative = True


BUILD = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: sympy.floor(a / b),
    "%": sympy.Mod,
    "^": Xor,
}
RELATIONS = {
    sympy.StrictLessThan: "<", sympy.LessThan: "<=", sympy.StrictGreaterThan: ">",
    sympy.GreaterThan: ">=", sympy.Equality: "==", sympy.Unequality: "!=",
}  # fmt: skip


def version() -> str:
    return sympy.__version__


def attempts(problem):
    trees = partial(trees_of, variables=problem.variables)
    names = ("as built", "simplify", "factor_terms", "cse")
    return {
        TITLE: [
            Attempt(name, partial(simplified, name, problem.outputs), trees, clear_cache)
            for name in names
        ]
    }


def simplified(how: str, nest: tuple[Tree, ...], context: Any) -> tuple[list, list]:
    """(replacements, results), as sympy.cse gives them."""
    built = translated(nest, leaf, BUILD)
    if how == "cse":
        return sympy.cse(built)
    if how == "simplify":
        built = [sympy.simplify(e) for e in built]
    elif how == "factor_terms":
        built = [sympy.factor_terms(e) for e in built]
    return [], built


def leaf(tree: Tree) -> sympy.Expr:
    """A number, a positive size or a non-negative index."""
    if tree.op == "const":
        return sympy.Integer(tree.value)
    if tree.sized:
        return sympy.Symbol(tree.value, integer=True, positive=True)
    return sympy.Symbol(tree.value, integer=True, nonnegative=True)


def trees_of(result: tuple[list, list], variables: Mapping[str, Tree]) -> tuple[Tree, ...]:
    """The trees of (replacements, results)."""
    replacements, results = result
    convert = Converter(variables)
    fractions: dict[sympy.Basic, sympy.Basic] = {}
    for symbol, e in replacements:
        e = e.xreplace(fractions)
        if sympy.denom(sympy.together(e)) == 1:
            convert.known[symbol] = convert(e)
        else:
            fractions[symbol] = e
    return tuple(convert(e.xreplace(fractions)) for e in results)


class Converter:
    """SymPy expressions to trees. named: functions beyond SymPy's own, by class name."""

    def __init__(
        self,
        variables: Mapping[str, Tree],
        named: Mapping[str, Callable[..., Tree]] | None = None,
    ):
        self.variables = variables
        self.named = {"Xor": partial(made, "^"), **(named or {})}
        self.known: dict[sympy.Basic, Tree] = {}

    def __call__(self, e: sympy.Basic) -> Tree:
        if e not in self.known:
            self.known[e] = self._convert(e)
        return self.known[e]

    def _convert(self, e: sympy.Basic) -> Tree:
        if isinstance(e, sympy.Integer):
            return constant(int(e))
        if isinstance(e, sympy.Symbol):
            return self.variables[e.name]
        kind = type(e).__name__
        if kind in self.named:
            return self.named[kind](*map(self, e.args))
        if isinstance(e, sympy.floor):
            return self._quotient(e.args[0])
        if isinstance(e, sympy.Mod):
            return made("%", *map(self, e.args))
        if isinstance(e, (sympy.Add, sympy.Mul)):
            if sympy.denom(sympy.together(e)) != 1:  # a fraction, and an integer all the same
                return self._quotient(e)
            return (total if isinstance(e, sympy.Add) else product)(map(self, e.args))
        if isinstance(e, sympy.Pow) and e.exp.is_Integer and e.exp > 0:
            return product([self(e.base)] * int(e.exp))
        if isinstance(e, (sympy.Min, sympy.Max)):
            op = "min" if isinstance(e, sympy.Min) else "max"
            first, *rest = map(self, e.args)
            for tree in rest:
                first = made(op, first, tree)
            return first
        if type(e) in RELATIONS:
            return made(RELATIONS[type(e)], *map(self, e.args))
        if isinstance(e, sympy.Piecewise):
            result = self(e.args[-1].expr)
            for value, condition in e.args[-2::-1]:
                result = made("select", self(condition), self(value), result)
            return result
        raise Unsupported(f"no tree for SymPy's {kind}: {e}")

    def _quotient(self, e: sympy.Expr) -> Tree:
        numerator, denominator = sympy.together(e).as_numer_denom()
        return self(numerator) // self(denominator)
