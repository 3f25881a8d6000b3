"""Arrays of any length: what is known of one, and what a function reads of it."""

from __future__ import annotations

from typing import Any

from ..errors import TraceError


class OpenArray(tuple):
    """The first elements of an array of any length. Raises TraceError where another one is read."""

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice) and 0 <= index < tuple.__len__(self):
            return super().__getitem__(index)
        raise TraceError(f"element {index} of an array of any length is not known")


def read(function: Any) -> set[str]:
    """The names that a function reads, of an array those at constants."""
    found, pending, known = set[str](), [*function.roots], set[int]()
    while pending:
        node = pending.pop()
        if id(node) in known:
            continue
        known.add(id(node))
        if node.op == "var":
            found.add(str(node.value))
        elif node.op in ("loop", "switch"):
            parts = node.args[0].value.parts
            own = set().union(*map(read, parts))
            names = [p.name for p in parts[-1].params]
            first, names = (
                (3, names[1:]) if node.op == "loop" else (2, names)
            )  # of what may be read
            given = zip(node.args[first:], names, strict=True)
            pending += [*node.args[1:first], *(a for a, n in given if n in own)]
        else:
            is_array = node.op == "lookup" and node.args[0].value.array
            pending += node.args[:2] if is_array else node.args
    return found
