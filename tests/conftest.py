"""Fixtures shared by all tests."""

import os

import pytest

from lego_emit import registry
from lego_emit.errors import ToolchainError

TARGETS = ["cpp", "cuda", "fortran", "glsl", "javascript", "julia", "rust"]


@pytest.fixture(params=TARGETS)
def target(request):
    """Each target in turn, printed only."""
    return request.param


@pytest.fixture(params=TARGETS)
def toolchain(request):
    """Each target whose toolchain this machine has; the others are skipped with the reason, and
    fail under CI."""
    try:
        found = registry.toolchain(request.param)
        found.find()
    except ToolchainError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    return found
