"""What an emitted function does, node by node: by what stands here alone, nothing of the simplifier's."""

from math import isqrt

from . import told


class Wrong(Exception):
    """A promise of an emitted function that does not hold at a point."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


FLOOR = {"div": "//", "floordiv": "//", "mod": "%", "floormod": "%"}
PLAIN = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: -a - 1,
    "min": lambda a, b: a if a < b else b,
    "max": lambda a, b: a if a > b else b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lnot": lambda a: not a,
    "int": lambda a: 1 if a else 0,
}


class Machine:
    """What the emitted function does with one argument tuple, looked at in every step."""

    def __init__(self, function, eager, params=None):
        """params: those whose ranges are looked at; all without it."""
        self.function, self.eager = function, eager
        self.params = function.params if params is None else params
        self.least, self.most = function.index_type.ends
        self.width = 64 if self.most > 2**32 else 32
        loops = [node.args[0].value for _, node in function.body if node.op == "loop"]
        self.branching = any(made.guard is not None for made in loops)

    def run(self, values):
        """The outputs. Raises Wrong."""
        self.values, self.loops, self.doubts, self.doubt = dict(values), {}, {}, None
        for p in self.params:
            v = values[p.name]
            if (p.lo is not None and v < p.lo) or (p.hi is not None and v > p.hi):
                raise Wrong("range", f"the parameter {p.name} is said to be in {p.lo}..{p.hi}")
        for name, node in self.function.body:
            self.values[name], doubt = self.doubted(node)
            if doubt and not self.branching:
                raise doubt
            self.doubts[name] = doubt
        found = {}
        for name, node in self.function.outputs:
            value, doubt = self.doubted(node)
            if doubt:
                raise doubt
            found[name] = int(value)
        return found

    def doubted(self, node):
        """(its value, the first range in it that does not hold, as Wrong, or None). What a loop in a branch
        is given is computed where the branch is not taken, too, and its ranges are the branch's."""
        before, self.doubt = self.doubt, None
        value = self.value(node)
        doubt, self.doubt = self.doubt, before
        return value, doubt

    def value(self, node):
        op = node.op
        if op in ("const", "table"):
            return node.value
        if op == "var":
            v = self.values[node.value]
            self.doubt = self.doubt or self.doubts.get(node.value)
        elif op == "select":
            condition = self.value(node.args[0])
            taken, other = node.args[1:] if condition else node.args[:0:-1]
            v = self.value(taken)
            if self.eager:
                _, doubt = self.doubted(other)
                if not self.branching:
                    self.doubt = self.doubt or doubt
        elif op in ("land", "lor"):
            v = self.value(node.args[0])
            if self.eager or v is (op == "land"):
                other = self.value(node.args[1])
                v = (v and other) if op == "land" else (v or other)
            return v
        elif op == "loop":
            states, is_begun = self.states(node)
            v = states[node.args[0].value.item]
            if node.args[0].value.guard is not None and not is_begun:
                return v  # what is said of it holds in its branch
        elif op in PLAIN:
            v = PLAIN[op](*[self.value(a) for a in node.args])
        else:
            v = self.risky(node, op, [self.value(a) for a in node.args])
        if v is not True and v is not False:
            if not self.least <= v <= self.most:
                raise Wrong("overflow", f"{told.node(node)} is {v}")
            if (node.lo is not None and v < node.lo) or (node.hi is not None and v > node.hi):
                text = f"{told.node(node)} is {v}, said to be {node.lo}..{node.hi}"
                self.doubt = self.doubt or Wrong("range", text)
        return v

    def states(self, node):
        """(the states behind a loop, whether it had a round); each is looked at as a function is."""
        made = node.args[0].value
        pairs = [self.doubted(a) for a in node.args[1:]]
        lower, upper, *given = [value for value, _ in pairs]
        key = made.key, lower, upper, *given
        if key in self.loops:
            return self.loops[key]  # whose doubts are told
        names = [p.name for p in made.body.params]
        states, taken = given[: made.count], given[made.count :]
        asked = [self.of(f) for f in (made.guard, made.going) if f is not None]
        body, is_begun = self.of(made.body), False
        for k in range(lower, upper):
            values = dict(zip(names, (k, *states, *taken), strict=True))
            if not all(next(iter(each.run(values).values())) for each in asked):
                break
            if k - lower == made.most:
                raise Wrong(
                    "rounds", f"{upper - lower} of {made.shown[0]}, not {made.most} at most"
                )
            found, is_begun = body.run(values), True
            own = made.names[1:] or found
            states = [found.get(n, v) for n, v in zip(own, states, strict=True)]
        if made.guard is None or is_begun:
            self.doubt = self.doubt or next(filter(None, (doubt for _, doubt in pairs)), None)
        self.loops[key] = states, is_begun
        return states, is_begun

    def of(self, part):
        """What a function of a round does. What it does not read may be anything."""
        read = {node.value for node in part.nodes() if node.op == "var"}
        return Machine(part, self.eager, [p for p in part.params if p.name in read])

    def risky(self, node, op, args):
        """Operations that are not defined for every operand."""
        if op == "isqrt":
            if args[0] < 0:
                raise Wrong("undefined", f"{told.node(node)}: the root of {args[0]}")
            return isqrt(args[0])
        a, b = args
        if op == "lookup":
            if not 0 <= b < len(a):
                raise Wrong("undefined", f"{told.node(node)}: entry {b} of {len(a)}")
            return a.values[b]
        if op in ("shl", "shr"):
            if not 0 <= b < self.width:
                raise Wrong("shift", f"{told.node(node)}: by {b}")
            return a * 2**b if op == "shl" else a // 2**b
        if b == 0:
            raise Wrong("undefined", f"{told.node(node)}: {a} {FLOOR[op]} 0")
        if op in ("div", "mod") and (a < 0 or b < 0):
            raise Wrong("sign", f"{told.node(node)}: {a} {FLOOR[op]} {b}")
        return a // b if FLOOR[op] == "//" else a % b


def assert_sound(function, values, lazy=True):
    """Every step of a function at a point is in its range and in the type."""
    Machine(function, not lazy).run(values)
