"""Marks for some values of a parameter: the quick run takes the first, or the named ones."""

import pytest

# What one worker does: these tests share what is lowered for each golden case and index type.
every_width = pytest.mark.xdist_group("every width")
# Those that take all golden cases in another way than by a fixture of cases.
golden_lowered = pytest.mark.xdist_group("golden cases")


def marked(value, mark):
    """A value, or a tuple of several parameters' values, with a mark more than it has."""
    if hasattr(value, "marks"):
        return pytest.param(*value.values, marks=[*value.marks, mark])
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=mark)


def rest_slow(values, quick=1):
    """The values, those after the first few marked slow."""
    values = list(values)
    return [*values[:quick], *(marked(v, pytest.mark.slow) for v in values[quick:])]


def some_slow(values, slow):
    """The values, some of them marked slow."""
    return [marked(v, pytest.mark.slow) if v in slow else v for v in values]


def others_slow(values, language):
    """Tuples that begin with a language, those of others marked slow."""
    return [v if v[0] == language else marked(tuple(v), pytest.mark.slow) for v in values]


def some_deep(values, deep):
    """The values, some of them marked deep."""
    return [marked(v, pytest.mark.deep) if v in deep else v for v in values]


def rest_deep(values, normal=1):
    """The values, those after the first few marked deep."""
    values = list(values)
    return [*values[:normal], *(marked(v, pytest.mark.deep) for v in values[normal:])]
