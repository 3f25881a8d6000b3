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
        elif node.op == "loop":
            made, (_, *ends) = node.args[0].value, node.args
            own = set().union(*(read(part) for part in made.parts))
            names = [p.name for p in made.body.params]
            pending += [
                *ends[:2],
                *(a for a, n in zip(ends[2:], names[1:], strict=True) if n in own),
            ]
        else:
            is_array = node.op == "lookup" and node.args[0].value.array
            pending += node.args[:2] if is_array else node.args
    return found
