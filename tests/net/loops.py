"""Random functions with loops of a run-time number of rounds (fori_loop), as cases."""

from .case import Case
from .settings import settings

NUMBERS = (2, 3, 4, 7, 5, 16)
# The last of a parameter's values; None where only its first is known.
SPANS = ((0, 6), (0, 9), (1, 9), (-4, 5), (0, 100), (-40, 5), (0, 65536), (0, None))
NATURAL = tuple(span for span in SPANS if span[0] >= 0)
PLAIN = ("x", "y", "z", "a", "b", "d", "s", "t", "acc")
OWN = (
    "end",
    "result",
    "do",
    "let",
    "x_2",
    "next_x",
)  # words of languages, and names that are emitted
TABLE = "T = Lookup([8], [3, 1, 4, 0, 5, 7, 2, 6])\n"


def case(c):
    """A function of three parameters with one loop or several."""
    given = settings(c)
    given["base"] = 0  # no layout counts
    unsigned = given["index_type"].startswith("uint")
    assume = []
    for name in Loops.PARAMETERS:
        low, high = c.of(NATURAL if unsigned else SPANS)
        assume.append(f"{low} <= {name}" + (f" <= {high}" if high is not None else ""))
    loops = Loops(c)
    body = loops.function()
    table = TABLE if "T[" in body else ""
    return Case(
        f"{table}def f({', '.join(loops.PARAMETERS)}):\n{body}", assume=tuple(assume), **given
    )


