"""How many operations a reader's transcription of Figs. 4 and 5 takes, every equal part made once."""

from lego_emit.algebra.integer_eval import PLAIN


class Counting:
    """An integer that knows how it was made. What any reader leaves out (x + 0, x * 1, x // 1) is
    left out."""

    __lego_symbolic__ = True
    __array_ufunc__ = None

    def __init__(self, key, args=()):
        self.key, self.args = key, args

    def _made(self, name, other):
        return Counting(f"({self.key}{name}{getattr(other, 'key', other)})", (self, other))

    def __add__(self, other):
        return self if is_number(other, 0) else self._made("+", other)

    def __mul__(self, other):
        if is_number(other, 0) or is_number(other, 1):
            return 0 if other == 0 else self
        return self._made("*", other)

    def __sub__(self, other):
        return self if is_number(other, 0) else self._made("-", other)

    def __rsub__(self, other):
        return self._made("r-", other)

    def __floordiv__(self, other):
        return self if is_number(other, 1) else self._made("//", other)

    def __mod__(self, other):
        return 0 if is_number(other, 1) else self._made("%", other)

    def __rfloordiv__(self, other):
        return 0 if is_number(other, 0) else self._made("r//", other)

    def __rmod__(self, other):
        return 0 if is_number(other, 0) else self._made("r%", other)

    __radd__, __rmul__ = __add__, __mul__

    def __divmod__(self, other):
        return self // other, self % other


def is_number(value, number):
    return isinstance(value, int) and value == number


def count(*results):
    seen, stack = set(), list(results)
    while stack:
        value = stack.pop()
        if isinstance(value, Counting) and value.args and value.key not in seen:
            seen.add(value.key)
            stack.extend(value.args)
    return len(seen)


def naive_counts(make, names):
    """(operations of apply, of inv) of the layout that make(**sizes) gives."""
    layout = make(**{n: Counting(n) for n in names})
    indices = tuple(0 if is_number(n, 1) else Counting(f"i{k}") for k, n in enumerate(layout.dims))
    forward = count(layout.forward(PLAIN, indices))
    return forward, count(*layout.backward(PLAIN, Counting("flat")))
