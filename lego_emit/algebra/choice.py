"""Choice: one of several layouts of the same coordinates, by a tag that is known at run time only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from typing import Any

from ..errors import InverseError, LayoutError, a_type, short_repr
from ..numeric import is_integer, is_symbolic
from .block import Block, Change, Indexable, Numbers
from .sizes import comparable, listed, product, way_out

FORMS = ("switch", "functions")
MOST = 256  # layouts


class Choice(Indexable):
    """One of several layouts of the same coordinates, by a tag.

    tag: an integer or a symbol. layouts: the layout of each tag, {0: L0, 1: L1, ..}, of equal dims; keys are
    integers or members of an IntEnum, whose names are constants of an emitted file. form: "switch", a function
    has a switch with the text of each layout in it, or "functions", each layout has functions of its own,
    and the functions of the Choice call them.

    Of a tag that is an integer it is the layout of that tag itself. Where the tag is a symbol, emitted
    functions take it as a parameter, and the header says which tags there are. There is an inv where each
    layout has one and all take as many positions.

        >>> from lego_emit import Choice, Col, Row, generate, symbols
        >>> Choice(1, {0: Row(4, 6), 1: Col(4, 6)})
        Col(4, 6)
        >>> order = symbols("order")
        >>> image = Choice(order, {0: Row(4, 6), 1: Col(4, 6)})
        >>> generate(image, "c").compile()["layout_apply"](1, 2, 3)
        14

    Raises LayoutError on no layouts, a key that is no integer, layouts of other coordinates or results,
    and an integer tag that has no layout.
    """

    tag: Any
    layouts: dict[int, Block]
    labels: dict[int, tuple[str, str]]
    form: str

    def __new__(cls, tag: Any, layouts: Mapping[Any, Any], form: str = "switch") -> Any:
        """The layout of an integer tag, else a Choice."""
        said = f"Choice({short_repr(tag)}, ..)"
        known, labels = _checked(layouts, said)
        if form not in FORMS:
            raise LayoutError(f"{said}: form is {short_repr(form)}; give 'switch' or 'functions'")
        constant = getattr(tag, "constant", None)
        tag = tag if constant is None else constant
        if is_integer(tag):
            if int(tag) not in known:
                raise LayoutError(
                    f"{said}: there is no layout for the tag {short_repr(tag)}; there are "
                    f"{', '.join(_shown(key, labels) for key in known)}"
                )
            return known[int(tag)]
        if not is_symbolic(tag):
            raise LayoutError(
                f"{said}: the tag is {short_repr(tag)}, {a_type(tag)}; give an integer or a "
                f"symbol{way_out(tag)}"
            )
        made = object.__new__(cls)
        made.tag, made.layouts, made.labels, made.form = tag, known, labels, form
        return made

    @cached_property
    def _first(self) -> Block:
        return next(iter(self.layouts.values()))

    @property
    def dims(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The sizes of the index, which all layouts share."""
        return self._first.dims

    @property
    def coordinates(self) -> tuple[str, ...] | None:
        """The names that one of the layouts gives the coordinates."""
        return next((c for L in self.layouts.values() if (c := L.coordinates) is not None), None)

    @property
    def results(self) -> tuple[str, ...] | None:
        """The names of the results, which all layouts share."""
        return self._first.results

    @cached_property
    def _is_alike(self) -> bool:
        """Whether all layouts take as many positions."""
        found = {comparable(_physical(L)) for L in self.layouts.values()}
        return len(found) == 1

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """The sizes of the positions of all layouts, or the most that there are of one."""
        if self._is_alike:
            return self._first.physical_dims
        sizes = [L.physical_size for L in self.layouts.values()]
        numbers = [n for n in sizes if isinstance(n, int)]
        return (max(numbers),) if len(numbers) == len(sizes) else self._first.physical_dims

    @property
    def masks(self) -> bool:
        """Whether one of the layouts masks."""
        return any(L.masks for L in self.layouts.values())

    @property
    def masks_inverse(self) -> bool:
        """Whether the inverse of one of the layouts masks."""
        return any(L.masks_inverse for L in self.layouts.values())

    @property
    def has_inverse(self) -> bool:
        """Whether each layout has an inverse, of as many positions."""
        return self._is_alike and all(L.has_inverse for L in self.layouts.values())

    @property
    def is_bijection(self) -> bool:
        """Whether each layout is one."""
        return all(L.is_bijection for L in self.layouts.values())

    @property
    def is_bounded(self) -> bool:
        """Whether all positions of all layouts are known to lie in 0..physical_size - 1."""
        known = self._is_alike or all(
            isinstance(L.physical_size, int) for L in self.layouts.values()
        )
        return known and all(L.is_bounded for L in self.layouts.values())

    def sizes(self) -> tuple[Any, ...]:
        """All sizes of all layouts."""
        return (*self.dims, *(n for L in self.layouts.values() for n in L.sizes()))

    def offsets(self) -> tuple[Any, ...]:
        """The tag, and all offsets of all layouts."""
        return (self.tag, *(n for L in self.layouts.values() for n in L.offsets()))

    @property
    def tags(self) -> tuple[tuple[Any, tuple[int, ...]], ...]:
        """The tag, and those of the layouts."""
        inner = (one for L in self.layouts.values() for one in L.tags)
        return ((self.tag, tuple(sorted(self.layouts))), *inner)

    def equations(self) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """The pairs of products that one of the layouts needs to be equal."""
        for L in self.layouts.values():
            yield from L.equations()

    def inequalities(self) -> Iterator[tuple[Any, Any]]:
        """Those of all layouts."""
        for L in self.layouts.values():
            yield from L.inequalities()

    def with_sizes(self, new: Change) -> Any:
        """The same with other sizes; of a tag that is a number its layout."""
        found = {key: L if L.is_concrete else L.with_sizes(new) for key, L in self._keyed().items()}
        return Choice(new.size(self.tag), found, self.form)

    def _keyed(self) -> dict[Any, Block]:
        """The layouts by their keys, which are again members of an IntEnum where they were."""
        return {_Key(key, self.labels.get(key)): L for key, L in self.layouts.items()}

    def inv(self, flat: Any) -> tuple[Any, ...]:
        """The logical index of a flat physical index in the tag's layout, as Block.inv gives it. Raises
        InverseError where one of the layouts has no inverse, or they take different numbers of positions."""
        if not self.has_inverse:
            without = [k for k, L in self.layouts.items() if not L.has_inverse]
            why = "its layouts take different numbers of positions"
            if without:
                why = f"the layout of {_shown(without[0], self.labels)}, {self.layouts[without[0]]!r}, has none"
            raise InverseError(f"{self!r} has no inverse: {why}")
        return super().inv(flat)

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The position of the tag's layout."""

        def results(numbers: Numbers, layout: Block) -> list[Any]:
            found = layout.forward(numbers, index)
            return [*found] if isinstance(found, tuple) else [found]

        found = numbers.chosen(self, results, inverse=False)
        return found[0] if self.results is None else tuple(found)

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The index of the tag's layout."""
        return numbers.chosen(self, lambda numbers, L: L.backward(numbers, flat), inverse=True)

    def __reduce__(self) -> Any:
        return Choice, (self.tag, self._keyed(), self.form)

    def _value(self) -> tuple[Any, ...]:
        labels = tuple(self.labels.items())
        return comparable((self.tag,)), tuple(self.layouts.items()), labels, self.form

    def __repr__(self) -> str:
        layouts = (f"{_shown(k, self.labels)}: {L!r}" for k, L in self.layouts.items())
        form = f", form={self.form!r}" * (self.form != FORMS[0])
        return f"Choice({self.tag!r}, {{{', '.join(layouts)}}}{form})"


