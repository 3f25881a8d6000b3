"""Random index texts in templates: a text of a kernel's own language is what it says, or is refused.

A template in Python or NumPy has a text as an index, plain or spoiled: with a line end, a comment, a
statement, a name that nobody declared. What it renders is run and compared with the layout itself.
"""

import itertools
import math
import random
import time
from dataclasses import dataclass
from itertools import product

import numpy as np

from lego_emit import Col, GroupBy, RegP, Row, render
from lego_emit.errors import LegoError

NAMES = ["i", "j", "k"]
PIECES = [*NAMES, *NAMES, "1", "2", "7", "twice(i)", "x[j]", "max(i, k)", "x[i - 1]"]
LAYOUTS = [
    GroupBy([64]), Row(4, 16), Col(8, 8), Row(2, 32), Col(16, 4),
    GroupBy([8, 8]).OrderBy(RegP([2, 4, 8], [1, 0, 2])),
]  # fmt: skip
KERNEL = """def kernel(i, j, k):
    p = {placeholder}
    return p
"""
STATEMENT = "def kernel(i, j, k):\n    {{% index p = {index} %}}\n    return p\n"
SPOILS = [
    "\n",
    "\r\n",
    "\\\n",
    "\f",
    "\v",
    "\u2028",
    " # ",
    "; ",
    " = ",
    ", ",
    ") + (",
    "\n# ",
    "\n;",
]
OTHERS = ["kk", "ii", "tiwce", "xs", "mxa"]
POINTS = [*product(range(6), range(4), range(3))]


def twice(n):
    """A function of the kernel's own."""
    return 2 * n


OWN = {"twice": twice, "x": (3, 1, 4, 1, 5, 9, 2, 6), "np": np, "math": math}


@dataclass(frozen=True)
class Text:
    """A layout, the text of its last index, where it stands, the language, and what is spoiled:
    "" for nothing, "name", or a piece that was put in."""

    layout: object
    text: str
    template: str
    target: str
    spoiled: str

    def rendered(self):
        """The kernel. Raises LegoError where it is refused."""
        first = [0] * (len(self.layout.dims) - 1)
        own = "{% names i, j, k, twice, x %}"
        return render(own + self.template, self.target, A=self.layout, first=first, index=self.text)

    def wrong(self):
        """How what was rendered differs from the layout; None where it does not, or is refused."""
        try:
            kernel = self.rendered()
        except LegoError as error:
            return None if self.spoiled else f"a plain text is refused: {error}"
        if self.spoiled == "name":
            return f"a name that nobody declared is rendered:\n{kernel}"
        own = dict(OWN)
        try:
            exec(kernel, own)
        except SyntaxError as error:
            return f"{error}:\n{kernel}"
        for i, j, k in POINTS:
            given = {"i": i, "j": j, "k": k}
            try:
                index = eval(f"({self.text.strip()}\n)", dict(OWN), dict(given))
            except Exception as error:
                return f"the text is no expression ({error}) and is rendered:\n{kernel}"
            if not isinstance(index, int):
                return f"the text is no index, {index!r}, and is rendered:\n{kernel}"
            if 0 <= index < self.layout.dims[-1]:
                wanted = self.layout.apply(*[0] * (len(self.layout.dims) - 1), index)
                if (got := own["kernel"](i, j, k)) != wanted:
                    return f"{got} at {given}, {wanted} wanted:\n{kernel}"
        return None


def made(seed, number):
    """The text of a number, which is the same in every run."""
    choose = random.Random(f"{seed} {number}")
    pieces = [choose.choice(PIECES)]
    for _ in range(choose.randrange(1, 4)):
        piece = choose.choice(PIECES)
        if choose.random() < 0.3:
            piece = f"({piece} {choose.choice('+-*')} {choose.choice(PIECES)})"
        pieces += [choose.choice("+-*%"[: 3 if "1" != piece else 4]), piece]
    pieces = ["2" if b == "%" else a for a, b in zip(pieces, [None, *pieces], strict=False)]
    spoiled = ""
    if choose.random() < 0.7:
        at = choose.randrange(len(pieces))
        if choose.random() < 0.4:
            spoiled, pieces[at] = "name", choose.choice(OTHERS)
        else:
            spoiled = choose.choice(SPOILS)
            pieces.insert(at, spoiled)
    layout = choose.choice(LAYOUTS)
    index = "A.apply(*(first + [index]))"
    if choose.random() < 0.3:
        template = STATEMENT.format(index=index)
    else:
        template = KERNEL.format(placeholder=f"{{{{ {index} }}}}")
    return Text(layout, " ".join(pieces), template, choose.choice(["python", "numpy"]), spoiled)


def search(seed, numbers):
    """(the number, the text, how it is wrong) for all that are."""
    for number in numbers:
        text = made(seed, number)
        if why := text.wrong():
            yield number, text, why


def report(given):
    """Prints what is wrong, for ci/fuzz's options; the exit code."""
    end = math.inf if given.minutes is None else time.monotonic() + 60 * given.minutes
    numbers = itertools.count(given.first)
    if given.cases is not None:
        numbers = itertools.islice(numbers, given.cases)
    count = found = 0
    for number in itertools.takewhile(lambda _: time.monotonic() < end, numbers):
        count += 1
        for _, text, why in search(given.seed, [number]):
            found += 1
            print(f"-- text {number} of seed {given.seed}: {text.text!r} of {text.layout!r}\n{why}")
    print(f"{count} index texts, {found} wrong")
    return int(found > 0)
