"""lego-layout, the package of the paper's authors, in a Python of its own (it wants 3.12 or later).

That Python is $LEGO_LAYOUT_PYTHON, or the first of this one, python3.12 .. python3.14 on the path
that has the package.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from rows import Formula
from timing import TooLong
from tree import Tree, Unsupported, parsed, text, variable

from lego_emit.algebra.genp import GenP
from lego_emit.algebra.perms import RegP

TITLE = "lego-layout"
VERSION = "from importlib.metadata import version; import lego; print(version('lego-layout'))"


@cache
def found() -> tuple[str, str]:
    """(the Python that has the package, the package's version). Raises ImportError."""
    names = [os.environ.get("LEGO_LAYOUT_PYTHON"), sys.executable]
    names += ["python3.12", "python3.13", "python3.14"]
    for python in filter(None, (shutil.which(n) for n in names if n)):
        tried = subprocess.run([python, "-c", VERSION], capture_output=True, text=True)
        if tried.returncode == 0:
            return python, tried.stdout.strip()
    raise ImportError("no Python with lego-layout was found")


def version() -> str:
    return found()[1]


@cache
def worker() -> subprocess.Popen:
    """The process that runs lego_layout_worker.py."""
    return subprocess.Popen(
        [found()[0], "-m", "peers.lego_layout_worker"],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


class Remote:
    """An attempt that the worker makes and times."""

    def __init__(self, name: str, problem: Any):
        self.name, self.problem = name, problem

    def __call__(self, limit: float) -> tuple[tuple[Tree, ...], float]:
        request = {**_request(self.problem), "attempt": self.name, "limit": limit}
        process = worker()
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline() or '{"error": "its process ended"}')
        if answer.get("error") == "too long":
            raise TooLong
        if "error" in answer:
            raise Unsupported(answer["error"])
        names = self.problem.variables
        return tuple(parsed(t, names) for t in answer["trees"]), answer["milliseconds"]


def attempts(problem):
    found()
    if isinstance(problem.layout, Formula):
        raise Unsupported("no layout gives this formula")
    return {TITLE: [Remote(name, problem) for name in ("as it comes", "simplify")]}


def _request(problem) -> dict[str, Any]:
    layout = problem.layout
    return {
        "direction": problem.case.direction,
        "names": problem.names,
        "sizes": problem.sizes,
        "dims": list(map(_text, layout.dims)),
        # The paper's GroupBy applies the last OrderBy first.
        "orders": [[_perm(p) for p in order.perms] for order in reversed(layout.chain)],
    }


def _perm(perm: RegP | GenP) -> dict[str, Any]:
    request: dict[str, Any] = {"dims": list(map(_text, perm.dims))}
    if isinstance(perm, RegP):
        return request | {"perm": list(perm.perm)}
    indices = [variable(f"i{k}") for k in range(len(perm.dims))]
    flat = variable("flat")
    return request | {
        "apply": text(perm.apply_function(*indices)),
        "inv": [text(t) for t in perm.inv_function(flat)],
    }


def _text(size: Any) -> str:
    return text(size) if isinstance(size, Tree) else str(size)
