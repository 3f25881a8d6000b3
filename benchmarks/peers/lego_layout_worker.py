"""Runs in the Python that has lego-layout: a request a line on stdin, an answer a line on stdout.

It shares tree.py, timing.py and the SymPy translation with the benchmark and needs no lego_emit.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import sympy
from lego.core import GenP, GroupBy, OrderBy, RegP
from sympy.core.cache import clear_cache
from timing import TooLong, measured
from tree import text, variable

from .sympy import Converter


def main() -> None:
    # The package may print: answers have the real stdout for themselves.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            answer = answered(json.loads(line))
        except TooLong:
            answer = {"error": "too long"}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=answers, flush=True)


def answered(request: dict[str, Any]) -> dict[str, Any]:
    known = {n: sympy.Symbol(n, integer=True, positive=True) for n in request["sizes"]}
    indices = [sympy.Symbol(n, integer=True, nonnegative=True) for n in request["names"]]

    def run(context) -> list[sympy.Expr]:
        dims = _sizes(request["dims"], known)
        orders = [OrderBy(*(_perm(p, known) for p in perms)) for perms in request["orders"]]
        layout = GroupBy([dims], orders)
        if request["direction"] == "inv":
            results = list(layout.inv(*indices))
        else:
            results = [layout.apply(*indices)]
        if request["attempt"] == "simplify":  # as the package's own frontends do
            results = [sympy.simplify(e) for e in results]
        return results

    results, milliseconds = measured(run, clear_cache, request["limit"])
    names = {n: variable(n, sized=n in known) for n in [*known, *request["names"]]}
    convert = Converter(names)
    return {"trees": [text(convert(e)) for e in results], "milliseconds": milliseconds}


def _sizes(texts: list[str], known: dict[str, sympy.Symbol]) -> tuple[Any, ...]:
    return tuple(eval(t, {}, dict(known)) for t in texts)


def _perm(request: dict[str, Any], known: dict[str, sympy.Symbol]) -> Any:
    dims = _sizes(request["dims"], known)
    if "perm" in request:
        return RegP(dims, tuple(request["perm"]))

    def apply(indices):
        return eval(request["apply"], {}, {f"i{k}": i for k, i in enumerate(indices)})

    def inv(flat):
        return tuple(eval(t, {}, {"flat": flat}) for t in request["inv"])

    return GenP(dims, apply, inv)


if __name__ == "__main__":
    main()
