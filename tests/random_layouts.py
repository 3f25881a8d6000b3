"""Random layouts and random integer functions as Python text, so that one text gives both sides of
a comparison: symbols for lego_emit, plain ints for the reference."""

from functools import partial
from itertools import product

from hypothesis import strategies as st

import lego_emit
from lego_emit.program import INDEX_TYPES, OPS


def reverse(dims, *index):
    flat = 0
    for i, n in zip(index, dims, strict=True):
        flat = flat * n + (n - 1 - i)
    return flat


def reverse_inv(dims, flat):
    index = []
    for n in reversed(dims[1:]):
        index.insert(0, n - 1 - flat % n)
        flat = flat // n
    return (dims[0] - 1 - flat, *index)


def antidiagonal(n, i, j):
    """Fig. 7."""
    line = i + j + 1
    if line <= n:
        return line * (line - 1) // 2 + i
    beyond = 2 * n - line
    return n * n - 1 - (beyond * (beyond - 1) // 2 + n - i - 1)


def antidiagonal_inv(n, flat):
    if flat < n * (n + 1) // 2:
        line = (lego_emit.isqrt(8 * flat + 1) - 1) // 2
        i = flat - line * (line + 1) // 2
        return i, line - i
    rest = n * n - 1 - flat
    line = (lego_emit.isqrt(8 * rest + 1) - 1) // 2
    i = rest - line * (line + 1) // 2
    return n - 1 - i, n - 1 - (line - i)


def Reversal(*dims):
    return lego_emit.GenP(dims, partial(reverse, dims), partial(reverse_inv, dims))


def Antidiagonal(n, _):
    return lego_emit.GenP([n, n], partial(antidiagonal, n), partial(antidiagonal_inv, n))


WORDS = {
    name: getattr(lego_emit, name)
    for name in ("Col", "ExpandBy", "GenP", "GroupBy", "OrderBy", "RegP", "Row", "TileBy", "isqrt")
} | {"Reversal": Reversal, "Antidiagonal": Antidiagonal, "min": min, "max": max}


def build(text, **values):
    """The layout that a text says, over ints or symbols."""
    return eval(text, {**WORDS, **values})


# -- layouts -------------------------------------------------------------------------------------


def times(factors):
    """A product as text; a and M//a make M."""
    rest = list(factors)
    for whole in "MN":
        parts = [f for f in rest if f.startswith(f"{whole}//")]
        if parts and parts[0][3:] in rest:
            rest.remove(parts[0])
            rest.remove(parts[0][3:])
            rest.append(whole)
    return "*".join(f"({f})" if "//" in f and len(rest) > 1 else f for f in rest) or "1"


@st.composite
def sizes(draw, factors, least=1, most=4):
    """A list of sizes: the factors in any order, in any groups."""
    mixed = draw(st.permutations(factors))
    rank = draw(st.integers(least, most))
    groups = [[] for _ in range(rank)]
    for factor in mixed:
        groups[draw(st.integers(0, rank - 1))].append(factor)
    return [times(g) for g in groups]


@st.composite
def perms(draw, factors):
    """The arguments of an OrderBy over the factors."""
    dims = draw(sizes(factors))
    found = []
    while dims:
        count = draw(st.integers(1, len(dims)))
        tile, dims = dims[:count], dims[count:]
        listed = ", ".join(tile)
        kinds = ["Row", "Col", "RegP", "Reversal"]
        if count == 2 and tile[0] == tile[1] and not set(tile[0]) & set("abcMN"):
            kinds.append("Antidiagonal")
        kind = draw(st.sampled_from(kinds))
        if kind == "RegP":
            found.append(f"RegP([{listed}], {list(draw(st.permutations(range(count))))})")
        else:
            found.append(f"{kind}({listed})")
    return ", ".join(found)


@st.composite
def layouts(draw, factors):
    """A GroupBy or a TileBy with up to three OrderBys, or an ExpandBy of one."""
    if draw(st.booleans()):
        text = f"GroupBy([{', '.join(draw(sizes(factors)))}])"
        names = ["OrderBy"]
    else:
        rank = draw(st.integers(1, 2))
        levels = draw(st.integers(1, 2))
        dims = draw(sizes(factors, rank * levels, rank * levels))
        tiles = [f"[{', '.join(dims[k * rank : (k + 1) * rank])}]" for k in range(levels)]
        text = f"TileBy({', '.join(tiles)})"
        names = ["OrderBy"]
    for _ in range(draw(st.integers(0, 3))):
        name = draw(st.sampled_from(names))
        if text.startswith("TileBy"):  # several perms would be tile by tile: one rank for all
            dims = ", ".join(draw(sizes(factors)))
            kind = draw(st.sampled_from(["Row", "Col", "Reversal"]))
            text += f".{name}({kind}({dims}))"
        else:
            text += f".{name}({draw(perms(factors))})"
    return text


small = st.lists(st.sampled_from("2345612"), min_size=1, max_size=4)
named = st.lists(st.sampled_from(["a", "b", "2", "3", "4", "a", "c"]), min_size=1, max_size=4)
divided = st.lists(st.sampled_from("cb32"), max_size=2).map(lambda f: ["a", "M//a", *f])


# -- values --------------------------------------------------------------------------------------


def node_values(function, values, lazy=True):
    """(node, value) of every node of every statement and output; lazy: only of the branches that
    are taken."""
    env = dict(values)

    def walk(node):
        if node.op == "const":
            value = node.value
        elif node.op == "var":
            value = env[node.value]
        elif node.op == "select" and lazy:
            condition, yes, no = node.args
            value = walk(yes if walk(condition) else no)
        else:
            value = OPS[node.op][2](*[walk(a) for a in node.args])
        found.append((node, value))
        return value

    found = []
    for name, node in function.body:
        env[name] = walk(node)
    for _, node in function.outputs:
        walk(node)
    return found


def assert_sound(function, values, lazy=True):
    """Every node's value lies in the node's range and fits the index type."""
    least, most = INDEX_TYPES[function.index_type]
    for node, value in node_values(function, values, lazy):
        if node.is_bool:
            continue
        assert node.lo is None or value >= node.lo, (node, value, values)
        assert node.hi is None or value <= node.hi, (node, value, values)
        assert least <= value <= most, (node, value, values)


def holds(texts, values):
    """Whether assumptions or ranges, which are Python text, hold at a point."""
    space = {**WORDS, **values}
    return all(
        eval(text, space) for text in texts if text and not text.startswith("every intermediate")
    )


def indices(dims):
    return product(*map(range, dims))
