"""Random integer functions, as cases: every operation, branches, loops, sums of quotients."""

from .case import Case
from .choose import strategy
from .operations import RANGES
from .settings import settings

NUMBERS = (2, 3, 4, 5, 6, 8, 12, 16, 24, 7)
SIGNED = (*NUMBERS, -1, -2, -3, -4, 1)


def text(n):
    return str(n) if n >= 0 else f"({n})"


class Names:
    """The parameters of a function: what is assumed of each, and which can divide."""

    def __init__(self, c):
        self.c = c
        self.names, self.assume, self.divisors, self.bounded = [], [], [], []

    def value(self):
        """A parameter of any kind."""
        c = self.c
        name = f"x{len(self.names)}" if len(self.names) > 3 else "xyzw"[len(self.names)]
        kind = c.weighted((5, "span"), (4, "natural"), (2, "any"), (1, "top"), (2, "index"))
        if kind == "span":
            low = c.of((0, 1, -20, -9, -1, -3))
            high = max(low, c.of((30, 7, 1, 3, 20, 100, 0, -1, 255)))
            self.assume.append(f"{low} <= {name} <= {high}")
            self.bounded.append((name, low, high))
        elif kind == "natural":
            self.assume.append(
                c.of((f"{name} >= 0", f"0 <= {name}", f"{name} >= 1", f"{name} > -6"))
            )
        elif kind == "top":
            self.assume.append(f"{name} <= {c.of((7, 0, -1, 30))}")
        elif kind == "index":
            size = self.size()
            self.assume.append(f"0 <= {name} < {size}")
        if c.chance(1, 40):
            self.assume.append(f"{name} % {c.of((4, 2, 6))} == 0")
        self.names.append(name)
        return name

    def size(self):
        """A parameter that is positive."""
        c = self.c
        for n in "NMKB":
            if n not in self.names:
                self.names.append(n)
                self.assume.append(f"{n} >= 1")
                if c.chance(1, 4):
                    self.assume.append(f"{n} <= {c.of((4096, 16, 2**20))}")
                return n
        return c.of("NMKB")

    def difference(self):
        """Two parameters, the first less than the second: (smaller, larger)."""
        for a, b in (("N", "M"), ("K", "B"), ("P", "Q")):
            if a not in self.names and b not in self.names:
                self.names += [a, b]
                self.assume += [f"{a} < {b}"]
                if self.c.chance(1, 2):
                    self.assume += [f"{a} >= 1"]
                return a, b
        return "N", "M"


class Bounded(Names):
    """The parameters of operations.RANGES, no others."""

    def __init__(self, c):
        super().__init__(c)
        self.names = [*RANGES]
        self.bounded = [(n, lo, hi) for n, (lo, hi) in RANGES.items()]

    def size(self):
        return "u"

    def difference(self):
        return "z", "u"


