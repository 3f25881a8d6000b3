"""The golden functions as affine maps, and what evaluates maps and lowered operations: from their text
alone, over NumPy's arrays, with nothing of lego_emit's."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lego_emit import golden
from lego_emit.affine.maps import AffineMap
from lego_emit.check.tables import query_of
from lego_emit.emitted import Emitted
from lego_emit.errors import TargetError
from lego_emit.ir.program import Function
from lego_emit.targets.mlir import VERSIONS

ROOT = Path(__file__).parents[1] / "golden"
SCALES = (1, 2, 3)  # what the sizes of a table are multiplied by

MAP = re.compile(r"affine_map<\(([\w, ]*)\)(?:\[([\w, ]*)\])? -> \((.*)\)>\s*", re.S)
TOKEN = re.compile(r"\s*(\d+|\w+|[-+*(),])")


# -- maps -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Read:
    """A map as its text says it: the names of dims and symbols, and each result as nested tuples."""

    dims: list[str]
    symbols: list[str]
    results: list[Any]

    def at(self, dims: Sequence[Any], symbols: Sequence[Any]) -> list[Any]:
        """The results at numbers or arrays."""
        values = dict(zip([*self.dims, *self.symbols], [*dims, *symbols], strict=True))
        return [evaluated(result, values) for result in self.results]


def read(text: str) -> Read:
    """A map from its text. Raises ValueError where it is none."""
    found = MAP.fullmatch(text)
    if found is None:
        raise ValueError(f"no affine map: {text[:80]}")
    dims, symbols = (
        [n.strip() for n in (part or "").split(",") if n.strip()] for part in found.groups()[:2]
    )
    parser = _Parser(found[3])
    results = [parser.sum()] if parser.tokens else []
    while parser.take(","):
        results.append(parser.sum())
    if parser.tokens:
        raise ValueError(f"{parser.tokens[-1]!r} in {text[:80]}")
    return Read(dims, symbols, results)


class _Parser:
    """MLIR's grammar of affine expressions: * floordiv ceildiv mod bind alike, and to the left."""

    def __init__(self, text: str):
        self.tokens = TOKEN.findall(text)[::-1]

    def take(self, *wanted: str) -> str:
        """The next token where it is one of these, else ""."""
        return self.tokens.pop() if self.tokens and self.tokens[-1] in wanted else ""

    def sum(self) -> Any:
        """A sum of products."""
        left = self.product()
        while sign := self.take("+", "-"):
            left = (sign, left, self.product())
        return left

    def product(self) -> Any:
        """A product, a quotient or a remainder."""
        left = self.operand()
        while sign := self.take("*", "floordiv", "ceildiv", "mod"):
            left = (sign, left, self.operand())
        return left

    def operand(self) -> Any:
        """A number, a name, a negative, or what is in parentheses."""
        if self.take("-"):
            return ("-", 0, self.operand())
        if self.take("("):
            inner = self.sum()
            if not self.take(")"):
                raise ValueError("a parenthesis is not closed")
            return inner
        token = self.tokens.pop()
        return int(token) if token.isdigit() else token


def evaluated(tree: Any, values: Mapping[str, Any]) -> Any:
    """A tree's value; floordiv rounds down, ceildiv up, mod is never negative. Raises ValueError where a
    divisor is not positive."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return values[tree]
    sign, *operands = tree
    a, b = (evaluated(x, values) for x in operands)
    if sign in ("floordiv", "ceildiv", "mod"):
        if np.any(np.asarray(b) <= 0):
            raise ValueError(f"a divisor that is not positive in {sign}")
        return np.mod(a, b) if sign == "mod" else a // b if sign == "floordiv" else -(-a // b)
    return a + b if sign == "+" else a - b if sign == "-" else a * b


# -- the golden functions -------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A golden function. map: None where it is none, for the reason."""

    case: golden.Case
    unit: Emitted
    function: Function
    inverse: bool
    map: AffineMap | None
    reason: str = ""

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.name

    def tables(self) -> Iterator[tuple[str, list[Any], list[np.ndarray]]]:
        """(which sizes, the arguments, the results that the reference has) over the whole table: at the
        committed one, and of a semi-affine map at two more, made anew."""
        scales = SCALES if self.map is not None and self.map.kind == "semi-affine" else (1,)
        for scale in scales:
            case = self.case if scale == 1 else scaled(self.case, scale)
            asked = query_of(case, self.function, self.inverse)
            yield f"{dict(case.sizes)}", [*asked.given], [*asked.wanted]


@cache
def scaled(case: golden.Case, scale: int) -> golden.Case:
    """The case with its sizes multiplied, and its table made by the reference."""
    made = replace(case, sizes={n: v * scale for n, v in case.sizes.items()})
    made.__dict__["table"] = made.made
    return made


