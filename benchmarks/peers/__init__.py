"""Who simplifies: one module each, loaded when its column is wanted.

A module has TITLE, version(), and attempts(problem): for each column of its own the Attempts to
compare, of which the table shows the best. It raises ImportError where its package is missing and
Unsupported where it cannot say the problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from timing import measured
from tree import Tree

MODULES = {
    "naive": "peers.naive",
    "ours": "peers.ours",
    "sympy": "peers.sympy",
    "inductor": "peers.inductor",
    "tvm": "peers.tvm",
    "isl": "peers.isl",
    "lego-layout": "peers.lego_layout",
}
# A module whose package is missing cannot be asked.
INSTALL = {
    "ours": "pip install .",
    "sympy": "pip install sympy",
    "inductor": "pip install torch",
    "tvm": "pip install apache-tvm",
    "isl": "pip install islpy",
    "lego-layout": "python3.12 -m venv FOLDER; FOLDER/bin/pip install lego-layout==0.2.5; "
    "export LEGO_LAYOUT_PYTHON=FOLDER/bin/python",
}


@dataclass(frozen=True)
class Attempt:
    """One way in which a side simplifies. Calling it gives (trees, milliseconds)."""

    name: str
    run: Callable[[Any], Any]
    trees: Callable[[Any], tuple[Tree, ...]]
    prepare: Callable[[], Any] = lambda: None

    def __call__(self, limit: float) -> tuple[tuple[Tree, ...], float | None]:
        result, milliseconds = measured(self.run, self.prepare, limit)
        return self.trees(result), milliseconds


def load(name: str) -> Any:
    """The module of a side. Raises ImportError where its package is missing."""
    return import_module(MODULES[name])