class Expressions:
    """Integer expressions over some names."""

    def __init__(self, c, names):
        self.c, self.names = c, names

    def leaf(self):
        c = self.c
        known = [n for n in self.names.names]
        if c.chance(1, 4):
            return text(c.of((1, 0, 2, 3, -1, 5, -4, 9, -9)))
        return c.of(known)

    def divisor(self):
        """What divides: a number most often, or something whose sign is known, or is not."""
        c, names = self.c, self.names
        kind = c.weighted(
            (8, "number"), (2, "negative"), (3, "size"), (2, "difference"), (1, "name"), (1, "product"),
            (1, "quotient"),
        )  # fmt: skip
        if kind == "number":
            return str(c.of(NUMBERS))
        if kind == "negative":
            return text(-c.of(NUMBERS))
        if kind == "size":
            return names.size()
        if kind == "difference":
            a, b = names.difference()
            return c.of((f"({b} - {a})", f"({a} - {b})"))
        if kind == "product":
            return f"({c.of((2, 3, 4))}*{names.size()})"
        if kind == "quotient":
            a, b = names.size(), names.size()
            if a != b and f"{a} % {b} == 0" not in names.assume:
                names.assume += [f"{b} >= 1", f"{a} % {b} == 0"]
            return f"({a}//{b})"
        return c.of(names.names)

    def whole(self, depth):
        """An expression."""
        c = self.c
        if depth <= 0:
            return self.leaf()
        a = self.whole(depth - 1)
        kind = c.weighted(
            (5, "divide"), (3, "add"), (3, "infix"), (2, "guarded"), (1, "shift"), (2, "extreme"),
            (1, "unary"), (2, "choice"), (1, "flag"), (1, "root"), (2, "bits"), (2, "quotients"),
        )  # fmt: skip
        if kind == "divide":
            return f"({a} {c.of(('//', '%'))} {self.divisor()})"
        if kind == "quotients":
            return quotients(c, self.names, self.leaf())
        if kind == "guarded":
            d = c.of([*self.names.names, f"({self.whole(depth - 2)})"])
            test = c.of((f"{d} > 0", f"{d} != 0", d, f"{d} < 0", f"{d} >= 1"))
            return f"({a} {c.of(('//', '%'))} {d} if {test} else {self.leaf()})"
        if kind == "shift":
            by = c.of((*map(str, range(6)), "y"))
            if by == "y":
                small = [n for n, lo, hi in self.names.bounded if 0 <= lo and hi <= 31]
                by = c.of(small) if small else "1"
            return f"({a} {c.of(('<<', '>>'))} {by})"
        if kind == "unary":
            return c.of((f"(-{a})", f"(~{a})", f"abs({a})", f"({a})**2"))
        if kind == "root":
            return c.of((f"isqrt(abs({a}))", f"isqrt({a} & 63)", f"isqrt(max({a}, 0))"))
        b = self.whole(depth - 1)
        if kind == "add":
            return f"({a} {c.of('+-')} {b})"
        if kind == "infix":
            return f"({a} {c.of('*+-')} {b})"
        if kind == "bits":
            if c.chance(1, 2):
                b = str(c.of((1, 3, 7, 8, 6, 0)))
            return f"({a} {c.of('&|^')} {b})"
        if kind == "extreme":
            return f"{c.of(('min', 'max'))}({a}, {b})"
        if kind == "flag":
            return c.of(
                (
                    f"(({self.condition(a)}) * {text(c.of((1, 3, -2)))} + {b})",
                    f"({b} + ({self.condition(a)}))",
                )
            )
        return f"({a} if {self.condition(b)} else {self.whole(depth - 2)})"

    def condition(self, a):
        c = self.c
        b = self.leaf()
        one = f"{a} {c.of(('<', '<=', '>', '>=', '==', '!='))} {b}"
        kind = c.weighted((6, "one"), (1, "and"), (1, "or"), (1, "not"), (1, "chain"), (1, "true"))
        if kind in ("and", "or"):
            return f"{one} {kind} {self.leaf()} {c.of(('<', '>=', '!='))} {self.leaf()}"
        if kind == "not":
            return f"not {one}" if c.chance(1, 2) else f"not ({one})"
        if kind == "chain":
            return f"{self.leaf()} <= {a} < {b}"
        if kind == "true":
            return f"{a} % {c.of((2, 3))} != 0"
        return one


