"""Tables that a formula makes: polynomials, in pieces or wrapped around, and functions of one index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from math import prod
from typing import Any

from ..algebra.block import Block
from ..algebra.genp import GenP
from ..algebra.layout import GroupBy
from ..ir.nodes import Node, const, made, var
from ..lower.small_domain import find
from ..lower.trees import ZERO, X, replaced
from ..packages import numpy as np
from .formula import Formula, digit, total
from .strides import Axes, axes, is_permutation, lines, summed

MOST_ENTRIES = 4096  # of a table for which a formula is searched
MOST_OPERATIONS = 14  # of a formula of one index
NOTHING = 1e-9  # what rounding leaves of a number of 1
SAMPLE = 48  # entries that a polynomial is solved from
PER_NUMBER = 2  # entries that there must be for each number of a formula
SPARE = 4  # entries beyond the numbers of two polynomials


class Grid:
    """A table with its indices, by name."""

    def __init__(self, table: np.ndarray, names: Sequence[str]):
        self.table, self.names = table, tuple(names)
        self.index: list[Any] = [*np.indices(table.shape)]
        several = [k for k, n in enumerate(table.shape) if n > 1]
        self._pairs = [*combinations_with_replacement(range(1, len(several) + 1), 2)]
        self.products = [const(1), *(var(self.names[k]) for k in several)]
        self.products += [made("mul", self.products[a], self.products[b]) for a, b in self._pairs]
        indices = (self.index[k].reshape(-1) for k in several)
        self._first = np.stack([np.ones(table.size, np.int64), *indices])

    def columns(self, places: np.ndarray) -> np.ndarray:
        """1, the indices and the products of two at places of the table, a row each."""
        first = self._first[:, places]
        return np.stack([*first, *(first[a] * first[b] for a, b in self._pairs)])


def formula(table: np.ndarray, names: Sequence[str]) -> tuple[str, Node] | None:
    """(kind, tree) of a table of at most MOST_ENTRIES entries, of the first family that makes it; last
    as a function of the flat index."""
    if (found := _of_indices(table, names)) is not None:
        return found
    if table.ndim == 1 or (found := _of_one(table.reshape(-1), "x")) is None:
        return None
    below = [prod(table.shape[k + 1 :]) for k in range(table.ndim)]
    flat = total([*zip(below, map(var, names), strict=True)])
    return found[0], replaced(found[1], {X: flat})


def _of_indices(table: np.ndarray, names: Sequence[str]) -> tuple[str, Node] | None:
    grid = Grid(table, names)
    if (tree := polynomial(grid, np.ones(table.shape, bool))) is not None:
        return "polynomial", tree
    families = (skewed, separable, piecewise)
    if table.ndim == 1:
        families = (lambda g: _of_one(g.table, g.names[0]), piecewise)
    return next((found for family in families if (found := family(grid)) is not None), None)


def _of_one(line: np.ndarray, name: str) -> tuple[str, Node] | None:
    most = min(MOST_OPERATIONS, len(line) / PER_NUMBER)
    tree = find(line.tolist(), {}, most)
    return None if tree is None else ("formula", replaced(tree, {X: var(name)}))


def polynomial(grid: Grid, where: np.ndarray) -> Node | None:
    """Of degree two, with whole or half coefficients, at the entries that are True."""
    places = np.flatnonzero(where)
    values = grid.table.reshape(-1)[places]
    sample = np.unique(np.linspace(0, len(values) - 1, SAMPLE).astype(int))
    sample = np.unique(np.concatenate([sample, np.arange(min(len(values), SAMPLE // 2))]))
    columns = grid.columns(places[sample])
    used = _independent(columns.astype(float))
    matrix = columns[used].T.astype(float)
    scale = np.maximum(np.abs(matrix).max(axis=0), 1)
    solved = np.linalg.lstsq(matrix / scale, values[sample].astype(float), rcond=None)[0] / scale
    if not np.isfinite(solved).all() or (np.abs(solved) > 2**40).any():
        return None
    twice = [round(2 * float(c)) for c in solved]
    for at in (sample, np.arange(len(values))):
        rows = grid.columns(places[at])
        total_of: Any = sum(c * rows[k] for c, k in zip(twice, used, strict=True))
        if not np.array_equal(total_of, 2 * values[at]):
            return None
    terms = [(c, grid.products[k]) for c, k in zip(twice, used, strict=True) if c]
    constant = sum(c for c, tree in terms if tree.op == "const")
    terms = [(c, tree) for c, tree in terms if tree.op != "const"]
    halves = [(c, tree) for c, tree in terms if c % 2]
    plain = [(c // 2, tree) for c, tree in terms if c % 2 == 0]
    if halves:
        odd = constant % 2
        plain.append((1, made("div", total(halves, odd), 2)))
        constant -= odd
    return total(plain, constant // 2)


def _independent(rows: np.ndarray) -> list[int]:
    """The rows that those before do not span."""
    basis = np.zeros((min(rows.shape), rows.shape[1]))
    used: list[int] = []
    for k, row in enumerate(rows):
        if len(used) == len(basis):
            break
        known, rest = basis[: len(used)], row
        for _ in range(2):  # the second time takes away what rounding left
            rest = rest - (known @ rest) @ known
        length = float(np.sqrt(rest @ rest))
        if length > NOTHING * max(1.0, float(np.sqrt(row @ row))):
            basis[len(used)] = rest / length
            used.append(k)
    return used


def skewed(grid: Grid) -> tuple[str, Node] | None:
    """Strides and a factor times a sum that wraps around: V + u*((a*i + b*j + c) % m)."""
    table = grid.table
    if table.ndim < 2 or int(table.min()) < 0:
        return None
    sizes = sorted({n for n in table.shape if n > 1})
    units = sorted({1, *sizes, *(prod(table.shape[:k]) for k in range(1, table.ndim))})
    for modulus in sizes:
        for unit in units:
            wrapped = table // unit % modulus
            start = int(wrapped.flat[0])
            steps = [
                int(np.moveaxis(wrapped, k, 0)[1].flat[0] - start) % modulus if n > 1 else 0
                for k, n in enumerate(table.shape)
            ]
            values: Any = start + sum(a * i for a, i in zip(steps, grid.index, strict=True))
            if not np.array_equal(values % modulus, wrapped):
                continue
            rest = axes(table - unit * wrapped)
            if isinstance(rest, Axes) and rest.is_exact:
                inner = total(
                    [(a, var(n)) for a, n in zip(steps, grid.names, strict=True) if a], start
                )
                return "piecewise", _sum(
                    strided_tree(rest, grid.names), unit, made("mod", inner, modulus)
                )
    return None


def _sum(tree: Node, factor: int, other: Node) -> Node:
    return total([(factor, other)]) if tree == ZERO else total([(1, tree), (factor, other)])


def strided_tree(found: Axes, names: Sequence[str]) -> Node:
    """The sum of digits times strides."""
    terms: list[tuple[int, Node]] = []
    for mode, name in zip(found.modes, names, strict=True):
        below = 1
        for k, (n, d) in enumerate(mode):
            if d:
                terms.append((d, digit(var(name), below, None if k == len(mode) - 1 else n)))
            below *= n
    return total(terms, found.offset)


def separable(grid: Grid) -> tuple[str, Node] | None:
    """A sum of one formula for each index."""
    start = int(grid.table.flat[0])
    if not np.array_equal(summed(grid.table), grid.table):
        return None
    terms: list[tuple[int, Node]] = []
    for line, name in zip(lines(grid.table), grid.names, strict=True):
        if (line == start).all():
            continue
        found = formula(line - start, [name])
        if found is None:
            return None
        terms.append((1, found[1]))
    return "formula", total(terms, start)


def piecewise(grid: Grid) -> tuple[str, Node] | None:
    """Polynomials of degree two, or strides, on the two sides of one condition; of two indices on the
    four of two."""
    conditions = [*_conditions(grid)]
    numbers = len(grid.products)
    for condition, where in conditions:
        if grid.table.size < 2 * numbers + SPARE:
            return None
        if (found := _halves(grid, condition, where)) is not None:
            return "piecewise", found
    if (found := _strided_pieces(grid)) is not None:
        return "piecewise", found
    if len(grid.table.squeeze().shape) > 2 or grid.table.size < 4 * numbers * PER_NUMBER:
        return None
    for (one, first), (other, second) in combinations(conditions, 2):
        trees: list[Node] = []
        for side in (first, ~first):
            if (both := _halves(grid, other, second, side)) is None:
                break
            trees.append(both)
        if len(trees) == 2:
            return "piecewise", made("select", one, *trees)
    return None


def _halves(
    grid: Grid, condition: Node, where: np.ndarray, within: np.ndarray | None = None
) -> Node | None:
    trees: list[Node] = []
    for side in (where, ~where):
        side = side if within is None else side & within
        tree = polynomial(grid, side) if side.any() else ZERO
        if tree is None:
            return None
        trees.append(tree)
    return trees[0] if trees[0] == trees[1] else made("select", condition, *trees)


def _conditions(grid: Grid) -> Iterator[tuple[Node, np.ndarray]]:
    """Parities of indices and of their sums, comparisons of two, diagonals."""
    named = [
        part for part in zip(grid.names, grid.index, grid.table.shape, strict=True) if part[2] > 1
    ]
    pairs = [*combinations(named, 2)]
    for name, index, _ in named:
        yield made("lt", made("mod", var(name), 2), 1), index % 2 < 1
    for (a, i, _), (b, j, _) in pairs:
        one, other = var(a), var(b)
        yield made("lt", one, other), i < j
        yield made("lt", other, one), j < i
        yield made("lt", made("mod", made("add", one, other), 2), 1), (i + j) % 2 < 1
    for (a, i, n), (b, j, m) in pairs:
        for bound in sorted({n, m, n - 1, m - 1}):
            yield made("lt", made("add", var(a), var(b)), bound), i + j < bound


def _strided_pieces(grid: Grid) -> Node | None:
    """Strides below a bound of one index, and others from it on."""
    table = grid.table
    for axis, name in enumerate(grid.names):
        rows = np.moveaxis(table, axis, 0)
        n = len(rows)
        for bound in dict.fromkeys(k for c in range(1, min(n, 65)) for k in (n - c, c)):
            lower, upper = (np.moveaxis(part, 0, axis) for part in (rows[:bound], rows[bound:]))
            if not isinstance(below := axes(lower), Axes):
                continue
            if isinstance(above := axes(upper), Axes):
                shifted = {var(name): made("sub", var(name), bound)}
                other = replaced(strided_tree(above, grid.names), shifted)
                below_it = strided_tree(below, grid.names)
                return made("select", made("lt", var(name), bound), below_it, other)
    return None


# -- as a layout ---------------------------------------------------------------------------------


def of_formula(table: np.ndarray, tree: Node, names: Sequence[str]) -> Block:
    """The GenP of a formula, with an inv where the table is a permutation whose inverse has a
    formula, too."""
    dims = list(table.shape)
    apply = Formula(tuple(names), (tree,))
    flat = table.reshape(-1)
    inverse: Formula | None = None
    if is_permutation(table):
        inverse = _inverse(np.argsort(flat), table.shape)
    return GroupBy(dims).OrderBy(GenP(dims, apply, inverse))


def _inverse(places: np.ndarray, dims: tuple[int, ...]) -> Formula | None:
    """The index of each position, every coordinate a formula of the position or of its digits."""
    trees: list[Node] = []
    digits: dict[str, Node] = {}
    for k, n in enumerate(dims):
        digits[f"d{k}"] = digit(var("p"), prod(dims[k + 1 :]), n if k else None)
    inner = {var(name): tree for name, tree in digits.items()}
    for coordinate in np.unravel_index(places, dims):
        table = np.asarray(coordinate, np.int64)
        shaped = axes(table.reshape(dims))
        if isinstance(shaped, Axes):
            trees.append(replaced(strided_tree(shaped, [*digits]), inner))
        elif (found := _of_indices(table.reshape(dims), [*digits])) is not None:
            trees.append(replaced(found[1], inner))
        elif (found := _of_one(table, "p")) is not None:
            trees.append(found[1])
        else:
            return None
    return Formula(("p",), tuple(trees))