class _Key(int):
    """A key with the names that an IntEnum gives it, if any does."""

    label: tuple[str, str] | None

    def __new__(cls, key: int, label: tuple[str, str] | None) -> _Key:
        made = super().__new__(cls, key)
        made.label = label
        return made

    def __reduce__(self) -> Any:
        return _Key, (int(self), self.label)


def _shown(key: int, labels: Mapping[int, tuple[str, str]]) -> str:
    return ".".join(labels[key]) if key in labels else short_repr(key)


def _physical(layout: Block) -> tuple[Any, ...]:
    return layout.physical_dims if layout.results is not None else (product(layout.physical_dims),)


def _checked(layouts: Any, said: str) -> tuple[dict[int, Block], dict[int, tuple[str, str]]]:
    """The layouts by integers, and what an IntEnum calls these. Raises LayoutError."""
    if not isinstance(layouts, Mapping):
        raise LayoutError(
            f"{said}: the layouts are {short_repr(layouts)}; give a dict of the layout of each tag, as in "
            "{0: Row(4, 6), 1: Col(4, 6)}"
        )
    if not layouts:
        raise LayoutError(f"{said}: give at least one layout")
    if len(layouts) > MOST:
        raise LayoutError(f"{said}: {len(layouts)} layouts; there are at most {MOST}")
    found, labels = dict[int, Block](), dict[int, tuple[str, str]]()
    for key, layout in layouts.items():
        if not is_integer(key):
            raise LayoutError(
                f"{said}: the key {short_repr(key)} is {a_type(key)}; a tag is an integer, or a member of an "
                "IntEnum"
            )
        if not isinstance(layout, Block):
            raise LayoutError(
                f"{said}: the tag {short_repr(key)} has {short_repr(layout)}, no layout"
            )
        number = int(key)
        found[number] = layout
        if isinstance(key, _Key):
            labels.update({number: key.label} if key.label else {})
        elif isinstance(key, IntEnum):
            labels[number] = type(key).__name__, key.name
    (first, one), *others = found.items()
    for key, other in others:
        pair = f"the layouts of {_shown(first, labels)} and {_shown(key, labels)}, {one!r} and {other!r},"
        if comparable(one.dims) != comparable(other.dims):
            raise LayoutError(
                f"{said}: {pair} have the coordinates [{listed(one.dims)}] and [{listed(other.dims)}]; the "
                "layouts of a choice have the same"
            )
        if one.results != other.results:
            raise LayoutError(f"{said}: {pair} have other results; those of a choice are the same")
        names = one.coordinates, other.coordinates
        if None not in names and names[0] != names[1]:
            raise LayoutError(
                f"{said}: {pair} call their coordinates {', '.join(names[0] or ())} and "
                f"{', '.join(names[1] or ())}; the layouts of a choice call them the same"
            )
    return found, labels


def function_names(choice: Choice, name: str) -> dict[int, str]:
    """What the layouts are called beside a Choice of that name, by their keys: NAME_rows of Order.ROWS,
    NAME_7, NAME_minus_7."""
    said = {k: choice.labels.get(k, ("", str(k).replace("-", "minus_")))[1] for k in choice.layouts}
    return {key: f"{name}_{text.lower()}" for key, text in said.items()}
