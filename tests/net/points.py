"""Numbers that meet relations: Python text such as "0 <= i < BM", "M % BM == 0", "M*N <= 2**63 - 1".

The relations are read as text because a header's reader has nothing else; what stands alone in one
is given a bound, a step or a divisor, everything else is tried.
"""

import ast
from functools import lru_cache
from math import isqrt, lcm

SPACE = {"isqrt": isqrt, "min": min, "max": max, "abs": abs}
UNKNOWN = ("every intermediate", "no divisor in a loop")  # preconditions that name no value
SMALL = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24)
TRIES = 24


FAR = 2**70  # how far numbers go where the index type has no ends


def known_of(case, function):
    """What a function's header may name beside its parameters: sizes of the case, and constant tables."""
    tables = {n.value.name: n.value.values for n in function.nodes() if n.op == "table"}
    return {**tables, **case.sizes}


class Relations:
    """Relations over names. strange: names that they have beside those and the known ones; they
    are given values, too."""

    def __init__(self, texts, names, least, most, known=()):
        self.known = dict(known)  # numbers of other names, and tables
        self.names, self.least, self.most = list(names), max(least, -FAR), min(most, FAR)
        self.opaque = [t for t in texts if any(said in t for said in UNKNOWN)]
        self.parsed = [_parsed(t) for t in texts if t and t not in self.opaque]
        self.strange = sorted(set().union(*(p.names for p in self.parsed)) - {*names, *self.known})
        self.names += self.strange
        own = set(self.names)
        self.all = [p.code for p in self.parsed]
        self.at = {n: [] for n in self.names}
        for p in self.parsed:
            for n in p.names & own:
                self.at[n].append(p)

        self.needs = {
            n: {m for p in self.at[n] for m in p.needed.get(n, ()) if m in self.at} - {n}
            for n in self.at
        }

    def hold(self, values):
        """Whether all hold; one that is undefined does not."""
        return all(_true(code, self.known | values) for code in self.all)

    def broken(self, values):
        """The text of the first that does not hold."""
        return next((p.text for p in self.parsed if not _true(p.code, self.known | values)), "")

    def draw(self, rng, given=None, far=False):
        """Values for all names that meet the relations, or None. far: as large as they may be."""
        for _ in range(TRIES):
            values = {**self.known, **(given or {})}
            for name in self._order(rng):
                if name not in values and not self._choose(rng, name, values, far):
                    break
            else:
                if self.hold(values):
                    if far:
                        self._push(rng, values, given or {})
                    return {n: values[n] for n in (*self.names, *(given or ()))}
        return None

    def _push(self, rng, values, given):
        """Take one value that no other's range is needed for as far up as the others let it, and
        choose again what depends on it."""
        free = [n for n in self.names if not self.needs[n] and n not in given]
        if not free:
            return
        name, before = rng.choice(free), dict(values)
        below = {name}
        while more := {n for n in self.names if self.needs[n] & below} - below:
            below |= more
        for n in below - {name}:
            values.pop(n, None)
        usable = [p for p in self.at[name] if p.names <= values.keys()]
        step = self._step(name, values)
        start, reach = values[name], 1 << 64
        while reach:
            values[name] = start + reach * step
            if values[name] <= self.most and all(_true(p.code, values) for p in usable):
                start = values[name]
            reach >>= 1
        values[name] = start
        left = [n for n in self.names if n in below and n != name]
        done = all(self._choose(rng, n, values, True) for n in left)
        if not done or not self.hold(values):
            values.clear()
            values.update(before)

    def _step(self, name, values):
        step = 1
        for p in self.at[name]:
            for divisor in p.multiple_of.get(name, ()):
                value = _value(divisor, values)
                if value:
                    step = lcm(step, abs(value))
        return step

    def _order(self, rng):
        """What an index's own range names comes before it, otherwise any order."""
        left, order = list(self.names), []
        while left:
            free = [n for n in left if not self.needs[n] & set(left)] or left
            name = rng.choice(free)
            left.remove(name)
            order.append(name)
        return order

    def _choose(self, rng, name, values, far):
        low, high, step, divides = None, None, self._step(name, values), []
        for p in self.at[name]:
            for upper, bound, strict in p.bounds.get(name, ()):
                value = _value(bound, values)
                if value is None:
                    continue
                if upper:
                    high = value - strict if high is None else min(high, value - strict)
                else:
                    low = value + strict if low is None else max(low, value + strict)
            for dividend in p.divides.get(name, ()):
                value = _value(dividend, values)
                if value:
                    divides.append(abs(value))
        bounded = high is not None
        least = self.least if low is None else max(low, self.least)
        most = self.most if high is None else min(high, self.most)
        if least > most:
            return False
        usable = [p for p in self.at[name] if p.names <= values.keys() | {name}]

        codes = [p.code for p in usable]

        def fits(v):
            values[name] = v
            if not least <= v <= most:
                return False
            for code in codes:
                try:
                    if not eval(code, SPACE, values):
                        return False
                except (ArithmeticError, ValueError):
                    return False
            return True

        for _ in range(8):
            if divides and not (far and rng.random() < 0.2):
                choice = rng.choice(_divisors(tuple(divides)))
            elif bounded and low is not None:
                near = min(1, most - least)
                choice = rng.choice(
                    [least, most, least + near, most - near, *([most] * 4 if far else ())]
                    + [rng.randint(least, most) for _ in range(3)]
                )
            elif far and rng.random() < 0.8:
                choice = self._far(rng, least, most, step, fits)
            else:
                base = least if low is not None else max(0, least)
                choice = base + rng.choice(SMALL) - 1
                if low is None and least < 0 and rng.random() < 0.5:
                    choice = -choice
                if low is None and bounded:
                    choice = most - rng.choice(SMALL) + 1
            choice -= choice % step
            if choice < least:
                choice += step
            if fits(choice):
                return True
        values.pop(name, None)
        return False

    def _far(self, rng, least, most, step, fits):
        """The largest value that fits, going up in powers of two; or one of some number of bits."""
        if rng.random() < 0.35:
            bits = rng.randint(1, max(1, most.bit_length()))
            choice = rng.choice([1 << bits, (1 << bits) - 1, rng.getrandbits(bits), most])
            return -choice if least < -1 and rng.random() < 0.3 else choice
        if least < -1 and rng.random() < 0.3:
            return least
        start = (least if least > self.least else max(least, 0)) // step * step
        start += step * (start < least)
        if not fits(start):
            return start
        found, reach = start, 1 << max(0, (most - start) // step).bit_length()
        while reach:  # what fits is taken to have no holes; what does not is left
            if found + reach * step <= most and fits(found + reach * step):
                found += reach * step
            reach >>= 1
        return found


def holds(texts, values):
    """Whether assumptions or ranges, which are Python text, hold at a point."""
    return Relations(texts, values, 0, 0).hold(values)


class _Parsed:
    """One relation: its code, and what it says of a name that stands alone."""

    def __init__(self, text):
        self.text = text
        tree = ast.parse(text.strip(), mode="eval")
        self.code = compile(tree, text, "eval")
        self.names = _names(tree)
        self.bounds, self.multiple_of, self.divides, self.needed = {}, {}, {}, {}
        body = tree.body
        if isinstance(body, ast.BoolOp) and isinstance(body.op, ast.And):
            parts = body.values
        else:
            parts = [body]
        for part in parts:
            if isinstance(part, ast.Compare):
                sides = [part.left, *part.comparators]
                for op, a, b in zip(part.ops, sides, sides[1:], strict=False):
                    self._compared(op, a, b)

    def _compared(self, op, a, b):
        kind = type(op)
        if kind in (ast.Gt, ast.GtE):
            a, b, kind = b, a, ast.Lt if kind is ast.Gt else ast.LtE
        if kind in (ast.Lt, ast.LtE):
            self._bound(a, b, True, kind is ast.Lt)
            self._bound(b, a, False, kind is ast.Lt)
        elif kind is ast.Eq:
            for x, y in ((a, b), (b, a)):
                self._bound(x, y, True, False)
                self._bound(x, y, False, False)
            if isinstance(a, ast.BinOp) and isinstance(a.op, ast.Mod):
                for role, x, y in (
                    (self.multiple_of, a.left, a.right),
                    (self.divides, a.right, a.left),
                ):
                    if isinstance(x, ast.Name):
                        role.setdefault(x.id, []).append(_code(y))
                    elif role is self.divides and isinstance(x, ast.BinOp):
                        for side in (x.left, x.right):  # n % (2*B) == 0
                            if isinstance(side, ast.Name):
                                role.setdefault(side.id, []).append(_code(y))

    def _bound(self, alone, bound, upper, strict):
        if isinstance(alone, ast.Name):
            code = _code(bound)
            self.bounds.setdefault(alone.id, []).append((upper, code, strict))
            others = _names(bound)
            if upper and others and "<=" in self.text and self.text.count("<") > 1:
                self.needed.setdefault(alone.id, set()).update(others)  # an index's own range


@lru_cache(maxsize=4096)
def _parsed(text):
    return _Parsed(text)


@lru_cache(maxsize=1024)
def _divisors(numbers):
    return [d for d in range(1, 65) if all(n % d == 0 for n in numbers)]


def _names(tree):
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - SPACE.keys()


def _code(tree):
    return compile(ast.Expression(tree), "bound", "eval")


def _value(code, values):
    try:
        return int(eval(code, SPACE, values))
    except (NameError, ArithmeticError, ValueError):
        return None


def _true(code, values):
    try:
        return bool(eval(code, SPACE, values))
    except (ArithmeticError, ValueError):
        return False