class Loops:
    """The text of functions. names: what can be read at a place."""

    PARAMETERS = ("n", "m", "p")

    def __init__(self, c):
        self.c, self.lines, self.count, self.left = c, [], 0, 3

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def line(self, depth, text):
        self.lines.append(f"{'    ' * depth}{text}\n")

    def function(self):
        """The lines of a body."""
        c, names = self.c, [*self.PARAMETERS]
        if c.chance(1, 3):
            self.line(1, f"{(own := self.fresh('q'))} = {self.expression(names, 2)}")
            names.append(own)
        if c.chance(1, 4):  # a loop in a branch
            self.line(1, f"if {self.condition(names, 1)}:")
            found = self.loop(names, 2, 1)
            self.line(2, f"return {self.expression([*names, *found], 1)} + {found[0]}")
        found = self.loop(names, 1, 1)
        if c.chance(2, 5) and self.left > 0:
            found += self.loop([*names, *found], 1, 1)
        rest = self.expression([*names, *found], 1)
        last = c.of((f"{found[0]} + {found[-1]}", found[-1], f"{rest} + {found[0]}"))
        self.line(1, f"return {last}")
        return "".join(self.lines)

    # -- loops -------------------------------------------------------------------------------------

    def loop(self, names, depth, inner):
        """Write a loop, with so many levels of others in it; the names of what it leaves."""
        c = self.c
        self.left -= 1
        shape = c.weighted((4, "one"), (5, "tuple"), (1, "named"))
        states = [self.state() for _ in range(c.weighted((4, 2), (2, 3), (1, 1)))]
        states = [*dict.fromkeys(states)]
        body, k, whole = self.fresh("step"), c.of(("k", "j", "i", "p")), self.fresh("s")
        if shape == "one":
            states = states[:1]
            whole = states[0]
        elif shape == "named":
            states = [f"{whole}.x", f"{whole}.y"]
        if k in states:
            k = "k"
        around = self.without(names, [k, whole, *states])
        self.line(depth, f"def {body}({k}, {whole}):")
        if shape == "tuple":
            self.line(depth + 1, f"{', '.join(states)}{',' * (len(states) == 1)} = {whole}")
        own = [*around, k, *states]
        own += self.before(own, states, shape, depth + 1)
        if inner and self.left > 0 and c.chance(2, 5):
            own += self.loop(own, depth + 1, inner - 1)
        if c.chance(1, 3):
            self.line(depth + 1, f"if {self.condition(own, 2)}:")
            self.line(depth + 2, f"return {self.made(own, states, shape)}")
        self.line(depth + 1, f"return {self.made(own, states, shape)}")
        first = self.tuple([self.expression(names, 1) for _ in states], shape)
        more = self.most()
        if c.chance(1, 4):
            parts = states if shape != "tuple" else [f"{whole}[{i}]" for i in range(len(states))]
            test = self.condition([*around, k, *parts], 1)
            more += f", while_=lambda {k}, {whole}: {test}"
        lower, upper = self.bound(names, ("0", "0", "1", "2", "-2")), self.bound(names, ("5", "3"))
        found = [self.fresh("r") for _ in states]
        if c.chance(1, 4) and depth == 1 and len(found) == 1 and shape == "one":
            found = [
                c.of(self.PARAMETERS)
            ]  # as in n = fori_loop(0, n, ..), which its body reads, too
        left = ", ".join(found) + "," * (shape != "one" and len(found) == 1)
        self.line(depth, f"{left} = fori_loop({lower}, {upper}, {body}, {first}{more})")
        return found

    def state(self):
        """A name of a state: one of its own, or a parameter's."""
        kind = self.c.weighted((6, "plain"), (2, "parameter"), (1, "own"))
        return self.c.of({"plain": PLAIN, "parameter": self.PARAMETERS, "own": OWN}[kind])

    @staticmethod
    def without(names, hidden):
        """The names that these do not hide."""
        return [n for n in names if n not in hidden] or ["3"]

    def most(self):
        given = self.c.weighted((3, ""), (1, "8"), (1, "16"), (1, "40"))
        return f", {given}" if given else ""

    def bound(self, names, numbers):
        """An end of a loop: known, small, or a parameter's own."""
        c = self.c
        x = c.of(names)
        return c.weighted(
            (3, c.of(("n", "m"))), (2, c.of(numbers)), (2, f"({x} % {c.of((5, 3))})"), (2, f"({x} & 3)"),
            (1, f"min({x}, 4)"), (2, f"({x} % 4 - {c.of((1, 2, 3))})"),
        )  # fmt: skip

    def before(self, names, states, shape, depth):
        """Write statements of a body; the names that they give."""
        c = self.c
        kind = c.weighted(
            (4, "none"), (2, "name"), (2, "if"), (2, "else"), (1, "swap"), (1, "in place")
        )
        if kind == "none":
            return []
        if kind == "name" or shape == "named":
            self.line(depth, f"{(own := self.fresh('v'))} = {self.expression(names, 2)}")
            return [own]
        one, other = states[0], states[-1]
        if kind == "in place":
            self.line(depth, f"{one} {c.of(('+=', '^=', '//=', '-='))} {c.of(NUMBERS)}")
            return []
        self.line(depth, f"if {self.condition(names, 1)}:")
        if kind == "swap" and one != other:
            self.line(depth + 1, f"{one}, {other} = {other}, {one}")
            return []
        self.line(depth + 1, f"{one} = {self.expression(names, 2)}")
        if kind == "else":
            self.line(depth, "else:")
            self.line(depth + 1, f"{other} = {self.expression(names, 1)}")
        return []

    def made(self, names, states, shape):
        """The next states."""
        c, found = self.c, []
        for state in states:
            e = self.expression(names, 2)
            found.append(
                c.weighted(
                    (6, f"({e}) & {c.of((31, 7, 255))}"), (3, f"({e}) % {c.of((16, 5, 33))}"),
                    (3, f"{state} + ({e}) % {c.of((5, 16))}"), (2, c.of(states)), (1, c.of(names)),
                    (1, f"min(max({e}, -9), {c.of((20, 9))})"), (2, e),
                )
            )  # fmt: skip
        return self.tuple(found, shape)

    @staticmethod
    def tuple(parts, shape):
        if shape == "one":
            return parts[0]
        return f"{'Pair' * (shape == 'named')}({', '.join(parts)}{',' * (len(parts) == 1)})"

    # -- expressions -------------------------------------------------------------------------------

    def expression(self, names, depth):
        """An expression that has a value for all integers."""
        c = self.c
        if depth <= 0 or c.chance(1, 7):
            return (
                c.of(names) if c.chance(3, 4) else c.of(("1", "0", "2", "7", "16", "(-1)", "(-3)"))
            )
        a, x = self.expression(names, depth - 1), c.of(names)
        kind = c.weighted(
            (3, "add"), (2, "subtract"), (1, "multiply"), (2, "divide"), (1, "of"), (2, "shift"), (2, "bits"),
            (1, "extreme"), (1, "choice"), (1, "abs"), (1, "table"), (1, "flag"), (1, "root"),
        )  # fmt: skip
        if kind == "divide":
            return f"({a} {c.of(('%', '//'))} {c.of((*NUMBERS, '(-3)', '(-5)'))})"
        if kind == "of":
            return f"({a} {c.of(('//', '%'))} (abs({x}) + 1))"
        if kind == "shift":
            by = c.of(("1", "2", f"({x} & 3)"))
            return c.of((f"({a} >> {by})", f"(({a} & 15) << {by})"))
        if kind == "abs":
            return f"abs({a})"
        if kind == "table":
            return f"T[{a} % 8]"
        if kind == "root":
            return f"isqrt({a} & 63)"
        b = self.expression(names, depth - 1)
        if kind == "extreme":
            return f"{c.of(('min', 'max'))}({a}, {b})"
        if kind == "choice":
            return f"({a} if {self.condition(names, depth - 1)} else {b})"
        if kind == "flag":
            return f"({a} + ({self.condition(names, 0)}))"
        return (
            f"({a} {c.of({'add': '+', 'subtract': '-', 'multiply': '*', 'bits': '&|^'}[kind])} {b})"
        )

    def condition(self, names, depth):
        c = self.c
        a, b = self.expression(names, depth), self.expression(names, depth - 1)
        one = f"{a} {c.of(('<', '<=', '>', '>=', '==', '!='))} {b}"
        x, y = c.of(names), c.of(names)
        return c.weighted(
            (8, one), (1, f"{x} & 1"), (1, f"not {x} % 3"), (1, f"{one} and {x} > {y}"),
            (1, f"{one} or {x} == {y}"), (1, f"0 <= {x} < {c.of((3, 8))}"),
        )  # fmt: skip
