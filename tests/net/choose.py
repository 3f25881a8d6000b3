"""Random choices that hypothesis can shrink: every one is an integer, and 0 is the simplest."""

from functools import cache

from hypothesis import strategies as st


@cache
def _integers(least, most):
    return st.integers(least, most)


class Choose:
    """draw is a composite strategy's."""

    def __init__(self, draw):
        self.draw = draw

    def number(self, least, most):
        """least is the simplest."""
        return least if least >= most else least + self.draw(_integers(0, most - least))

    def of(self, items):
        """One of several, the first the simplest."""
        return items[self.number(0, len(items) - 1)]

    def chance(self, count, among):
        """True in count of among cases; False is simpler."""
        return self.number(1, among) > among - count

    def weighted(self, *pairs):
        """One of (weight, item), .., the first the simplest."""
        k = self.number(0, sum(w for w, _ in pairs) - 1)
        for weight, item in pairs:
            if k < weight:
                return item
            k -= weight

    def shuffled(self, items):
        """In any order; as they are is the simplest."""
        left, found = list(items), []
        while left:
            found.append(left.pop(self.number(0, len(left) - 1)))
        return found

    def some(self, items, least, most):
        """Some of the items, in their order."""
        count = self.number(least, min(most, len(items)))
        places = self.shuffled(range(len(items)))[:count]
        return [items[k] for k in sorted(places)]


def strategy(make):
    """A strategy of what make(choose) gives."""

    @st.composite
    def made(draw):
        return make(Choose(draw))

    return made()
