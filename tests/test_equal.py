"""The emitted arithmetic is the reference's: proven by Z3 where it can, and looked at in layouts too
large to be looked at whole."""

import random
import sys
from pathlib import Path

import pytest
import z3
from marks import rest_deep, rest_slow

from lego_emit import symbols
from lego_emit.algebra import reference
from lego_emit.pipeline import build_program
from lego_emit.run import registry

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from rows import CASES, bricks, fig6, grouped, morton, tile_row

CUDA = registry.printer("cuda")
STEPS = 20_000_000  # of Z3, some seconds
UNDECIDED = 4  # of all proofs at most; each is looked at in the table instead
WIDTH = 33


class Word:
    """A Z3 value with Python's operators, for the reference's formulas: natural numbers as bit
    vectors, wide enough for every value on the way."""

    __lego_symbolic__ = True
    __array_ufunc__ = None

    def __init__(self, term):
        self.term = term

    def __add__(self, other):
        return Word(self.term + term(other))

    def __sub__(self, other):
        return Word(self.term - term(other))

    def __rsub__(self, other):
        return Word(term(other) - self.term)

    def __mul__(self, other):
        return Word(self.term * term(other))

    def __floordiv__(self, other):
        return Word(z3.UDiv(self.term, term(other)))

    def __mod__(self, other):
        return Word(z3.URem(self.term, term(other)))

    __radd__, __rmul__ = __add__, __mul__


def term(value):
    return value.term if isinstance(value, Word) else z3.BitVecVal(value, WIDTH)


OPS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "div": z3.UDiv,
    "mod": z3.URem,
    "shl": lambda a, b: a << b,
    "shr": z3.LShR,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "int": lambda c: z3.If(c, z3.BitVecVal(1, WIDTH), z3.BitVecVal(0, WIDTH)),
    "select": z3.If,
}


def outputs(function, values):
    """The emitted function's results as Z3 terms."""
    names = dict(values)

    def made(node):
        if node.op == "const":
            return z3.BitVecVal(node.value, WIDTH)
        if node.op == "var":
            return names[node.value]
        return OPS[node.op](*map(made, node.args))

    for name, node in function.body:
        names[name] = made(node)
    return [made(node) for _, node in function.outputs]


def proven(layout, function, forward):
    """True, or None where Z3 gives up. An index for which the two differ is an error."""
    names = [p.name for p in function.params]
    values = {n: z3.BitVec(n, WIDTH) for n in names}
    solver = z3.Solver()
    solver.set("rlimit", STEPS)
    for p in function.params:
        solver.add(z3.ULE(values[p.name], p.hi))
    words = [Word(values[n]) for n in names]
    want = [layout.reference_apply(tuple(words))] if forward else layout.reference_inv(*words)
    pairs = zip(want, outputs(function, values), strict=True)
    solver.add(z3.Or(*(term(a) != b for a, b in pairs)))
    answer = solver.check()
    assert answer != z3.sat, solver.model()
    return True if answer == z3.unsat else None


LAYOUTS = {
    "tiles of 32 x 32": lambda: tile_row(1024, 1024, 32, 32),
    "tiles of 24 x 10": lambda: tile_row(96, 70, 24, 10),
    "grouped ids": lambda: grouped(32, 16, 8),
    "grouped ids, 60 x 7": lambda: grouped(60, 7, 5),
    "Fig. 6": fig6,
    "bricks of 8^3": lambda: bricks(64, 8),
    "bricks of 3^3": lambda: bricks(12, 3),
    "Morton": morton,
    "five twos permuted": next(c.make for c in CASES if c.name == "five twos permuted"),
}


@pytest.mark.slow
@pytest.mark.parametrize("cost", rest_deep(["ops", "latency"]))
def test_proofs(cost):
    """Over every index at once, in both directions."""
    undecided = []
    for name, make in LAYOUTS.items():
        layout = make()
        for function, forward in zip(
            build_program(layout, CUDA, cost=cost).functions, (True, False), strict=True
        ):
            if any(n.op in ("floordiv", "floormod") for n in function.nodes()):
                continue  # of negative numbers, which these words have none of
            if proven(layout, function, forward) is None:
                undecided.append((name, function.name))
                table(layout, function, forward)
    print(f"Z3 could not decide {len(undecided)}: {undecided}")
    assert len(undecided) <= UNDECIDED, undecided


def table(layout, function, forward):
    for flat in range(layout.size):
        index = reference.inv(layout, flat)
        given, want = (index, (flat,)) if forward else ((flat,), index)
        names = [p.name for p in function.params]
        assert tuple(function.evaluate(dict(zip(names, given, strict=True))).values()) == want


LARGE = {
    "tile_row": (tile_row, "M N BM BN", (2**15, 2**15, 2**6, 2**5)),
    "tile_row, odd": (tile_row, "M N BM BN", (30011 * 3, 10007 * 5, 3, 5)),
    "grouped": (grouped, "R C G", (36000, 30000, 48)),
    "bricks": (bricks, "N B", (1000, 8)),
    "bricks, prime": (bricks, "N B", (77 * 13, 13)),
}


@pytest.mark.parametrize("cost", rest_slow(["ops", "latency"]))
@pytest.mark.parametrize("symbolic", [False, True], ids=["numbers", "symbols"])
@pytest.mark.parametrize("name", LARGE)
@pytest.mark.quick(4)
def test_large_layouts(name, symbolic, cost):
    """The corners and 500 random indices, with the sizes as numbers and as symbols."""
    make, names, numbers = LARGE[name]
    layout = make(*numbers)
    sizes = dict(zip(names.split(), numbers, strict=True)) if symbolic else {}
    forward, back = build_program(
        make(*symbols(names)) if symbolic else layout, CUDA, cost=cost
    ).functions
    draw = random.Random(name)
    for k in range(500):
        flat = (0, layout.size - 1)[k] if k < 2 else draw.randrange(layout.size)
        index = reference.inv(layout, flat)
        given = dict(zip([p.name for p in forward.params if p.axis], index, strict=True))
        assert forward.evaluate({**sizes, **given}) == {"flat": flat}
        assert tuple(back.evaluate({**sizes, "flat": flat}).values()) == index
