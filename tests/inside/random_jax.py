"""Random layouts in functions that JAX traces, against tables of them by the reference evaluator.

    python random_jax.py FIRST END

says how many layouts gave the same, and which did not."""

import random
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

from lego_emit import (
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    LegoError,
    RegP,
    Row,
    Strided,
    TileBy,
    catalogue,
)
from lego_emit.algebra import reference
from lego_emit.algebra.masked import Padded
from lego_emit.errors import WidthError

NARROW = "int8 uint8 int16 uint16 int32 uint32".split()
SWIZZLE = GroupBy([8, 8]).OrderBy(
    GenP([8, 8], lambda i, j: 8 * i + (i ^ j), lambda p: (p // 8, p % 8 ^ p // 8))
)


def any_layout(r):
    """A layout of at most some thousand indices."""
    m, n, bm, bn = r.randint(1, 4), r.randint(1, 4), r.choice([1, 2, 4]), r.choice([2, 3, 8])
    rows, columns = m * bm - r.randrange(bm), n * bn - r.randrange(bn)
    tiles = TileBy([m, n], [bm, bn])
    return r.choice([
        lambda: Row(rows, columns, m),
        lambda: Col(rows, columns),
        lambda: Row(m * 30, n * 50),
        lambda: Strided((rows, columns), (columns + r.randrange(4), 1)),
        lambda: Strided((rows, columns), (1, rows + r.randrange(300))),
        lambda: tiles.OrderBy(RegP([*tiles.dims], r.sample(range(4), 4))),
        lambda: tiles.OrderBy(Col(m * bm, n * bn)),
        lambda: Padded([rows, columns], Col(m * bm, n * bn)),
        lambda: ExpandBy([rows, columns], [m * bm, n * bn], tiles, guard=r.choice(["physical", "logical"])),
        lambda: SWIZZLE,
        lambda: catalogue["morton.2D"](8, 8),
        lambda: catalogue["hilbert.2D"](8, 8),
        lambda: catalogue["lapack.TP"](r.randint(1, 7)),
        lambda: catalogue["triton.grouped"](rows, columns, r.randint(1, 4)),
    ])()  # fmt: skip


def key_of(r, dims, dtype, beyond=0):
    """An index with numbers, arrays and slices, as NumPy's indexing takes it, and which parts are arrays."""
    shape = r.choice([(), (3,), (2, 3), (1, 4)])
    parts = []
    for n in dims:
        most = min(n - 1 + beyond, np.iinfo(dtype).max)
        least = max(-beyond, np.iinfo(dtype).min)
        kind = r.random()
        if kind < 0.5:
            size = np.prod(shape, dtype=int)
            numbers = [r.randint(least, most) for _ in range(size)]
            parts.append(np.array(numbers, dtype).reshape(shape))
        elif kind < 0.7:
            parts.append(r.randrange(n))
        elif beyond:
            parts.append(slice(None))
        else:
            parts.append(slice(r.choice([None, 0, n // 2]), None, r.choice([None, 1, 2, -1])))
    if not any(isinstance(part, np.ndarray) for part in parts):
        parts[0] = np.array(r.randrange(dims[0]) % 128, dtype)
    return parts


def traced(r, function, arrays):
    """A function of arrays, as one of JAX's transformations gives it."""
    way = r.choice(["plain", "jit", "vmap", "scan", "fori"])
    arrays = [jnp.asarray(a) for a in arrays]
    if way == "plain":
        return function(*arrays)
    if way == "jit":
        return jax.jit(function)(*arrays)
    twice = [jnp.stack([a, a]) for a in arrays]
    if way == "vmap":
        found = jax.vmap(function)(*twice)
    elif way == "scan":
        found = jax.lax.scan(lambda carry, a: (carry + 1, function(*a)), 0, twice)[1]
    else:
        start = jax.tree.map(jnp.zeros_like, function(*arrays))
        return jax.lax.fori_loop(0, 2, lambda k, _: function(*(a[k] for a in twice)), start)
    return jax.tree.map(lambda a: a[1], found)


def with_arrays(parts, arrays):
    """The index with other arrays in the place of its own."""
    left = iter(arrays)
    return [next(left) if isinstance(part, np.ndarray) else part for part in parts]


def same(found, wanted):
    return np.shape(found) == np.shape(wanted) and np.array_equal(found, wanted)


def wrong_positions(r, layout, table):
    dtype = r.choice(NARROW)
    parts = key_of(r, layout.dims, dtype)
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    wide = [a.astype(np.int64) for a in arrays]
    wanted = table[tuple(with_arrays(parts, wide))]
    try:
        found = traced(r, lambda *a: layout[tuple(with_arrays(parts, a))], arrays)
    except WidthError:
        return ""  # which is for numbers on the way, too
    if same(found, wanted) and found.dtype == dtype:
        return ""
    return f"{layout!r}[{parts}] in {dtype} is {found}, not {wanted}"


def wrong_bounds(r, layout, table):
    dtype = r.choice(NARROW)
    parts = key_of(r, layout.dims, dtype, beyond=3)
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    axes = tuple(":" if isinstance(part, slice) else part for part in parts)
    room = np.zeros([n + 10 for n in layout.dims], bool)
    room[tuple(slice(5, 5 + n) for n in layout.dims)] = table >= 0
    wide = [
        slice(5, 5 + n) if isinstance(part, slice) else np.asarray(part, np.int64) + 5
        for part, n in zip(parts, layout.dims, strict=True)
    ]
    wide = [int(w) if isinstance(p, int) else w for p, w in zip(parts, wide, strict=True)]
    wanted = room[tuple(wide)]
    try:
        found = traced(r, lambda *a: layout.in_bounds(*with_arrays(axes, a)), arrays)
    except WidthError:
        return ""
    return (
        ""
        if same(found, wanted)
        else f"{layout!r}.in_bounds{axes} in {dtype} is {found}, not {wanted}"
    )


def wrong_inverse(r, layout, table):
    if not layout.has_inverse or layout.masks:
        return ""
    dtype = r.choice(NARROW)
    flat = np.array([r.randrange(layout.physical_size) % 128 for _ in range(6)], dtype)
    try:
        found = traced(r, layout.inv, [flat])
    except WidthError:
        return ""
    for at, *index in zip(flat, *found, strict=True):
        if at in table and table[tuple(map(int, index))] != at:
            return f"{layout!r}.inv({at}) in {dtype} is {index}"
    return ""


def wrong_moves(r, layout, table):
    held = table >= 0
    if len({*table[held].tolist()}) < held.sum():
        return ""
    dtype = r.choice(["float32", "int8", "bfloat16", "bool"])
    fill = True if dtype == "bool" else r.choice([0, 7])
    x = jnp.asarray(np.arange(layout.size).reshape(layout.dims) % 100).astype(dtype)
    wanted = np.full(layout.physical_size, fill, x.dtype)
    wanted[table[held]] = np.asarray(x)[held]
    memory = traced(r, lambda x: layout.pack(x, fill=fill), [x])
    if not same(memory, wanted):
        return f"{layout!r}.pack of {dtype} is {memory}, not {wanted}"
    back = traced(r, lambda m: layout.unpack(m, fill=fill), [memory])
    if not same(back, np.where(held, np.asarray(x), np.asarray(fill, x.dtype))):
        return f"{layout!r}.unpack of {dtype} is {back}"
    weights = np.arange(layout.physical_size, dtype=np.float32)
    slope = jax.grad(lambda x: (layout.pack(x) * weights).sum())(jnp.zeros(layout.dims))
    if not same(slope, np.where(held, table, 0)):
        return f"the gradient of {layout!r}.pack is {slope}"
    return ""


def wrong_blocks(r, layout, table):
    """Programs of Pallas that take blocks in an order, and gather within them."""
    if len(layout.dims) != 2 or layout.physical_size > 100 or (table < 0).any():
        return ""
    down, across = r.randint(1, 3), r.randint(1, 3)
    order = r.choice(
        [Row(down, across), Col(down, across), catalogue["triton.grouped"](down, across, 2)]
    )
    size = layout.physical_size
    x = np.arange(down * across * size, dtype=np.int32).reshape(down, across, size) * 7 % 1009

    def kernel(x, y):
        i, j = (jnp.arange(n, dtype=jnp.int32) for n in layout.dims)
        y[...] = x[0, 0, :][layout[i[:, None], j[None, :]]][None, None] + pl.program_id(0)

    found = pl.pallas_call(
        kernel, jax.ShapeDtypeStruct((down, across, *layout.dims), np.int32), grid=(down * across,),
        in_specs=[pl.BlockSpec((1, 1, size), lambda p: (*order.inv(p), 0))],
        out_specs=pl.BlockSpec((1, 1, *layout.dims), lambda p: (*order.inv(p), 0, 0)), interpret=True,
    )(x)  # fmt: skip
    programs = reference.apply(order, [*np.indices(order.dims)])
    wanted = x[:, :, table] + np.asarray(programs)[:, :, None, None]
    return (
        ""
        if same(found, wanted)
        else f"{layout!r} in blocks by {order!r} gives {found}, not {wanted}"
    )


def judged(seed):
    """What is wrong with a layout, or ""."""
    r = random.Random(seed)
    layout = any_layout(r)
    table = np.broadcast_to(
        np.asarray(reference.apply(layout, [*np.indices(layout.dims)])), layout.dims
    )
    ways = (wrong_positions, wrong_bounds, wrong_inverse, wrong_moves, wrong_blocks)
    return next(filter(None, (way(r, layout, table) for way in ways)), "")


def main(first, end):
    right = 0
    for seed in range(int(first), int(end)):
        try:
            wrong = judged(seed)
        except (LegoError, TypeError, ValueError, OverflowError) as error:
            wrong = f"{type(error).__name__}: {error}"
        right += not wrong
        if wrong:
            print(f"seed {seed}: {wrong}")
    print("jax", right, "right")


if __name__ == "__main__":
    main(*sys.argv[1:])
