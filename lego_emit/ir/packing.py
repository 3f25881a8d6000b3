"""Fields of words, as a function that says where one is has them: what a printer needs to read and write
them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Packing:
    """The fields of a subject. name: of the subject; bits: of a field, of a symbol its parameter's name; word: the bits of a
    word; order: "lsb", or "msb" where a field that straddles goes on in the word before; straddles: whether
    one may be in two words; signed: whether fields are; by_value: whether one word is given, and no
    array; get, set, words: the names of the functions, the last one's for comments."""

    name: str
    bits: int | str
    word: int
    order: str
    straddles: bool
    signed: bool
    by_value: bool
    get: str
    set: str
    words: str

    @property
    def step(self) -> int:
        """How many words on the rest of a field is that straddles."""
        return 1 if self.order == "lsb" else -1

    @property
    def is_whole(self) -> bool:
        """Whether each field is a word."""
        return self.bits == self.word and not self.straddles

    def renamed(self, names: Mapping[str, str]) -> Packing:
        """The same by other names of parameters."""
        return replace(self, bits=names[self.bits]) if isinstance(self.bits, str) else self
