"""Fields of a few bits each in an array of words: which word a field is in, and where in it."""

from __future__ import annotations

from typing import Any

from ..errors import IndexRangeError, LayoutError, brief_methods, short_repr
from ..numeric import is_integer, is_symbolic
from .block import Block
from .sizes import way_out

WORDS = (8, 16, 32, 64)
ORDERS = ("lsb", "msb")
HELD = ("array", "value")


@brief_methods
class Packed:
    """Fields of `bits` bits in unsigned words, field k being the one whose position in a layout is k.

    layout: gives one position of at least 0. bits: of a field, from 1 to word, or a symbol, whose range
    generate() has to be told. word: the bits of a word, 8, 16, 32 or 64. order: "lsb", fields are
    counted from the least significant bit of the first word on; "msb", from its most significant one, and
    a field in two words has its high part in the earlier one. straddle: whether fields are in two words;
    if not, each word has (word - offset) // bits fields, and what is left over is at its other end.
    offset: the bits before the first field, with straddle=False before the first one of every word; a
    number or a symbol. signed: whether fields are numbers in two's complement. words: "array", or
    "value" for functions that take, and give, one word in which all fields are.

    It is a subject of generate(), and no layout. NAME_get(words, i..) gives a field, as a word's unsigned
    type, or its signed one where fields are signed; NAME_set(words, i.., value) sets one to the low bits of
    value and leaves all others; NAME_words(sizes) says how many words hold all fields, and
    NAME_position(i..) where one is.

        >>> from lego_emit import Packed, Row
        >>> bases = Packed(Row(100), 2, word=32)
        >>> bases.position(17)
        (1, 2)
        >>> words = [0] * bases.words()
        >>> bases.set(words, 17, 3)
        >>> words[1], bases.get(words, 17)
        (12, 3)

    Raises LayoutError on bits below 1 or above word, a layout with negative positions or without one
    position for each index, and what is none of the above.
    """

    layout: Block
    bits: Any
    word: int
    order: str
    straddle: bool
    offset: Any
    signed: bool
    held: str

    def __init__(
        self,
        layout: Block,
        bits: Any,
        word: int = 32,
        order: str = "lsb",
        straddle: bool = True,
        offset: Any = 0,
        signed: bool = False,
        words: str = "array",
    ):
        self.layout, self.bits, self.word, self.order = layout, bits, word, order
        self.straddle, self.offset, self.signed, self.held = straddle, offset, signed, words
        if not isinstance(layout, Block):
            raise LayoutError(f"Packed({short_repr(layout)}, ..): the first argument is no layout")
        for name, value, known in (
            ("word", word, WORDS),
            ("order", order, ORDERS),
            ("words", words, HELD),
        ):
            if type(value) is not type(known[0]) or value not in known:
                listed = ", ".join(map(repr, known))
                atomic = "; no form sets fields atomically" if repr(value) == "'atomic'" else ""
                raise LayoutError(
                    f"{self!r}: {name} is {short_repr(value)}; there are {listed}{atomic}"
                )
        for name, value in (("straddle", straddle), ("signed", signed)):
            if not isinstance(value, bool):
                raise LayoutError(f"{self!r}: {name} is {short_repr(value)}; give True or False")
        if layout.results is not None or layout.masks:
            what = "masks positions, by -1" if layout.masks else "gives no single position"
            raise LayoutError(
                f"{self!r}: the layout {what}; a field is at one position of at least 0"
            )
        self.bits = self._number("bits", bits, 1, word)
        self.offset = self._number("offset", offset, 0, None)
        if is_integer(self.bits) and is_integer(self.offset) and not straddle:
            if self.offset + self.bits > word:
                raise LayoutError(
                    f"{self!r}: no field of {self.bits} bits is in a word of {word} behind {self.offset} "
                    "others; choose a smaller offset"
                )

    def _number(self, name: str, value: Any, least: int, most: int | None) -> Any:
        constant = getattr(value, "constant", None)
        value = value if constant is None else constant
        if is_symbolic(value):
            atom = getattr(value, "single", None)
            if atom is None or atom.kind != "sym":
                raise LayoutError(f"{self!r}: {name} is {short_repr(value)}; give one symbol")
            return value
        end = f" and at most {most}, the bits of a word" if most else ""
        if not is_integer(value):
            raise LayoutError(
                f"{self!r}: {name} is {short_repr(value)}; give an integer or a symbol{way_out(value)}"
            )
        if value < least or (most is not None and value > most):
            raise LayoutError(
                f"{self!r}: {name} is {short_repr(value)}, and is at least {least}{end}"
            )
        return int(value)

    @property
    def is_concrete(self) -> bool:
        """Whether all sizes, bits and offset are integers."""
        return self.layout.is_concrete and is_integer(self.bits) and is_integer(self.offset)

    @property
    def by_value(self) -> bool:
        """Whether functions take one word, and no array."""
        return self.held == "value"

    def with_sizes(self, new: Any) -> Packed:
        """The same with its sizes, bits and offset changed (lego_emit.algebra.block.Change)."""
        layout = self.layout if self.layout.is_concrete else self.layout.with_sizes(new)
        return Packed(
            layout, new.size(self.bits), self.word, self.order, self.straddle,
            new.size(self.offset), self.signed, self.held,
        )  # fmt: skip

    @property
    def _of_a_word(self) -> Any:
        """How many fields a word has, where none straddles."""
        return (self.word - self.offset) // self.bits

    def position(self, *index: Any) -> tuple[Any, Any]:
        """(the word with the least significant bit of the field at an index, how many bits of it are
        below that). Raises IndexRangeError on an index out of range, or a negative position."""
        flat = self.layout.apply(*index)
        if not is_symbolic(flat) and (flat < 0 if is_integer(flat) else bool((flat < 0).any())):
            raise IndexRangeError(f"{self!r}: the layout has a negative position")
        return self.place_of(flat)

    def place_of(self, flat: Any) -> tuple[Any, Any]:
        """position() of field number flat."""
        word, bits = self.word, self.bits
        if not self.straddle:
            count = self._of_a_word
            before = self.offset + flat % count * bits
            return flat // count, before if self.order == "lsb" else word - bits - before
        first = flat * bits + self.offset
        if self.order == "lsb":
            return first // word, first % word
        last = first + bits - 1
        return last // word, word - 1 - last % word

    def words(self) -> Any:
        """How many words hold all fields. Raises LayoutError where no position is the last one."""
        if self.by_value:
            return 1
        if not self.layout.is_bounded:
            raise LayoutError(
                f"{self!r}: no position of the layout is known to be the last one, and so no number of words"
            )
        fields = self.layout.physical_size
        if not self.straddle:
            count = self._of_a_word
            return (fields + count - 1) // count
        return (fields * self.bits + self.offset + self.word - 1) // self.word

    # In plain words, bit by bit: what the emitted functions are compared with.

    def _places(self, flat: int) -> list[tuple[int, int]]:
        """(the word, the number of the bit in it) of each bit of a field, the least significant one
        first."""
        if self.straddle:
            start = self.offset + flat * self.bits
        else:
            word, place = divmod(flat, self._of_a_word)
            start = word * self.word + self.offset + place * self.bits
        stream = range(start, start + self.bits)
        if self.order == "lsb":
            return [divmod(bit, self.word) for bit in stream]
        places = (divmod(bit, self.word) for bit in reversed(stream))
        return [(word, self.word - 1 - bit) for word, bit in places]

    def field(self, words: Any, flat: int) -> int:
        """Field number flat of words, which are integers."""
        bits = [int(words[word]) >> bit & 1 for word, bit in self._places(flat)]
        value = sum(bit << k for k, bit in enumerate(bits))
        return value - (bits[-1] << self.bits) if self.signed else value

    def get(self, words: Any, *index: int) -> int:
        """The field at an index of a list or an array of words, or of one word where words="value"."""
        return self.field([words] if self.by_value else words, int(self.layout.apply(*index)))

    def put(self, words: Any, flat: int, value: int) -> None:
        """Set field number flat of words to the low bits of value."""
        for k, (word, bit) in enumerate(self._places(flat)):
            one = type(words[word])(1 << bit)
            words[word] = words[word] | one if value >> k & 1 else words[word] & ~one

    def set(self, words: Any, *index_and_value: int) -> int | None:
        """Set the field at an index to the low bits of the value, which is the last argument; of one word
        where words="value" give the new one."""
        *index, value = index_and_value
        own = [words] if self.by_value else words
        self.put(own, int(self.layout.apply(*index)), int(value))
        return own[0] if self.by_value else None

    def __repr__(self) -> str:
        said = [short_repr(self.layout), short_repr(self.bits), f"word={self.word}"]
        defaults = ("order", "lsb"), ("straddle", True), ("offset", 0), ("signed", False)
        said += [
            f"{name}={short_repr(getattr(self, name))}"
            for name, default in defaults
            if type(own := getattr(self, name)) is not type(default) or own != default
        ]
        said += ["words='value'"] * (self.held == "value")
        return f"Packed({', '.join(said)})"
