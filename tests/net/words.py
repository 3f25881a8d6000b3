"""What a case's text may use: the public names and families of GenP; one text over symbols for
lego_emit, over ints for the reference."""

from collections import namedtuple
from functools import partial
from itertools import product

import lego_emit
from lego_emit import GenP, isqrt
from lego_emit.algebra.masked import Padded

# -- families of GenP ----------------------------------------------------------------------------


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
        line = (isqrt(8 * flat + 1) - 1) // 2
        i = flat - line * (line + 1) // 2
        return i, line - i
    rest = n * n - 1 - flat
    line = (isqrt(8 * rest + 1) - 1) // 2
    i = rest - line * (line + 1) // 2
    return n - 1 - i, n - 1 - (line - i)


def rotate(n, m, i, j):
    return i * m + (i + j) % m


def rotate_inv(n, m, flat):
    return flat // m, (flat % m - flat // m) % m


def shift(n, by, i):
    return (i + by) % n


def shift_inv(n, by, flat):
    return (flat - by) % n


def fold(n, i):
    """The even positions upwards, the odd ones back."""
    return 2 * i if 2 * i < n else 2 * (n - 1 - i) + 1


def fold_inv(n, flat):
    if flat % 2 == 0:
        return flat // 2
    return n - 1 - flat // 2


def snake(n, m, i, j):
    if i % 2:
        return i * m + m - 1 - j
    return i * m + j


def snake_inv(n, m, flat):
    i, j = flat // m, flat % m
    return i, (m - 1 - j if i % 2 else j)


def xor(n, m, i, j):
    """m is a power of two."""
    return i * m + (j ^ i % m)


def xor_inv(n, m, flat):
    return flat // m, flat % m ^ flat // m % m


def morton(bits, i, j):
    flat = 0
    for k in range(bits):
        flat |= (j >> k & 1) << 2 * k | (i >> k & 1) << 2 * k + 1
    return flat


def morton_inv(bits, flat):
    i = j = 0
    for k in range(bits):
        j |= (flat >> 2 * k & 1) << k
        i |= (flat >> 2 * k + 1 & 1) << k
    return i, j


class Trusted(GenP):
    """A GenP that the reference need not check at every size: a family's."""

    is_concrete = False


def families(GenP):
    """The families by name."""

    def Reversal(*dims):
        return GenP(dims, partial(reverse, dims), partial(reverse_inv, dims))

    def Antidiagonal(n, _):
        return GenP([n, n], partial(antidiagonal, n), partial(antidiagonal_inv, n))

    def Rotation(n, m):
        return GenP([n, m], partial(rotate, n, m), partial(rotate_inv, n, m))

    def Shift(n, by):
        return GenP([n], partial(shift, n, by), partial(shift_inv, n, by))

    def Fold(n):
        return GenP([n], partial(fold, n), partial(fold_inv, n))

    def Snake(n, m):
        return GenP([n, m], partial(snake, n, m), partial(snake_inv, n, m))

    def Xor(n, m):
        return GenP([n, m], partial(xor, n, m), partial(xor_inv, n, m))

    def Morton(n, _):
        bits = n.bit_length() - 1
        return GenP([n, n], partial(morton, bits), partial(morton_inv, bits))

    found = (Reversal, Antidiagonal, Rotation, Shift, Fold, Snake, Xor, Morton)
    return {f.__name__: f for f in found}


def sympy_symbols(names):
    import sympy

    return sympy.symbols(names, integer=True)


# Plain functions, the same objects in every call; the last few make no bijection.


def pair(i):
    return i ^ 1


def swizzle(i, j):
    return i * 8 + (j ^ i % 8)


def swizzle_inv(flat):
    return flat // 8, flat % 8 ^ flat // 8 % 8


def same(i):
    return i


def double(i):
    return i * 2


def half(i):
    return i // 2


def one_more(i):
    return i + 1


def one_less(i):
    return i - 1


def third(i):
    return i % 3


PLAIN = {
    f.__name__: f
    for f in (pair, swizzle, swizzle_inv, same, double, half, one_more, one_less, third)
}

WORDS = {
    **{
        name: getattr(lego_emit, name)
        for name in (
            *("Col", "ExpandBy", "GenP", "GroupBy", "OrderBy", "RegP", "Row", "TileBy"),
            *("Strided", "Linear", "Lookup", "cute", "fori_loop"),
        )
    },
    "Padded": Padded,
    "isqrt": isqrt,
    "Pair": namedtuple("Pair", "x y"),
    "symbols": lego_emit.symbols,
    "sympy_symbols": sympy_symbols,
    **families(GenP),
    **PLAIN,
}
REFERENCE = {**WORDS, **families(Trusted)}


def build(text, **values):
    """The layout that a text says, over ints or symbols."""
    return eval(text, {**WORDS, **values})


def indices(dims):
    """All of them."""
    return product(*map(range, dims))
