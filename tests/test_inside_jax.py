"""Layouts in functions that JAX traces, without a decorator, and in Pallas' index maps."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from lego_emit import Col, Row, Strided, TileBy, catalogue
from lego_emit.errors import LayoutError, WidthError

# JAX takes a second to import: one worker does, with the first test.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("jax")]
RNG = np.random.default_rng(1)

A, B, C = (TileBy([3, 2], [4, 8]).OrderBy(Row(12, 16)), TileBy([2, 5], [8, 2]).OrderBy(Row(16, 10)),
           TileBy([3, 5], [4, 2]).OrderBy(Row(12, 10)))  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def imported():
    global jax, jnp
    jax = pytest.importorskip("jax")
    jnp = jax.numpy


def add(x, y):
    i = jnp.arange(35)
    return jnp.zeros(35, x.dtype).at[Col(5, 7)[*Row(5, 7).inv(i)]].set(x[i] + y[i])


def transposed(x):
    i, j = Row(7, 5).inv(jnp.arange(35))
    return x[Row(5, 7)[j, i]]


def product(a, b):
    """A matrix product, tile by tile, of flat memories."""

    def tile(pid):
        p, q = Row(3, 5).inv(pid)
        parts = [a[A[p, k, :, :]] @ b[B[k, q, :, :]] for k in range(2)]
        return C[p, q, :, :], sum(parts)

    places, values = jax.vmap(tile)(jnp.arange(15))
    return jnp.zeros(120, a.dtype).at[places].set(values)


def test_addition():
    x, y = RNG.random((2, 35), np.float32)
    wanted = (x + y).reshape(5, 7).ravel("F")
    assert np.array_equal(add(jnp.asarray(x), jnp.asarray(y)), wanted)
    assert np.array_equal(jax.jit(add)(x, y), wanted)


def test_transposition_and_its_gradient():
    x = RNG.random((4, 35), np.float32)
    wanted = np.array([one.reshape(5, 7).T.ravel() for one in x])
    assert np.array_equal(jax.jit(jax.vmap(transposed))(x), wanted)
    weights = jnp.arange(35, dtype=jnp.float32)
    found = jax.grad(lambda x: transposed(x) @ weights)(x[0])
    assert np.array_equal(found, np.arange(35).reshape(7, 5).T.ravel())


@pytest.mark.deep
def test_a_product_of_tiles():
    a, b = RNG.random((12, 16), np.float32), RNG.random((16, 10), np.float32)
    found = jax.jit(product)(a.ravel(), b.ravel())
    assert np.allclose(found.reshape(12, 10), a @ b, rtol=1e-5)
    by_a = jax.grad(lambda a: product(a, jnp.asarray(b.ravel())).sum())(a.ravel())
    assert np.allclose(by_a.reshape(12, 16), np.broadcast_to(b.sum(axis=1), (12, 16)), rtol=1e-5)


@pytest.mark.parametrize("order", [catalogue["triton.grouped"](4, 3, 2), Col(4, 3)])
def test_a_pallas_index_map(order):
    from jax.experimental import pallas as pl

    x = RNG.random((32, 24), np.float32)

    def kernel(x, y):
        y[...] = 2 * x[...] + pl.program_id(0)

    block = pl.BlockSpec((8, 8), lambda pid: order.inv(pid))
    found = pl.pallas_call(
        kernel, jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(12,), in_specs=[block], out_specs=block,
        interpret=True,
    )(x)  # fmt: skip
    wanted = np.empty_like(x)
    for pid in range(12):
        p, q = order.inv(pid)
        tile = np.s_[8 * p : 8 * p + 8, 8 * q : 8 * q + 8]
        wanted[tile] = 2 * x[tile] + pid
    assert np.allclose(found, wanted, rtol=1e-6)


def test_positions_are_those_of_integers():
    for layout in (A, B, C, catalogue["triton.grouped"](4, 3, 2)):
        index = [g.ravel() for g in np.meshgrid(*map(np.arange, layout.dims), indexing="ij")]
        at = jax.jit(lambda *i, layout=layout: layout[i])(*index)
        assert np.array_equal(at, [layout.apply(*map(int, i)) for i in zip(*index, strict=True)])
        back = jax.jit(partial(layout.inv))(at)
        for found, wanted in zip(back, index, strict=True):
            assert np.array_equal(found, wanted)


def test_bounds_beyond_what_an_index_s_type_holds():
    for dtype, most in (("int8", 127), ("uint8", 255)):
        index = jnp.asarray([0, 40, 100, most], dtype)
        for size, wanted in ((300, [1, 1, 1, 1]), (101, [1, 1, 1, 0]), (3 * 10**9, [1, 1, 1, 1])):
            assert Row(size).in_bounds(index).tolist() == wanted
            assert jax.jit(Row(size).in_bounds)(index).tolist() == wanted
        with pytest.raises(WidthError, match="':' stands for 300 numbers up to 299"):
            Row(4, 300).in_bounds(index, ":")


def test_what_fills_is_an_element():
    pitched, x = Strided((3, 4), (8, 1)), jnp.ones((3, 4), jnp.uint8)
    for fill in (300, 1.5, None, 1j, jnp.arange(20)):
        with pytest.raises(LayoutError, match="no element of an array of uint8"):
            pitched.pack(x, fill=fill)
    assert jax.jit(lambda fill: pitched.pack(x, fill=fill))(7)[4] == 7


@pytest.mark.deep
def test_random_layouts():
    random_jax = Path(__file__).parent / "inside" / "random_jax.py"
    done = subprocess.run(
        [sys.executable, random_jax, "0", "8"],  # random_jax.py 8 1000 judges more
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "XLA_FLAGS": "--xla_backend_optimization_level=0",  # each function runs once
        },
    )
    assert done.stdout == "jax 8 right\n", done.stdout + done.stderr
