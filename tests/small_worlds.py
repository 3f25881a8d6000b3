"""Symbols that take the values of a small window for which some texts hold: what the simplifier is
told of them, and the points at which it must be right. A text is run on symbols and on integers."""

import operator
import random
import re
from contextlib import suppress
from itertools import product
from math import isqrt, prod

from lego_emit.arith.analyzer import Analyzer
from lego_emit.arith.assume import learn, parse
from lego_emit.arith.evaluate import Undefined, evaluate
from lego_emit.arith.expr import Cond, Expr, maximum, minimum, select

NO_VALUE = (ZeroDivisionError, ValueError)  # a divisor of 0; a negative distance, or its root

INTEGERS = {
    "min": min,
    "max": max,
    "isqrt": isqrt,
    "pick": lambda c, a, b: a if c else b,
    "flag": int,
    "both": lambda a, b: a and b,
    "one": lambda a, b: a or b,
    "no": lambda a: not a,
}
SYMBOLIC = {
    "min": minimum,
    "max": maximum,
    "isqrt": lambda e: Expr.of(e).isqrt(),
    "pick": select,
    "flag": lambda c: c.as_expr() if isinstance(c, Cond) else Expr.of(c),
    "both": lambda a, b: _joined(operator.and_, True, a, b),
    "one": lambda a, b: _joined(operator.or_, False, a, b),
    "no": lambda a: ~a if isinstance(a, Cond) else not a,
}


def _joined(join, neutral, a, b):
    """Two conditions, each of which may be decided."""
    if isinstance(a, bool):
        return b if a == neutral else a
    if isinstance(b, bool):
        return a if b == neutral else b
    return join(a, b)


class World:
    """known: texts that hold, and are told; windows: {name: range}, not told, of which those count
    that the texts name. All points are looked at, or where there are many, limit of them."""

    def __init__(self, known, *texts, use_z3=False, limit=150, **windows):
        self.known = [*known]
        names = {n for text in (*known, *texts) for n in re.findall(r"[A-Za-z]\w*", text)}
        self.names = [n for n in windows if n in names]
        self.analyzer = Analyzer(use_z3=use_z3)
        learn(self.analyzer, [(c, text) for text in known for c in parse(text)])
        draw, spans = random.Random(f"{known} {texts}"), [windows[n] for n in self.names]
        if prod(map(len, spans)) <= 4 * limit:
            found = product(*spans)
        else:
            found = (tuple(map(draw.choice, spans)) for _ in range(4 * limit))
        code = [compile(text, text, "eval") for text in known]
        self.points = []
        for at in dict.fromkeys(found):
            values = dict(zip(self.names, at, strict=True))
            with suppress(*NO_VALUE):
                if all(eval(c, INTEGERS | values) for c in code):
                    self.points.append(values)
        if len(self.points) > limit:
            self.points = draw.sample(self.points, limit)

    def symbolic(self, text):
        """The text's value over symbols, simplified under the facts."""
        symbols = {name: self.analyzer.bind(self.analyzer.symbol(name)) for name in self.names}
        made = eval(text, SYMBOLIC | symbols)
        return made.plain if isinstance(made, Cond) else Expr.of(made)

    def all_values(self, values):
        """The values of all symbols that the facts speak of."""
        known = dict(values)
        for name, (dividend, divisor) in self.analyzer.facts.quotients.items():
            with suppress(KeyError):
                known[name] = evaluate(dividend, known) // evaluate(divisor, known)
        return known

    def cases(self, text):
        """(the text's value, the values of all symbols) at every point where it has a value."""
        code = compile(text, text, "eval")
        for values in self.points:
            with suppress(*NO_VALUE, Undefined):
                yield eval(code, INTEGERS | values), self.all_values(values)

    def everywhere(self, e):
        """(the value of e, the values of all symbols) at every point where it has one."""
        for values in map(self.all_values, self.points):
            with suppress(Undefined):
                yield evaluate(e, values), values

    def agree(self, text, made, find=evaluate):
        """The number of points at which the text has a value; made has the same at each."""
        seen = 0
        for want, values in self.cases(text):
            seen += 1
            assert find(made, values) == want, (self.known, text, made, values, want)
        return seen
