"""What a program's bit tricks do, in one line each, for its comments.

A value is followed as a row of bits, lowest first: each is 0 or 1, a bit of a variable, or unknown.
A trick is what copies bits, or makes unknown ones by carries, and masks them out again, so that the
result is a choice of the variables' bits. A remark is made of what was followed, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..ir.nodes import Node
from ..ir.program import Function

WIDTH = 64
EVERY = {2: "every other", 3: "every third", 4: "every fourth"}

Source = tuple[str, int]  # a variable and which bit of it
Bit = int | Source | None  # None where nothing is known
Word = tuple[Bit, ...]  # of no more than WIDTH bits, zeros above


def remarks(function: Function) -> tuple[dict[str, str], dict[str, str]]:
    """(of statements, of outputs): name -> what the trick from there on does."""
    words: dict[str, Word] = {p.name: _own(p.name, p.lo, p.hi) for p in function.params}
    tricks: dict[str, str] = {}
    chains: dict[str, tuple[str, bool]] = {}  # of what moves bits: where that begins; if by a trick
    users: dict[str, int] = {}
    for node in function.nodes():
        if node.op == "var":
            users[str(node.value)] = users.get(str(node.value), 0) + 1
    before = ""
    for name, node in function.body:
        word, is_trick = _followed(node, words)
        if word is None or None in word:
            words[name] = _own(name, node.lo, node.hi)
            if said := _reduced(node):
                tricks[name] = said
            continue
        words[name] = word
        read = [str(n.value) for n in node.walk() if n.op == "var"]
        start = name
        if before in chains and users[before] == read.count(before):
            start, by_trick = chains[before]
            is_trick |= by_trick
        chains[name] = start, is_trick
        if is_trick and _has_sources(word):
            tricks[start] = _said(word)
        before = name
    results = {}
    for name, node in function.outputs:
        word, is_trick = _followed(node, words)
        if is_trick and word is not None and None not in word and _has_sources(word):
            results[name] = _said(word)
        elif said := _reduced(node):
            results[name] = said
    return tricks, results


def _has_sources(word: Word) -> bool:
    return any(isinstance(bit, tuple) for bit in word)


def _reduced(node: Node) -> str:
    """The digits that a multiplication and one remainder turn round: with m = a*b - 1 and
    x = b*q + r below m, a*x is a*r + q modulo m."""
    for part in node.walk():
        if part.op not in ("mod", "floormod") or part.args[0].op != "mul":
            continue
        factors, modulus = part.args[0].args, part.args[1]
        for a, x in (factors, factors[::-1]):
            if a.op == modulus.op == "const" and x.op == "var" and a.value > 1:
                b, rest = divmod(modulus.value + 1, a.value)
                if not rest and b > 1 and x.lo is not None and x.lo >= 0:
                    if x.hi is not None and x.hi < modulus.value:
                        digits = (
                            f"{a.value} times the remainder of {x.value} by {b}, plus the quotient"
                        )
                        return f"{a.value}*{x.value} modulo {modulus.value} is {digits}."
    return ""


def _own(name: str, lo: int | None, hi: int | None) -> Word:
    if lo is None or lo < 0:
        return (None,) * WIDTH
    return tuple((name, k) for k in range(WIDTH if hi is None else hi.bit_length()))


def _followed(node: Node, words: dict[str, Word]) -> tuple[Word | None, bool]:
    """(the bits; whether some were copied, or unknown, on the way)."""
    known: dict[int, Word] = {}
    tricky = False
    for part in node.walk():
        args = [known[id(a)] for a in part.args]
        word = _word(part, args, words)
        if word is None:
            return None, False
        known[id(part)] = word
        sources = [b for b in word if isinstance(b, tuple)]
        copied = len(sources) > len(set(sources))
        tricky |= part.op != "var" and (copied or None in word) and part is not node
    return known[id(node)], tricky


def _word(node: Node, args: Sequence[Word], words: dict[str, Word]) -> Word | None:
    """None where an operation is not followed."""
    if node.op == "const":
        return _number(node.value) if node.value >= 0 else None
    if node.op == "var":
        return words.get(str(node.value))
    match node.op:
        case "add":
            return _added(*args)
        case "or":
            return _each(args, lambda a, b: a if a == b or b == 0 else b if a == 0 else _one(a, b))
        case "xor":
            return _each(args, lambda a, b: a if b == 0 else b if a == 0 else None)
        case "and":
            return _each(
                args, lambda a, b: 0 if 0 in (a, b) else a if b in (1, a) else b if a == 1 else None
            )
    by = node.args[1].value if len(args) == 2 and node.args[1].op == "const" else None
    if node.op == "mul":
        factor, word = (0, args[1]) if node.args[0].op == "const" else (1, args[0])
        times = node.args[factor].value
        return _times(word, times) if node.args[factor].op == "const" and times >= 0 else None
    if by is None or by < 0:
        return None
    match node.op:
        case "shl":
            return _shifted(args[0], by)
        case "shr":
            return args[0][by:]
        case "div" | "floordiv" if by and by & (by - 1) == 0:
            return args[0][by.bit_length() - 1 :]
        case "mod" | "floormod" if by and by & (by - 1) == 0:
            return args[0][: by.bit_length() - 1]
    return None


def _number(value: int) -> Word:
    return tuple((value >> k) & 1 for k in range(min(value.bit_length(), WIDTH)))


def _one(a: Bit, b: Bit) -> Bit:
    return 1 if 1 in (a, b) else None


def _each(args: Sequence[Word], join) -> Word:
    a, b = args
    length = max(len(a), len(b))
    padded = (w + (0,) * (length - len(w)) for w in (a, b))
    return tuple(join(x, y) for x, y in zip(*padded, strict=True))


def _shifted(word: Word, by: int) -> Word:
    return ((0,) * by + word)[:WIDTH]


def _added(a: Word, b: Word) -> Word:
    """Known up to where a carry hangs on more than one bit: it is `low` where that bit is 0 and `high`
    where it is 1."""
    length = max(len(a), len(b))
    found: list[Bit] = []
    source: Source | None = None
    low = high = 0
    for k in range(min(length + 1, WIDTH)):
        pair = [word[k] if k < len(word) else 0 for word in (a, b)]
        sources = {bit for bit in pair if isinstance(bit, tuple)} | ({source} - {None})
        if None in pair or len(sources) > 1:
            if low or high or 0 not in pair:
                return (*found, *[None] * (min(length + 1, WIDTH) - k))
            found.append(None)
            continue
        source = next(iter(sources), None)
        low, high = low + pair.count(1), high + 2 - pair.count(0)
        found.append(low & 1 if not (low ^ high) & 1 else source if high & 1 else None)
        low, high = low >> 1, high >> 1
        if low == high:
            source = None
    return tuple(found if found and found[-1] != 0 else found[:-1])


def _times(word: Word, factor: int) -> Word:
    total: Word = ()
    for k in range(factor.bit_length()):
        if (factor >> k) & 1:
            total = _added(total, _shifted(word, k))
    return total


# -- saying --------------------------------------------------------------------------------------


def _said(word: Word) -> str:
    """What the bits are."""
    while word and word[-1] == 0:
        word = word[:-1]
    places = [(place, bit) for place, bit in enumerate(word) if isinstance(bit, tuple)]
    names = {bit[0] for _, bit in places}
    plain = all(isinstance(bit, tuple) or bit == 0 for bit in word)
    if plain and len(names) == 1 and len(places) > 1:
        name = places[0][1][0]
        found = _regular([(place, bit[1]) for place, bit in places], name)
        if found:
            return found
    return f"The bits {' '.join(_runs(word))}, highest first."


def _regular(moved: list[tuple[int, int]], name: str) -> str:
    """A bit for every so many places, every so manieth bit, or all of them turned round."""
    (place, bit), (next_place, next_bit) = moved[:2]
    far, step = next_place - place, next_bit - bit
    if any((p, b) != (place + k * far, bit + k * step) for k, (p, b) in enumerate(moved)):
        return ""
    count, from_ = len(moved), f", from place {place}" if place else ""
    first = f", from bit {bit}" if bit else ""
    if step == 1 and far > 1:
        return f"Spreads {count} bits of {name} to {_every(far)} place{first}{from_}."
    if far == 1 and step > 1:
        return f"Gathers {count} bits of {name}, {_every(step)} one{first}{from_}."
    if far == 1 and step == -1:
        return f"Reverses bits {moved[-1][1]} to {bit} of {name}{from_}."
    return ""


def _every(step: int) -> str:
    return EVERY.get(step, f"every {step}th")


def _runs(word: Word) -> Iterator[str]:
    """Bits of one variable in a row as name[high:low]."""
    rows: list[list[Bit]] = []
    for bit in reversed(word):
        last = rows[-1][-1] if rows else None
        below = (last[0], last[1] - 1) if isinstance(last, tuple) else last
        if rows and bit == below:
            rows[-1].append(bit)
        else:
            rows.append([bit])
    for row in rows:
        first, count = row[0], len(row)
        if not isinstance(first, tuple):
            yield " ".join(map(str, row)) if count < 4 else f"{count}x{first}"
        elif count == 1:
            yield f"{first[0]}[{first[1]}]"
        else:
            yield f"{first[0]}[{first[1]}:{first[1] - count + 1}]"