def rows(names: Callable[[str], bool] = lambda name: True) -> Iterator[Row]:
    """Every golden function in MLIR, of the cases of these names."""
    for case in golden.cases(ROOT):
        if isinstance(case, golden.CopyCase) or not names(case.name):
            continue
        unit = case.emit("mlir")
        for place, function in enumerate(unit.functions):
            inverse = place == 1 and case.layout is not None
            try:
                yield Row(case, unit, function, inverse, unit.affine_map(function.name))
            except TargetError as error:
                yield Row(case, unit, function, inverse, None, str(error))


def mismatch(row: Row) -> tuple[int, str]:
    """(at how many indices the map was evaluated, what is wrong first)."""
    assert row.map is not None
    found, count = read(str(row.map)), 0
    params = [p.name for p in row.function.params]
    for sizes, given, wanted in row.tables():
        values = dict(zip(params, given, strict=True))
        got = found.at(
            [values[e.name] for e in row.map.dims], [values[e.name] for e in row.map.symbols]
        )
        count += len(wanted[0])
        for result, right in zip(got, wanted, strict=True):
            wrong = np.flatnonzero(np.broadcast_to(result, right.shape) != right)
            if len(wrong):
                return count, f"{row.name} with {sizes}: {len(wrong)} of {len(right)} differ"
    return count, ""


@dataclass
class Found:
    """What was seen of all golden functions. kinds: functions, indices and the longest map by kind; reasons: how
    often there is none for each; wrong: what differs; lowered: the versions of LLVM that lower each."""

    kinds: dict[str, list[int]]
    reasons: Counter[str]
    wrong: list[str]
    lowered: list[int]

    @property
    def count(self) -> int:
        """How many are maps."""
        return sum(count for count, *_ in self.kinds.values())


def checked() -> Found:
    """Every golden function: its map over its whole table, lowered by each mlir-opt; or why it is none."""
    found, texts = Found({}, Counter(), [], []), list[str]()
    for row in rows():
        if row.map is None:
            found.reasons[row.reason.partition("it has ")[2].partition(". Call")[0]] += 1
            continue
        count, wrong = mismatch(row)
        found.wrong += [wrong] if wrong else []
        known = found.kinds.setdefault(row.map.kind, [0, 0, 0])
        known[:] = known[0] + 1, known[1] + count, max(known[2], len(str(row.map)))
        texts.append(function_of(row.name, row.map))
    for version, program in programs().items():
        lowered = optimized(program, "".join(texts), "--lower-affine")
        complete = lowered.count("func.func") == len(texts) and "affine.apply" not in lowered
        found.lowered += [version] if complete else []
    return found


# -- mlir-opt -------------------------------------------------------------------------------------


@cache
def programs() -> dict[int, str]:
    """mlir-opt of each version of LLVM that is installed, the oldest first."""
    names = (f"mlir-opt{version}" for version in VERSIONS)
    paths = [path for name in names if (path := shutil.which(name))]
    paths += sorted(map(str, Path("/usr/lib").glob("llvm-*/bin/mlir-opt")))
    found = {}
    for path in paths:
        said = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=True
        ).stdout
        if version := re.search(r"version (\d+)", said):
            found.setdefault(int(version[1]), path)
    return dict(sorted(found.items()))


def optimized(program: str, text: str, *passes: str) -> str:
    """What mlir-opt makes of a module. Raises ValueError where it refuses."""
    done = subprocess.run(
        [program, *passes, "-"], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ValueError(done.stderr[:2000])
    return done.stdout


def applied(map: AffineMap, dims: Sequence[str], symbols: Sequence[str]) -> list[str]:
    """The lines that give %r0, %r1, .. a map's results."""
    names = ", ".join(f"d{k}" for k in range(len(dims)))
    sizes = ", ".join(f"s{k}" for k in range(len(symbols)))
    given = f"({', '.join(dims)})" + (f"[{', '.join(symbols)}]" if symbols else "")
    head = f"affine_map<({names})" + (f"[{sizes}]" if sizes else "")
    return [
        f"%r{k} = affine.apply {head} -> ({result})>{given}" for k, result in enumerate(map.results)
    ]


def function_of(name: str, map: AffineMap) -> str:
    """A function of indices and sizes that applies a map."""
    dims = [f"%d{k}" for k in range(len(map.dims))]
    symbols = [f"%s{k}" for k in range(len(map.symbols))]
    parameters = ", ".join(f"{n}: index" for n in (*dims, *symbols))
    results = ", ".join(f"%r{k}" for k in range(len(map.results)))
    types = ", ".join(["index"] * len(map.results))
    lines = "\n".join(f"  {line}" for line in applied(map, dims, symbols))
    return f"func.func @{name}({parameters}) -> ({types}) {{\n{lines}\n  return {results} : {types}\n}}\n"


def printed_maps(text: str) -> dict[str, list[str]]:
    """The maps that each function of a module applies, as mlir-opt prints it."""
    named = dict(re.findall(r"^(#\w+) = (affine_map<.*>)$", text, re.M))
    found = {}
    for body in re.split(r"^  func\.func ", text, flags=re.M)[1:]:
        name = re.match(r"@(\w+)", body)
        assert name is not None
        found[name[1]] = [named[n] for n in re.findall(r"affine\.apply (#\w+)", body)]
    return found
