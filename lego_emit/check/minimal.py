"""Which programs are the shortest that there are, where a search has shown that.

benchmarks/minimal searches and writes minimal.json. A proof is found by the values of a function at
all its indices: it holds for the function, however it was written, and says nothing of another one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from itertools import product
from math import prod
from pathlib import Path

from ..ir.nodes import Node, tabulate, var
from ..ir.program import Function

STORE = Path(__file__).with_suffix(".json")
MOST_POINTS = 2**16
MOST_VARIABLES = 2


@dataclass(frozen=True)
class Proof:
    """No program of fewer operations has these values.

    row: of the benchmark or the cookbook; domain: the sizes of the indices; operations, program: of
    the shortest, as Python assignments; constants: those that operations before the last were tried
    with, as "-1..8, 16" (the last one was tried with every constant of 32 bits); what is made of constants
    alone is a constant.
    """

    row: str
    domain: tuple[int, ...]
    operations: int
    program: str
    constants: str

    @property
    def says(self) -> str:
        """What was shown, as a sentence."""
        if self.operations == 1:
            return "No shorter program exists: the result is no parameter and no constant."
        before = f" and {self.constants} before it" if self.operations > 2 else ""
        return (
            "No shorter program exists: all of fewer operations were tried, of + - * // % & | ^ << >> ~, "
            "negations, comparisons, selects, min and max, equal parts once, with any constant in the "
            f"last one{before}; values fit int32, divisors are above 0."
        )


def key(domain: Sequence[int], values: Iterable[int]) -> str:
    """What a function's proof is stored under. values: at all indices, the last index fastest."""
    text = f"{'x'.join(map(str, domain))}: {','.join(map(str, values))}"
    return sha256(text.encode()).hexdigest()


def load(path: Path = STORE) -> dict[str, Proof]:
    """The proofs by their keys."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    return {k: Proof(**{**p, "domain": tuple(p["domain"])}) for k, p in stored.items()}


def save(proofs: Mapping[str, Proof], path: Path = STORE) -> None:
    """Write the proofs, ordered by their rows."""
    ordered = sorted(proofs.items(), key=lambda item: (item[1].row, item[0]))
    text = json.dumps({k: asdict(p) for k, p in ordered}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


_loaded = cache(load)


def proof_of(function: Function) -> Proof | None:
    """The proof that a function's program is the shortest, where there is one."""
    domain = tuple(p.hi + 1 for p in function.params if p.lo == 0 and p.hi is not None)
    known = {(p.domain, p.operations) for p in _loaded().values()}
    if len(domain) != len(function.params) or (domain, function.op_count) not in known:
        return None
    if len(function.outputs) != 1 or function.assumed or not searchable(function):
        return None
    values = values_of(function, domain)
    found = None if values is None else _loaded().get(key(domain, values))
    return found if found is not None and found.operations == function.op_count else None


def searchable(function: Function) -> bool:
    """Whether it has only operations that are searched: no look-ups and no square roots."""
    return not any(node.op in ("lookup", "isqrt") for node in function.nodes())


def values_of(function: Function, domain: Sequence[int]) -> list[int] | None:
    """A function's values at all indices below domain, the last index fastest; None where one has none."""
    count = prod(domain)
    indices = zip(*product(*map(range, domain)), strict=True)
    columns: dict[Node, Sequence[int]] = {
        var(p.name): column for p, column in zip(function.params, indices, strict=True)
    }
    try:
        for name, node in (*function.body, *function.outputs):
            tabulate(node.walk(), columns, count)
            columns[var(name)] = columns[node]
    except ArithmeticError:
        return None
    return [*map(int, columns[var(function.outputs[-1][0])])]
