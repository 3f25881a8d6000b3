"""Layouts inside people's Python kernels: jit() rewrites a function, assume() says what holds in it."""

from .decorating import jit as jit
from .saying import assume as assume
