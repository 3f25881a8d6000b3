"""A row as every side gets it, and the check that every side's answer must pass."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from random import Random
from typing import Any

import nest
import numpy as np
from rows import Case, Formula
from tree import Tree, constant, function, variable

from lego_emit.algebra import reference

RANDOM_SIZES = 2


class Problem:
    """A row's layout over Trees.

    outputs: the unsimplified nest. ranges: for each index its size n, 0 <= index < n. sizes: the
    sizes that are symbols; a multiple such as M is the product BM * M_by_BM, so that divisibility
    needs no assumption.
    """

    def __init__(self, case: Case):
        self.case = case
        self.sizes = [_quotient(n, case.multiples) for n in case.sizes]
        self.layout = case.make(**{n: self._size(n) for n in case.sizes})
        if case.direction == "inv":
            self.names = ["flat"]
            self.ranges = {"flat": _tree(self.layout.size)}
            self.outputs = nest.inv(self.layout, variable("flat"))
        else:
            rank = len(self.layout.dims)
            self.names = list("ijk")[:rank] if rank <= 3 else [f"i{k}" for k in range(rank)]
            self.ranges = dict(zip(self.names, map(_tree, self.layout.dims), strict=True))
            indices = [variable(n) for n in self.names]
            if isinstance(self.layout, Formula):
                self.outputs = (self.layout.apply(*indices),)
            else:
                self.outputs = (nest.apply(self.layout, indices),)
        self._checked: dict[tuple[Tree, ...], int] = {}

    def _size(self, name: str) -> Tree:
        size = variable(_quotient(name, self.case.multiples), sized=True)
        divisor = self.case.multiples.get(name)
        return size if divisor is None else variable(divisor, sized=True) * size

    @property
    def variables(self) -> dict[str, Tree]:
        """Every name that an answer may use."""
        sizes = dict.fromkeys([*self.case.sizes, *self.sizes])
        return {n: variable(n) for n in self.names} | {n: variable(n, sized=True) for n in sizes}

    def check(self, answer: tuple[Tree, ...]) -> int:
        """How many indices the answer was compared at. Raises WrongAnswer."""
        if answer not in self._checked:
            evaluate = function(answer, self.variables)
            checked = 0
            for values, indices, expected in self._tables:
                names = list(self.variables)[len(self.names) :]
                sizes = [values[n] for n in names]
                for index, want in zip(_indices(indices), expected, strict=True):
                    try:
                        found = evaluate(*index, *sizes)
                    except ArithmeticError as error:
                        raise WrongAnswer(f"{error} at {index}, {values}") from error
                    if found != want:
                        raise WrongAnswer(f"{found} at {index}, {values}; it is {want}")
                    checked += 1
            self._checked[answer] = checked
        return self._checked[answer]

    @cached_property
    def _tables(self) -> list[tuple[dict[str, int], list[int], list[tuple[int, ...]]]]:
        """The reference's answers: (sizes, how far the indices run, results in row-major order)."""
        found = []
        for numbers in self._numbers():
            layout = self.case.make(**{n: numbers[n] for n in self.case.sizes})
            if self.case.direction == "inv":
                columns = reference.inv(layout, np.arange(layout.size))
                extents = [layout.size]
            else:
                extents = list(layout.dims)
                columns = (_table(layout),)
            found.append((numbers, extents, list(zip(*(c.tolist() for c in columns), strict=True))))
        return found

    def _numbers(self) -> Iterator[dict[str, int]]:
        case = self.case
        if not case.sizes:
            yield {}
            return
        draw = Random(case.name)
        for attempt in range(1 + RANDOM_SIZES):
            values = dict(case.sizes)
            for name in sorted(case.sizes, key=lambda n: n in case.multiples):
                divisor = values.get(case.multiples.get(name, ""), 1)
                if attempt:
                    values[name] = divisor * draw.randint(1, 7)
                values[_quotient(name, case.multiples)] = values[name] // divisor
            # A quotient is named as its size where nothing divides it.
            yield values


def _table(layout: Any) -> np.ndarray:
    """The positions, in row-major order."""
    if isinstance(layout, Formula):
        return layout.apply(*np.indices(layout.dims)).ravel()
    return reference.table(layout)


class WrongAnswer(Exception):
    """An answer that differs from the reference."""


def _quotient(name: str, multiples: dict[str, str]) -> str:
    return f"{name}_by_{multiples[name]}" if name in multiples else name


def _indices(extents: list[int]) -> Iterator[tuple[int, ...]]:
    return product(*map(range, extents))


def _tree(size: Any) -> Tree:
    return size if isinstance(size, Tree) else constant(size)