def quotients(c, names, x):
    """A sum of quotients and remainders of one value, with divisors that have much in common and
    coefficients that nearly, or really, cancel; in any order."""
    sizes = [""]
    if not isinstance(names, Bounded):
        sizes = c.weighted((4, [""]), (2, ["", "*N"]), (1, ["*N"]), (1, ["*N", "*N*K"]))
    for s in sizes:
        for n in "NK":
            if n in s and n not in names.names:
                names.names.append(n)
                names.assume.append(f"{n} >= 1")
    pool = c.of(
        (
            (2, 24),
            (2, 4, 8),
            (2, 6, 24),
            (3, 6, 12),
            (4, 6),
            (2, 3),
            (1, 4),
            (2, 12, 24, 48),
            (5, 7, 35),
        )
    )
    if c.chance(1, 4):
        x = f"({x} {c.of('+-')} {c.number(1, 7)})"
    signs = (1, -1) if c.chance(1, 5) else (1,)
    parts = []  # (coefficient, divisor, its symbols)
    for _ in range(c.number(0, 2)):  # what is, or nearly is, one digit of x
        low, high, by, size = c.of(pool), c.of(pool), c.of((1, -1, 2, 3)), c.of(sizes)
        low, high = min(low, high), max(low, high)
        parts.append((by, low, size))
        parts.append((-by * (high // low + c.weighted((5, 0), (1, 1))), high, size))
    for _ in range(c.number(0 if parts else 2, 2)):
        d, other = c.of(pool), c.of(pool)
        factor = c.of((1, -1)) * c.of((1, max(1, d // other), d, other, 2, 3))
        parts.append((factor, d, c.of(sizes)))
    terms = []
    for factor, d, size in parts:
        divisor = (
            f"({d}{size})"
            if size and d != 1
            else f"({size[1:]})"
            if size
            else text(d * c.of(signs))
        )
        kind = c.weighted((5, "//"), (1, "%"), (1, "digit"))
        if kind == "digit":
            made = f"({x} // {divisor} % {text(c.of((2, 3, 4, 12)) * c.of(signs))})"
        else:
            made = f"({x} {kind} {divisor})"
        terms.append(f"{text(factor)}*{made}" if factor != 1 else made)
    if c.chance(1, 3):
        terms.append(x)
    terms = c.shuffled(terms)
    total = " + ".join(terms)
    if c.chance(1, 4):
        return f"(({total}) {c.of(('//', '%'))} {c.of(NUMBERS)})"
    return f"({total})"


def shifted(c, x):
    """A sum of two to four quotients and digits of one value with a constant before or behind it, of
    which several may become one term."""
    k = c.number(1, 24)
    v = c.of((f"({x} + {k})", f"({k} - {x})", f"({x} - {k})"))
    pool = c.of(((2, 12), (2, 4, 8, 16), (3, 6, 12), (2, 3, 6), (8, 16), (4, 6, 24), (5, 10, 7)))
    first, terms = c.of(pool), []
    for _ in range(c.number(2, 4)):
        low = first if c.chance(2, 3) else c.of(pool)
        high = low * c.of((2, 3, 6)) if c.chance(1, 2) else c.of(pool)
        kind = c.weighted((4, "//"), (3, "digit"), (1, "%"))
        made = {"//": f"{v} // {low}", "digit": f"{v} % {high} // {low}", "%": f"{v} % {low}"}[kind]
        factor = c.weighted((8, 1), (1, -1), (1, 2), (1, low))
        terms.append(made if factor == 1 else f"{text(factor)}*({made})")
    return " + ".join(terms)


expressions = strategy(lambda c: Expressions(c, Bounded(c)).whole(c.number(1, 3)))


# -- whole functions -----------------------------------------------------------------------------


def case(c):
    names = Names(c)
    for _ in range(c.number(1, 3)):
        names.value()
    e = Expressions(c, names)
    style = c.weighted(
        (5, "expression"), (6, "quotients"), (3, "statements"), (2, "several"), (2, "branches"), (2, "decided"),
        (1, "loop"), (1, "layout"), (2, "parted"), (4, "shifted"), (1, "products"), (3, "flags"),
    )  # fmt: skip
    if style == "expression":
        body = f"    return {e.whole(c.number(1, 4))}\n"
    elif style == "quotients":
        x = c.of(names.names)
        sums = [quotients(c, names, x) for _ in range(c.weighted((3, 1), (1, 2)))]
        body = f"    return {', '.join(sums)}\n"
    elif style == "shifted":
        body = f"    return {shifted(c, c.of(names.names))}\n"
    elif style == "decided":  # a comparison that may be wrongly taken for decided
        a = f"({e.leaf()} - {c.of((0, 1, 5, 50))}) {c.of(('//', '%'))} {e.divisor()}"
        test = f"{a} {c.of(('>=', '<', '<=', '>', '=='))} {c.of((0, 1, -1, 2))}"
        body = c.of(
            (
                f"    return 5 if {test} else 6\n",
                f"    return max({a}, {c.of((0, 1, -1))})\n",
                f"    return min({a}, {c.of((0, 100, -1))})\n",
            )
        )
    elif style == "statements":
        body = f"    q = {e.whole(c.number(1, 3))}\n"
        names.names.append("q")
        body += f"    n = {e.whole(c.number(1, 2))}\n"
        names.names.append("n")
        body += f"    return {e.whole(c.number(1, 3))}\n"
    elif style == "several":
        one, other = e.whole(c.number(1, 3)), e.whole(c.number(1, 3))
        body = c.of((f"    return {one}, {other}\n", f"    return {{'a': {one}, 'b': {other}}}\n"))
    elif style == "branches":
        body = f"    if {e.condition(e.leaf())}:\n        q = {e.whole(c.number(1, 2))}\n"
        if c.chance(1, 2):
            body += f"    elif {e.condition(e.leaf())}:\n        q = {e.whole(1)}\n"
        body += f"    else:\n        q = {e.whole(c.number(1, 2))}\n"
        names.names.append("q")
        body += f"    return {e.whole(c.number(0, 2))}\n"
    elif style == "loop":
        body = loop(c, names, e)
    elif style == "parted":
        body = parted(c, names, e)
    elif style == "products":
        body = products(c, names)
    elif style == "flags":
        body = flags(c, names, e)
    else:
        body = beside_layout(c, names, e)
    parameters = [n for n in dict.fromkeys(names.names) if n not in ("q", "n", "r")]
    given = settings(c)
    if style in ("layout", "parted"):
        given["base"] = 0
    return Case(
        f"def f({', '.join(parameters)}):\n{body}",
        assume=tuple(dict.fromkeys(names.assume)),
        **given,
    )


def parted(c, names, e):
    """One value in two branches, in one of which more is known of it; and what is shared there."""
    kind = c.weighted((2, "block"), (3, "guard"), (2, "difference"), (1, "guards"), (2, "arms"))
    op, by = c.of(("//", "%", "^", "*", "-")), c.of(("//", "%"))
    if kind == "block":
        n = c.of((2, 4, 6))
        block = f"GroupBy([{n}]).OrderBy(Reversal({n}))"
        d, value = e.divisor() if op in "//%" else e.leaf(), e.whole(c.number(1, 2))
        other = f"        q = v {op} {d}\n" if c.chance(2, 3) else f"        q = {e.whole(1)}\n"
        body = f"    v = {value}\n    if 0 <= v < {n}:\n        q = {block}.apply(v) {op} {d}\n"
        return f"{body}    else:\n{other}    return q\n"
    if kind == "difference":
        a, b = "P", "Q"
        names.names += [n for n in (a, b) if n not in names.names]
        names.assume += [f"1 <= {n} <= 9" for n in (a, b)]
        x, y, n = e.leaf(), e.leaf(), c.of((2, 4))
        square = c.of(("r*r + s*s", f"s * {y}", "r", "r - s"))
        return (
            f"    q = 0\n    if {a} > {b}:\n        if 0 <= {x} < {n}*({a} - {b}):\n"
            f"            r, s = GroupBy([{n}, {a} - {b}]).inv({x})\n            q = {square}\n"
            f"    elif {a} < {b}:\n        q = {y} {by} ({a} - {b})\n    return q\n"
        )
    if kind == "arms":  # one node, of which the condition says something, in both arms
        x, n = e.leaf(), c.of(NUMBERS)
        test = f"{x} {c.of(('<', '>=', '<=', '=='))} {c.of((n, 2 * n, 0, n - 1))}"
        node = c.of((f"{x} {by} {n}", f"min({x}, {n})", f"({x} {by} {n}) * 2 + {x}"))
        return (
            f"    if {test}:\n        return {node}\n"
            f"    return {node} + {c.of((1, 0, -1))} + {x} {c.of(('//', '%'))} {n}\n"
        )
    d, x = e.leaf(), e.whole(1)
    test = c.of((f"{d} > 0", f"{d} != 0", f"{d} < 0", f"{d} >= 2"))
    if kind == "guards":
        others = [e.condition(e.leaf()) for _ in range(c.number(2, 5))]
        test = " and ".join(f"({t})" for t in c.shuffled([*others, test]))
    shared = c.of(("r*r", "r + 1", f"{d} - 1 - r", f"r {by} 3", f"r if r > 2 else r {by} {d}"))
    result = c.of(("s // 7 + s", "s * s", "s % 5 + r", f"s {op} {c.of(NUMBERS)} - s"))
    return (
        f"    if {test}:\n        r = {x} {by} {d}\n        s = {shared}\n"
        f"        return {result}\n    return {e.leaf()}\n"
    )


def products(c, names):
    """Products of sizes; one fits in its branch where another one does, and a part of it is computed
    outside of it, too."""
    for n in "NMK":
        names.names += [i for i in (n, n.lower()) if i not in names.names]
        names.assume.append(f"0 <= {n.lower()} < {n}")
    a, b, k = c.shuffled("NMK")
    more = c.of("NMK")
    relation = c.of(("<=", "<", "=="))
    kept = c.of((f"{a}*{k} % 7", f"{a}*{k} // {more}", f"{a}*{k} + {a.lower()}", a))
    return f"    return {kept}, {a}*{k}*{more} if {a} {relation} {b} else {a.lower()}, {b}*{k}*{more}\n"


def flags(c, names, e):
    """`if`s one after the other that assign variables, by flags and by other conditions."""
    for k in range(c.number(1, 4)):
        names.names.append(f"f{k}")
        names.assume.append(f"0 <= f{k} <= {c.of((1, 1, 1, 3))}")
    own = ["q", "n"]
    body = f"    q, n = {e.leaf()}, {e.leaf()}\n"
    names.names += own
    several = c.of(("", ", n"))

    def test():
        flag = c.of([n for n in names.names if n[0] == "f"])
        kind = c.weighted(
            (6, "flag"), (3, "other"), (1, "and"), (1, "or"), (1, "not"), (1, "chain")
        )
        if kind == "flag":
            return flag
        if kind == "not":
            return f"not {flag}"
        if kind == "chain":
            return f"0 <= {c.of(own)} < {c.of((3, 8))}"
        other = e.condition(c.of(own))
        return other if kind == "other" else f"{flag} {kind} {other}"

    def value(v):
        return c.weighted(
            (2, f"{c.of((7, 3, 0))} - {v}"), (2, f"{v} {c.of('+-^')} {e.leaf()}"), (1, e.whole(1)),
            (1, f"{v} {c.of(('//', '%'))} {c.of(NUMBERS)}"), (1, f"{v}*{c.of((2, 3))} + {c.of(own)}"),
        )  # fmt: skip

    def statement(depth, pad):
        v, w = c.shuffled(own)
        kind = c.weighted(
            (4, "if"), (2, "swap"), (2, "else"), (2, "elif"), (2, "nested"), (2, "choice"), (2, "own"),
            (3, "guard"), (1, "loop"), (1, "return"), (1, "later"), (1, "in place"), (1, "flag"),
        )  # fmt: skip
        if kind == "choice":
            return f"{pad}{v} = {value(v)} if {test()} else {c.of((v, w, value(w)))}\n"
        if kind == "flag":
            return f"{pad}{v} = {w} + 3*({test()})\n{pad}{w} = {test()} or {value(w)}\n"
        if kind == "loop":
            inner = f"{pad}    if f0 >> k & 1:\n{pad}        {v} = {value(v)} + k\n"
            return f"{pad}for k in range({c.number(1, 3)}):\n{inner}"
        head, more = f"{pad}if {test()}:\n", f"{pad}    "
        if kind == "swap":
            return f"{head}{more}{v}, {w} = {w}, {c.of((v, value(v)))}\n"
        if kind == "own":  # a name that nothing else has, or that the next such `if` has, too
            r = f"{more}r = {value(v)}\n{more}{v} = r {c.of('+-*')} {c.of((w, 'r'))}\n"
            return head + r
        if kind == "guard":
            d = c.of([*names.names])
            guard = c.of((f"{d} > 0", f"{d} != 0", d, f"{d} < 0"))
            made = f"{pad}if {guard}:\n{more}{v} = {value(v)} {c.of(('//', '%'))} {d}\n"
            return made + (f"{pad}else:\n{more}{w} = {value(w)}\n" if c.chance(1, 2) else "")
        if kind == "return" and depth == 2:
            return f"{head}{more}return {value(v)}{several}\n"
        if kind == "later":  # a name that has a value where it is read
            known = c.of([n for n in names.names if n[0] == "f"])
            first = f"{pad}if {known}:\n{more}r = {value(v)}\n"
            return f"{first}{pad}{w} = {value(w)}\n{pad}if {known}:\n{more}{v} = r + {w}\n"
        if kind == "in place":
            return f"{head}{more}{v} {c.of(('+=', '-=', '*=', '//='))} {c.of((2, 3, 5))}\n"
        if kind == "nested" and depth:
            return head + statement(depth - 1, more) + statement(depth - 1, more)
        made = f"{head}{more}{v} = {value(v)}\n"
        if kind == "elif":
            made += f"{pad}elif {test()}:\n{more}{c.of((v, w))} = {value(v)}\n"
        if kind in ("else", "elif"):
            made += f"{pad}else:\n{more}{c.of((v, w))} = {value(w)}\n"
        return made

    for _ in range(c.number(1, 5)):
        body += statement(2, "    ")
    return f"{body}    return {c.of(('q + 100*n', 'q', e.whole(1)))}{several}\n"


def loop(c, names, e):
    x = c.of(names.names)
    kind = c.weighted((4, "xor"), (3, "sum"), (3, "digits"), (1, "while"), (1, "bits"))
    if kind == "xor":
        return f"    n = {x}\n    for k in range({c.number(1, 5)}):\n        n ^= n >> {c.of(('1', '(k + 1)', '2'))}\n    return n\n"
    if kind == "sum":
        return f"    n = 0\n    for k in range({c.number(1, 5)}):\n        n += {x} // (k + 1) * {c.of(('1', 'k', '(-1)**k'))}\n    return n\n"
    if kind == "digits":
        d = c.of(NUMBERS)
        return f"    q, n = {x}, 0\n    for k in range({c.number(1, 4)}):\n        n = n * {d} + q % {d}\n        q = q // {d}\n    return n\n"
    high = c.number(1, 6)
    names.names.append("t")
    names.assume.append(f"0 <= t <= {high}")
    if kind == "while":
        return "    n = 0\n    while t:\n        t = t - 1\n        n += 2\n    return n\n"
    return "    n = 0\n    while t:\n        t = t & (t - 1)\n        n += 1\n    return n\n"


def beside_layout(c, names, e):
    """A layout's index in the midst of arithmetic, as in h(d) = L[x] // d if d > 0 else 0."""
    n = c.of((11, 4, 7, 24))
    names.names.append("p")
    # p's range is what the layout says
    body = f"    L = GroupBy([{n}])\n    n = L[p]\n"
    names.names.append("n")
    d = c.of(names.names[:-1])
    body += c.of(
        (
            f"    q = n // {d} if {d} > 0 else 0\n",
            f"    q = n // {e.divisor()}\n",
            f"    q = n % {d} if {d} != 0 else n\n",
            f"    q = {quotients(c, names, 'n')}\n",
        )
    )
    names.assume.append(f"0 <= p < {n}")
    names.names.append("q")
    return body + c.of(
        (
            f"    return q if q >= {c.of((1, 0, 2))} else 100\n",
            f"    return {e.whole(c.number(0, 2))}\n",
        )
    )
