"""Whom arithmetic asks: what is known (Facts), and who decides an `if` (a path that is followed)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from .terms import Exact

K = TypeVar("K", bound="Knowledge")


class Knowledge(Protocol):
    """What arithmetic asks of what is known."""

    @property
    def exact(self) -> Exact:
        """Quotients of products that are known to divide."""
        ...

    def divmod(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Floor quotient and remainder."""
        ...

    def nonneg(self, e: Any) -> bool:
        """Whether e >= 0 is proven."""
        ...

    def decide(self, condition: Any) -> bool | None:
        """A condition's value where it is proven."""
        ...


class Path(Protocol):
    """One way through a user's function."""

    decided: Mapping[Any, tuple[Any, bool]]

    def ask(self, condition: Any) -> bool:
        """The branch to take at an `if` on a condition."""
        ...


PATH: ContextVar[Any] = ContextVar("lego_emit_path", default=None)
IN_FORCE: ContextVar[Any] = ContextVar("lego_emit_knowledge", default=None)

_nothing: list[Callable[[], Knowledge]] = []  # what is known where nothing was said
# (is a value of another system's, that value as an Expr)
READERS: list[tuple[Callable[[Any], bool], Callable[[Any], Any]]] = []


def knowledge() -> Knowledge:
    """What is in force: that of the trace that is running, else nothing at all."""
    known = IN_FORCE.get()
    return _nothing[0]() if known is None else known


@contextmanager
def using(known: K) -> Iterator[K]:
    """Put knowledge in force."""
    token = IN_FORCE.set(known)
    try:
        yield known
    finally:
        IN_FORCE.reset(token)


def where_nothing_is_known(make: Callable[[], Knowledge]) -> None:
    """Let make() be in force where nothing else is."""
    _nothing[:] = [make]


def read_with(is_one: Callable[[Any], bool], read: Callable[[Any], Any]) -> None:
    """Let read(value) be the Expr of a value for which is_one(value) is true."""
    READERS.append((is_one, read))
