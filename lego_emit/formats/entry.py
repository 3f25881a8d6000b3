"""An entry of the catalogue: a memory layout by name, with its source, and the catalogue of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..algebra import reference
from ..algebra.block import Block
from ..algebra.sizes import check_sizes
from ..errors import LayoutError, LegoError, did_you_mean, short_repr
from ..numeric import is_array, is_integer, is_symbolic

if TYPE_CHECKING:
    import numpy as np

Maker = Callable[..., Block]
EMPTY = inspect.Parameter.empty
TRIED = 8  # positions that are compared before all are


@dataclass(frozen=True, repr=False)
class Entry:
    """A layout by name. Called with its sizes, numbers or symbols, it is the layout.

    name: "family.format". make: the function of its sizes. source: where it is defined. checked: what
    of the source its table was compared with; "" where it could not be. ragged: what it does with
    sizes that its tiles do not divide. example: sizes for a picture.
    """

    name: str
    make: Maker
    source: str
    checked: str
    ragged: str
    example: Mapping[str, Any] = field(hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.about)  # what emitted functions say of it

    @property
    def __name__(self) -> str:
        """What a function of its sizes is called."""
        return self.name.rpartition(".")[2]

    @property
    def __signature__(self) -> inspect.Signature:
        """Its sizes and options."""
        return inspect.signature(self.make)

    def __call__(self, *sizes: Any, **named: Any) -> Block:
        """The layout of these sizes, in the order of `parameters`.

        Raises LayoutError where there are too many or too few, or one is no size, and what the
        entry's function says.
        """
        taken = inspect.signature(self.make)
        try:
            bound = taken.bind(*sizes, **named)
        except TypeError as wrong:
            listed = ", ".join(self.parameters)
            raise LayoutError(f"{self.construct}: {wrong}; it takes {listed}") from None
        required = [n for n in bound.arguments if taken.parameters[n].default is EMPTY]
        for option, value in bound.arguments.items():
            if is_array(value):
                raise LayoutError(f"{self.construct}: {option} is an array; give one value")
            if is_integer(value):
                bound.arguments[option] = int(value)  # also NumPy's
        if required:
            construct = f"{self.construct}({', '.join(required)})"
            given = check_sizes([bound.arguments[n] for n in required], construct)
            bound.arguments.update(zip(required, given, strict=True))
        layout = self.make(*bound.args, **bound.kwargs)
        symbolic = tuple(v for v in bound.arguments.values() if is_symbolic(v))
        if symbolic:
            layout = copy(layout)  # what make() returned may be in use elsewhere
            # Emitted functions take them in the order in which the entry declares them.
            object.__setattr__(layout, "_arguments", symbolic)
        return layout

    @property
    def construct(self) -> str:
        """How it is written."""
        return f'catalogue["{self.name}"]'

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its sizes and options, as "M" and "ld=None"."""
        taken = inspect.signature(self.make).parameters.values()
        return tuple(str(p.replace(annotation=EMPTY)).replace(" = ", "=") for p in taken)

    @property
    def about(self) -> str:
        """What it is, in full."""
        return inspect.getdoc(self.make) or ""

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        return self.about.partition("\n")[0]

    @property
    def is_verified(self) -> bool:
        """Whether its table was checked against its source."""
        return bool(self.checked)

    def __repr__(self) -> str:
        return self.construct

    def __str__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.example.items())
        checked = self.checked or "unverified"
        return "\n".join(
            [
                f"{self.name}({', '.join(self.parameters)})",
                self.about,
                f"source:  {self.source}",
                f"checked: {checked}",
                f"ragged:  {self.ragged}",
                f"example: {given}",
            ]
        )


class Catalogue(Mapping[str, Entry]):
    """Layouts by name, in the order of the families' files.

    >>> from lego_emit import catalogue
    >>> catalogue["onednn.nChw16c"](1, 20, 7, 7).apply(0, 17, 0, 0)
    785
    """

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._grammars: dict[str, Callable[[str], Entry]] = {}

    def entry(
        self, name: str, *, source: str, checked: str, ragged: str, **example: Any
    ) -> Callable[[Maker], Maker]:
        """Adds the function that is decorated, under a name."""

        def added(make: Maker) -> Maker:
            self.add(Entry(name, make, source, checked, ragged, example))
            return make

        return added

    def add(self, entry: Entry) -> None:
        """Add an entry, whose name must be new."""
        assert entry.name not in self._entries
        self._entries[entry.name] = entry

    def grammar(self, family: str) -> Callable[[Callable[[str], Entry]], Callable[[str], Entry]]:
        """Adds the function that makes the entry of any name of a family that is not listed."""

        def added(make: Callable[[str], Entry]) -> Callable[[str], Entry]:
            self._grammars[family] = make
            return make

        return added

    def __getitem__(self, name: str) -> Entry:
        """The entry of a name. Raises LayoutError, with the nearest name, where there is none."""
        if isinstance(name, str):
            if name in self._entries:
                return self._entries[name]
            family, _, rest = name.partition(".")
            if rest and family in self._grammars:
                return self._grammars[family](rest)
        raise LayoutError(
            f"catalogue[{short_repr(name)}]: there is no layout of this name."
            f"{did_you_mean(str(name), list(self._entries))} `lego-emit catalogue` lists all"
        )

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] is not None
        except LayoutError:
            return False

    def get(self, name: str, default: Any = None) -> Any:
        """The entry of a name, or default."""
        return self[name] if name in self else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def by_family(self) -> list[Entry]:
        """The entries, the families in alphabetical order."""
        return sorted(self.values(), key=lambda entry: entry.name.partition(".")[0])

    def named(self, table: np.ndarray) -> Iterator[tuple[str, Block]]:
        """(how it is called, the layout) of each entry that gives these positions, of an array of the
        layout's dims, for sizes that are those dims, or one of them."""
        tried = dict.fromkeys([table.shape, *((n,) for n in table.shape)])
        for entry in self.values():
            for sizes in tried:
                try:
                    layout = entry(*sizes)
                except LegoError:
                    continue
                if tuple(layout.dims) == table.shape and layout.results is None:
                    if _makes(layout, table):
                        yield f"{entry.construct}({', '.join(map(str, sizes))})", layout

    def __repr__(self) -> str:
        return f"<catalogue of {len(self)} layouts>"


catalogue = Catalogue()


def _makes(layout: Block, table: np.ndarray) -> bool:
    """Whether a layout gives these positions; a few are looked at first, for most are other ones."""
    from ..packages import numpy as np

    places = np.random.default_rng(0).integers(table.size, size=TRIED).tolist()
    some = (tuple(map(int, np.unravel_index(k, table.shape))) for k in places)
    if any(reference.apply(layout, index) != table[index] for index in some):
        return False
    return np.array_equal(reference.table(layout), table.reshape(-1))


def choice(construct: object, name: str, value: Any, known: tuple[Any, ...]) -> Any:
    """An option that is one of a few. Raises LayoutError."""
    if not any(type(value) is type(k) and value == k for k in known):
        raise LayoutError(
            f"{construct}: {name} is {short_repr(value)}; there are {', '.join(map(repr, known))}"
        )
    return value
