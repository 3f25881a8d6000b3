"""Marks for some values of a parameter: the quick run takes the first, or the named ones."""

import pytest


def rest_slow(values, quick=1):
    """The values, those after the first few marked slow."""
    values = list(values)
    return [*values[:quick], *(pytest.param(v, marks=pytest.mark.slow) for v in values[quick:])]


def some_slow(values, slow):
    """The values, some of them marked slow."""
    return [pytest.param(v, marks=pytest.mark.slow) if v in slow else v for v in values]


def rest_deep(values, normal=1):
    """The values, those after the first few marked deep."""
    values = list(values)
    return [*values[:normal], *(pytest.param(v, marks=pytest.mark.deep) for v in values[normal:])]
