"""Random layouts, and functions that use them, as cases."""

import random
import re
from math import prod

from .case import Case
from .choose import strategy
from .points import Relations
from .settings import settings

KINDS = ("GroupBy", "TileBy", "TileOrderBy", "ExpandBy")
HUGE = (
    [2**31 - 1], [2**31], [2**16, 2**15], [2**16, 2**16], [46341, 46341], [2**31, 2], [3, 2**30],
    [2**31 - 1, 3], [2**62], [2**31, 2**31], [2**31, 2**31 - 1], [2**21, 2**21, 2**20], [2**63 - 1],
    [2**53 - 1], [2**26, 2**27], [2**32, 2**31], [2**32, 2**32], [641, 6700417], [2**64 - 1],
)  # fmt: skip


# -- sizes ---------------------------------------------------------------------------------------


class Sizes:
    """What one case's sizes multiply out to: a number and some totals over symbols, each with the
    ways to write it as factors; and the relations that those ways rest on."""

    def __init__(self, choose, symbolic, huge=False):
        self.c = c = choose
        self.symbols, self.relations, self.extra = [], [], []
        self.number, self.ways = 1, []
        self.huge = huge
        if huge:
            self.primes = _primes(c.of(HUGE))
            self.number = prod(self.primes)
            return
        if symbolic:
            totals = (("M", "BM", "BS"), ("N", "BN", "BT"), ("K", "BK", "a"))
            for name, tile, part in c.some(totals, 1, c.weighted((3, 1), (2, 2))):
                self.ways.append(self._total(name, tile, part))
            if c.chance(1, 4):
                self.symbols.append("b")
                self.ways.append([("b",)])
        count = c.weighted((3, 0), (2, 1), (1, 2)) if symbolic else c.number(1, 4)
        self.primes = [
            p
            for _ in range(count)
            for p in c.of(([2], [3], [2, 2], [5], [1], [2, 3], [2, 2, 2], [7], [11]))
        ]
        if not symbolic and c.chance(1, 6):
            self.primes = [2] * c.number(3, 9)
        self.number = prod(self.primes)

    def _total(self, name, tile, part):
        c = self.c
        kind = c.weighted((3, "plain"), (5, "tiled"), (3, "number"), (2, "parts"), (1, "quotient"))
        found = []
        if kind == "plain":
            self.symbols.append(name)
            return [(name,)]
        if kind == "number":  # a number over a symbol
            n = c.of((64, 16, 24, 60, 128, 96))
            self.symbols.append(tile)
            found = [
                ((n,), None),
                ((f"{n}//{tile}", tile), f"{n} % {tile} == 0"),
                ((f"{n}//{tile}//2", f"2*{tile}"), f"{n} % (2*{tile}) == 0"),
                ((f"{n}//{tile}//2", 2, tile), f"{n} % (2*{tile}) == 0"),
                ((n // 4, 4), None),
            ]
            found = [found[0], *c.some(found[1:], 1, 3)]
            if c.chance(1, 2):
                self.extra.append(f"{tile} <= {c.of((16, 8, 32))}")
        elif kind == "parts":  # a symbol over a number
            by = c.of((2, 4, 6, 16))
            self.symbols.append(name)
            found = [
                ((name,), None),
                ((f"{name}//{by}", by), f"{name} % {by} == 0"),
                ((f"{name}//{by}", 2, by // 2), f"{name} % {by} == 0"),
            ]
        elif kind == "quotient":
            self.symbols += [name, tile]
            found = [((f"{name}//{tile}",), f"{name} % {tile} == 0")]
        else:
            self.symbols += [name, tile]
            found = [
                ((name,), None),
                ((f"{name}//{tile}", tile), f"{name} % {tile} == 0"),
                ((f"{name}//(2*{tile})", f"2*{tile}"), f"{name} % (2*{tile}) == 0"),
                ((f"{name}//{tile}//2", 2, tile), f"{name} % (2*{tile}) == 0"),
            ]
            found = [*found[:2], *c.some(found[2:], 0, 1)]
            if c.chance(1, 4):
                self.symbols.append(part)
                found.append(
                    ((f"{name}//{tile}", f"{tile}//{part}", part), f"{name} % {tile} == 0")
                )
                self.relations.append(f"{tile} % {part} == 0")
            if c.chance(1, 3):
                k = c.of((2, 1, 3, 4, 128))
                self.extra.append(
                    c.of(
                        (
                            f"{name} <= {k}*{tile}",
                            f"{tile} <= {16 * k}",
                            f"{name} >= {k + 1}*{tile}",
                            f"{name} < 2**20",
                        )
                    )
                )
        self.relations += [r for _, r in found if r]
        if c.chance(1, 4):
            self.extra.append(
                c.of(
                    (
                        f"{found and self.symbols[-1]} <= 4096",
                        f"{self.symbols[-1]} >= 2",
                        f"{self.symbols[-1]} < 64",
                    )
                )
            )
        return [factors for factors, _ in found]

    def factors(self):
        """The whole as factors, written in one way; in the order of the totals."""
        c = self.c
        found = [f for ways in self.ways for f in c.of(ways)]
        primes = [p for p in self.primes if p != 1 or c.chance(1, 2)]
        if self.ways:
            found += primes
        else:
            found = primes
        return found

    def dims(self, least=1, most=5):
        """A list of sizes, as text, whose product is the whole."""
        c = self.c
        factors = self.factors()
        if not c.chance(1, 3):
            factors = c.shuffled(factors)
        rank = c.number(least, max(least, min(most, len(factors) + 1)))
        groups = [[] for _ in range(rank)]
        for k, f in enumerate(factors):
            if rank == len(factors) and not c.chance(1, 4):
                groups[k].append(f)
            else:
                groups[c.number(0, rank - 1)].append(f)
        return [times(c, g) for g in groups]


def times(c, factors):
    """A product as text."""
    factors = list(factors)
    for whole in [f for f in factors if isinstance(f, str) and f.count("//") == 1]:
        size, _, tile = whole.partition("//")
        if tile in factors and whole in factors and c.chance(2, 3):
            factors.remove(whole)
            factors.remove(tile)
            factors.append(int(size) if size.isdigit() else size)
    number = prod(f for f in factors if isinstance(f, int))
    rest = [f for f in factors if not isinstance(f, int)]
    rest = [f"({f})" if "//" in f and (len(rest) > 1 or number != 1) else f for f in rest]
    if number != 1 or not rest:
        rest.insert(c.number(0, len(rest)), str(number))
    return "*".join(rest)


def _primes(sizes):
    found = []
    for n in sizes:
        p = 2
        while n > 1:
            if p > 70000:
                p = n
            while n % p == 0:
                found.append(p)
                n //= p
            p += 1
    while len(found) > 12:  # not all of them one by one
        found = [a * b for a, b in zip(found[::2], found[1::2], strict=False)] + found[
            len(found) & ~1 :
        ]
    return found


# -- blocks --------------------------------------------------------------------------------------


def number(text):
    return int(text) if text.isdigit() else None


def perm(c, tile, calm=False):
    """One RegP, GenP or Lookup over the sizes of a tile."""
    listed = ", ".join(tile)
    values = [number(n) for n in tile]
    kinds = [(3, "RegP"), (2, "Row"), (4, "Col")]
    if not calm:
        kinds.append((1, "Reversal"))
        if None not in values and prod(values) <= 64:
            kinds.append((1, "Lookup"))
        if len(tile) == 1:
            kinds += [(1, "Fold"), (1, "Shift")]
            if values[0] and values[0] % 2 == 0:
                kinds.append((1, "pair"))
        if len(tile) == 2:
            kinds += [(1, "Rotation"), (1, "Snake")]
            if tile[0] == tile[1]:
                kinds.append((2, "Antidiagonal"))
            two = values[1] is not None and values[1] & (values[1] - 1) == 0
            if two:
                kinds.append((2, "Xor"))
            if two and tile[0] == tile[1] and values[1] <= 32:
                kinds.append((2, "Morton"))
            if values[1] == 8:
                kinds.append((2, "swizzle"))
    kind = c.weighted(*kinds)
    if kind == "RegP":
        return f"RegP([{listed}], {c.shuffled(range(len(tile)))})"
    if kind == "Lookup":
        return f"Lookup([{listed}], {c.shuffled(range(prod(values)))})"
    if kind == "Shift":
        return f"Shift({listed}, {c.of((1, 2, 5))})"
    if kind == "pair":
        return f"GenP([{listed}], pair, pair)"
    if kind == "swizzle":
        return f"GenP([{listed}], swizzle, swizzle_inv)"
    return f"{kind}({listed})"


def perms(c, dims, calm=False):
    """The arguments of an OrderBy over the sizes."""
    found = []
    while dims:
        count = c.number(1, len(dims))
        found.append(perm(c, dims[:count], calm))
        dims = dims[count:]
    return ", ".join(found)


def view(c, sizes):
    """(TileBy(..) or GroupBy(..) as text, its kind)."""
    kind = c.weighted((5, "GroupBy"), (4, "TileBy"), (2, "TileOrderBy"))
    tiled = kind != "GroupBy"
    if tiled:
        rank, levels = (
            c.weighted((3, 1), (3, 2), (1, 3)),
            c.weighted((1, 1), (4, 2), (2, 3), (1, 4)),
        )
        if rank * levels > 6:
            levels = 6 // rank
        dims = sizes.dims(rank * levels, rank * levels)
        tiles = [dims[k * rank : (k + 1) * rank] for k in range(levels)]
    else:
        dims = sizes.dims(1, 6)
        tiles = []
        while dims:
            count = len(dims) if not c.chance(1, 3) else c.number(1, len(dims))
            tiles.append(dims[:count])
            dims = dims[count:]
    name = "TileBy" if kind == "TileBy" else "GroupBy"
    return f"{name}({', '.join(f'[{_listed(t)}]' for t in tiles)})", kind


def layout(c, sizes, calm=False, seen=None):
    """A GroupBy or a TileBy with some OrderBys, as text; seen: its view."""
    shown, kind = seen or view(c, sizes)
    tiled = kind != "GroupBy"
    steps = []
    few = (
        ((4, 1), (3, 2), (1, 3), (2, 0)) if sizes.ways else ((3, 1), (3, 2), (2, 3), (2, 0), (1, 4))
    )
    for _ in range(c.weighted(*few)):
        if tiled and c.chance(1, 2):  # tile by tile: one rank for all
            own, count = c.number(1, 3), c.number(1, 3)
            dims = sizes.dims(own * count, own * count)
            parts = [perm(c, dims[k * own : (k + 1) * own], calm) for k in range(count)]
            name = "TileOrderBy" if kind == "TileOrderBy" else "OrderBy"
            steps.append((name, ", ".join(parts)))
        elif tiled:
            steps.append(("OrderBy", perm(c, sizes.dims(1, 4), calm)))
        else:
            steps.append(("OrderBy", perms(c, sizes.dims(1, 5), calm)))
    if steps and all(n == "OrderBy" for n, _ in steps) and c.chance(1, 5):
        inside = ".".join(f"OrderBy({p})" for _, p in reversed(steps))
        return f"{inside}.{shown}"
    return shown + "".join(f".{n}({p})" for n, p in steps)


def together(c, sizes, text):
    """A layout put together with another one of as many indices, or turned round; mostly itself."""
    kind = c.weighted((12, ""), (2, "@"), (1, "inverse"), (1, "in an order"))
    if kind == "@":
        return f"({text}) @ ({layout(c, sizes)})"
    if kind == "inverse":
        return f"({text}).inverse()"
    return f"{view(c, sizes)[0]}.OrderBy({text})" if kind else text


def _listed(tile):
    return ", ".join(tile)


def expanded(c):
    """An ExpandBy or a Padded over numbers, with its layout."""
    if c.chance(1, 4):  # one dimension, so that the padding lies inside the permutation
        padded = [c.number(2, 16)]
    else:
        padded = [c.number(1, 8) for _ in range(c.number(1, 3))]
    least = [c.number(1, p) for p in padded]
    sizes = Sizes(c, False)
    sizes.primes = [f for p in padded for f in (_primes([p]) or [1])]
    sizes.number = prod(padded)
    if c.chance(1, 3):
        return f"Padded({least}, {layout(c, sizes, seen=(f'GroupBy({padded})', 'GroupBy'))})"
    guard = c.of(("", ", guard='logical'"))
    return f"ExpandBy({least}, {padded}, {layout(c, sizes)}{guard})"


def padded(c):
    """An ExpandBy or a Padded over symbols: (text, symbols, relations)."""
    kind = c.number(0, 3)
    guard = c.of(("", ", guard='logical'"))
    if kind == 0:
        inner = c.of(
            (
                "GroupBy([a, b])",
                "TileBy([a], [b])",
                "GroupBy([a, b]).OrderBy(Col(a, b))",
                "GroupBy([a*b]).OrderBy(Col(b, a))",
            )
        )
        return (
            f"ExpandBy([n], [a*b], {inner}{guard})",
            ["n", "a", "b"],
            ["1 <= n <= a*b", "1 <= a", "1 <= b"],
        )
    if kind == 1:
        k = c.of((2, 4, 3))
        inner = f"TileBy([(n + {k - 1})//{k}], [{k}])"
        return f"ExpandBy([n], [(n + {k - 1})//{k}*{k}], {inner}{guard})", ["n"], ["1 <= n"]
    if kind == 3:  # blocks in every dimension, in any order
        k, j = c.of((2, 4, 3, 16)), c.of((1, 2, 8, 5))
        rows, columns = f"(n + {k - 1})//{k}", f"(m + {j - 1})//{j}"
        digits = f"RegP([{rows}, {k}, {columns}, {j}], {c.shuffled(range(4))})"
        memory = f"GroupBy([{rows}*{k}, {columns}*{j}]).OrderBy({digits})"
        return f"Padded([n, m], {memory})", ["n", "m"], ["1 <= n", "1 <= m"]
    inner = "GroupBy([a, b])" + c.of(("", ".OrderBy(Col(a, b))", ".OrderBy(RegP([a, b], [1, 0]))"))
    return (
        f"ExpandBy([n, m], [a, b], {inner}{guard})",
        ["n", "m", "a", "b"],
        ["1 <= n <= a", "1 <= m <= b"],
    )


# -- maps without inverse, and what must be refused ----------------------------------------------


def one_way(c):
    n = c.of(("6", "N", "16"))
    function = c.of(("double", "half", "third", "one_more", "lambda i: 3 - i", "lambda i: i*i"))
    return f"GroupBy([{n}]).OrderBy(GenP([{n}], {function}))", ["N"] if n == "N" else []


def broken(c):
    """A GenP that is no bijection."""
    n = c.of(("N", "2*N", "a*N"))
    functions = c.of(
        ("double, half", "one_more, one_less", "half, double", "third, same", "same, one_more")
    )
    return f"GroupBy([{n}]).OrderBy(GenP([{n}], {functions}))", [s for s in ("N", "a") if s in n]


def strided(c):
    """(a strided layout as text, its symbols)."""
    names = []
    modes, size, running = [], 1, 1
    for _ in range(c.number(1, 3)):
        leaves = []
        for _ in range(c.weighted((3, 1), (2, 2))):
            n = c.of((2, 3, 4, 1, 8, 5))
            size *= n
            kind = c.weighted((4, "compact"), (2, "pitch"), (1, 0), (1, -1), (1, "any"), (1, "S"))
            if kind == "S":
                names.append(f"S{len(names)}")
                leaves.append((n, names[-1]))
                continue
            stride = {
                "compact": running,
                "pitch": running + c.number(0, 5),
                "any": c.number(-9, 20),
            }
            leaves.append((n, stride.get(kind, kind)))
            running = running * n if kind in ("compact", "pitch") else running
        modes.append(leaves)
    if c.chance(1, 3):
        modes = c.shuffled(modes)

    def nested(k):
        parts = [
            f"({', '.join(str(leaf[k]) for leaf in leaves)})"
            if len(leaves) > 1
            else str(leaves[0][k])
            for leaves in modes
        ]
        return f"({', '.join(parts)},)"

    offset = c.weighted((4, ""), (1, ", 7"), (1, ", -5"), (1, ", o"))
    names += ["o"] * (offset == ", o")
    text = f"Strided({nested(0)}, {nested(1)}{offset})"
    if not names and c.chance(1, 4):
        text = f"cute.composition(cute.Swizzle({c.number(0, 2)}, {c.number(0, 2)}, 2), {text})"
    if c.chance(1, 3):
        text = f"GroupBy([{size}]).OrderBy({text})"
    return text, names


def linear(c):
    """A linear or affine map of bits, as text."""
    high = [c.number(1, 5) for _ in range(c.number(1, 2))]
    outs = {f"y{k}": 1 << n for k, n in enumerate(high)}
    bases = {
        f"x{k}": [tuple(c.number(0, m - 1) for m in outs.values()) for _ in range(c.number(0, 4))]
        for k in range(c.number(1, 3))
    }
    offset = {n: c.number(0, m - 1) for n, m in outs.items()} if c.chance(1, 4) else None
    return f"Linear({bases}, {outs}, {offset})"


# -- cases ---------------------------------------------------------------------------------------


def case(c):
    """A case with a layout in it."""
    style = c.weighted(
        (8, "numbers"), (8, "symbols"), (5, "index"), (3, "moved"), (5, "expanded"), (1, "padded"),
        (2, "huge"), (1, "one way"), (1, "broken"), (2, "around"), (3, "strided"), (2, "linear"),
    )  # fmt: skip
    if style in ("numbers", "huge", "expanded"):
        if style == "expanded":
            text = expanded(c)
        else:
            sizes = Sizes(c, False, style == "huge")
            text = layout(c, sizes, calm=style == "huge" and c.chance(1, 2))
            text = text if style == "huge" else together(c, sizes, text)
        return Case(f"layout = {text}\n", refused="" if style != "huge" else "?", **settings(c))
    if style == "linear":
        return Case(f"layout = {linear(c)}\n", refused="?", **settings(c))
    if style == "strided":
        text, names = strided(c)
        given = settings(c)
        if names and c.chance(1, 2):
            text = f"{', '.join(names)} = symbols('{' '.join(names)}')\nlayout = {text}\n"
        elif names:
            text = f"def f({', '.join(names)}):\n    return {text}\n"
        else:
            text = f"layout = {text}\n"
        domain = tuple(f"{n} >= 1" for n in names if n != "o")
        return Case(text, domain=domain, refused="?", **given)
    if style in ("one way", "broken", "padded"):
        more = []
        if style == "padded":
            text, names, more = padded(c)
        else:
            text, names = (one_way if style == "one way" else broken)(c)
        given = settings(c)
        if not names:
            return Case(f"layout = {text}\n", **given)
        return Case(f"def f({', '.join(names)}):\n    return {text}\n", domain=tuple(more), **given)
    symbolic = style == "symbols" or c.chance(2, 3)
    sizes = Sizes(c, symbolic)
    seen = view(c, sizes)
    text = layout(c, sizes, seen=seen)
    if style == "index" and not symbolic and c.chance(1, 4):
        text = expanded(c)
    names = list(dict.fromkeys(sizes.symbols))
    given = settings(c)
    given["sizes"], assume = _facts(c, sizes, names)
    if style == "symbols":
        text = together(c, sizes, text)
        if c.chance(1, 5) and not given["sizes"]:
            own = [n for n in names if re.search(rf"\b{n}\b", text)]
            if own:
                word = c.weighted((4, "symbols"), (1, "sympy_symbols"))
                text = f"{', '.join(own)} = {word}('{' '.join(own)}')\nlayout = {text}\n"
            else:
                text = f"layout = {text}\n"
        else:
            text = f"def f({', '.join(names)}):\n    return {text}\n"
        return Case(text, assume=assume, domain=_domain(sizes, names), **given)
    if style == "moved":
        other = layout(c, sizes, seen=seen)
        body = f"    one = {text}\n    other = {other}\n    return other.apply(*one.inv(p))\n"
        domain = (*_domain(sizes, names), f"0 <= p < {times(c, sizes.factors())}")
        signature = ", ".join([*names, "p"] if not c.chance(1, 3) else names)
        return Case(
            f"def f({signature}):\n{body}", assume=assume, domain=domain, indices=("p",), **given
        )
    return _index(c, style, text, sizes, names, assume, given)


def _index(c, style, text, sizes, names, assume, given):
    """A function that asks a layout for positions."""
    dims = _view_dims(text)
    indices = [f"x{k}" for k in range(len(dims))]
    slices = {k for k in range(len(dims)) if style == "index" and c.chance(1, 4)}
    if len(slices) > 3:
        slices = set(sorted(slices)[:3])
    shown = [":" if k in slices else n for k, n in enumerate(indices)]
    plain = [n for k, n in enumerate(indices) if k not in slices]
    domain = [
        *_domain(sizes, names),
        *(f"0 <= {n} < {d}" for n, d in zip(indices, dims, strict=True) if n in plain),
    ]
    axes = [dims[k] for k in sorted(slices)]
    domain += [f"0 <= axis{k} < {d}" for k, d in enumerate(axes)]
    signature = [*names, *plain] if not c.chance(1, 3) else names
    body = f"    L = {text}\n"
    call = f"L[{', '.join(shown)}]"
    if not slices and c.chance(1, 3):
        call = f"L.apply({', '.join(shown)})"
    if style == "index":
        how = c.weighted((6, "index"), (1, "inverse"), (1, "two"), (1, "dict"))
        if how == "inverse" and not slices:
            body += f"    return L.inv({call})\n"
        elif how == "two":
            body += f"    n = {call}\n    return n, n // 2\n"
        elif how == "dict":
            body += f"    n = {call}\n    return {{'at': n, 'far': n + 1}}\n"
        else:
            body += f"    return {call}\n"
        indexed = tuple(plain)
    else:
        given["base"] = 0
        indexed = ()
        d = c.of(("2", "3", "4", dims[-1], "6", dims[0]))
        k = c.number(1, 5)
        moved = list(shown)
        axis = c.number(0, len(dims) - 1)
        moved[axis] = c.of(
            (
                f"({shown[axis]} + {k}) % ({dims[axis]})",
                f"{dims[axis]} - 1 - {shown[axis]}",
                f"{shown[axis]} // {k}",
                f"max({shown[axis]} - {k}, 0)",
                f"min({shown[axis]} + {k}, {dims[axis]} - 1)",
            )
        )
        other = f"L[{', '.join(moved)}]"
        body += c.of(
            (
                f"    n = {call}\n    return n // ({d}) * {k} + n % ({d})\n",
                f"    return {other}\n",
                f"    return {other} - {call}\n",
                f"    n = {call}\n    return n if n % {k + 1} == 0 else {other}\n",
                f"    n = {call}\n    return n // ({d}) - {other} // ({d})\n",
                f"    return max({call}, {other})\n",
            )
        )
    return Case(
        f"def f({', '.join(signature)}):\n{body}",
        assume=assume, domain=tuple(domain), indices=indexed, **given,
    )  # fmt: skip


def _view_dims(text):
    """The sizes of a layout's view, from its text."""
    start = max(text.find("GroupBy("), text.find("TileBy("))
    start = text.index("(", start)
    depth, end = 0, start
    for end in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if not depth:
            break
    inside = text[start + 1 : end].replace("[", "").replace("]", "")
    return [d.strip() for d in inside.split(",")]


def _domain(sizes, names):
    return tuple(dict.fromkeys([*(f"{n} >= 1" for n in names), *sizes.relations, *sizes.extra]))


def _facts(c, sizes, names):
    """(numbers for some sizes, what is assumed)."""
    assume = [e for e in dict.fromkeys(sizes.extra)]
    assume += [r for r in dict.fromkeys(sizes.relations) if c.chance(1, 3)]
    fixed = {}
    if names and c.chance(1, 4):
        relations = Relations([*_domain(sizes, names)], names, 1, 2**20)
        found = relations.draw(random.Random(c.number(0, 99)))
        if found is not None:
            fixed = {n: found[n] for n in c.some(names, 1, 2)}
    for name in names:
        if name not in fixed and c.chance(1, 10):
            most = ("4096", "64", "2**15", "2**31 - 1", "2**30", "2**40", "2**62")
            assume.append(f"{name} <= {c.of(most)}")
            sizes.extra.append(assume[-1])
    return fixed, tuple(dict.fromkeys(assume))


def texts(symbolic, calm=False):
    """A strategy of (text of a layout, its symbols, the relations between them); calm: without
    GenP."""

    def make(c):
        sizes = Sizes(c, symbolic)
        text = layout(c, sizes, calm)
        names = [n for n in dict.fromkeys(sizes.symbols) if re.search(rf"\b{n}\b", text)]
        return text, names, [*(f"{n} >= 1" for n in names), *sizes.relations, *sizes.extra]

    return strategy(make)
