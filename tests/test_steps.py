"""tests/steps.py: calls are counted, and what takes too many is ended."""

import sys

import pytest
from steps import at_most


def endless():
    while True:
        len([])


def test_calls_are_counted_in_the_block_alone():
    before = sys.getprofile()
    with at_most(10):
        len([])
    with pytest.raises(AssertionError, match="more than 100 calls: a loop"), at_most(100, "a loop"):
        endless()
    assert sys.getprofile() is before
