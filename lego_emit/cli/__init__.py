"""The command line, lego-emit: a file for each command."""

from .build import build
from .cases import golden
from .certificates import check_certificate
from .copying import copy, pack, unpack
from .device import bench, calibrate, verify_unit
from .generate import generate
from .init import init
from .kernels import render
from .layouts import compare, show
from .movement import conflicts
from .recognition import recognize
from .root import main
from .targets import targets

__all__ = [
    "bench", "build", "calibrate", "check_certificate", "compare", "conflicts", "copy", "generate", "golden", "init", "main", "pack", "recognize",
    "render", "show", "targets", "unpack", "verify_unit",
]  # fmt: skip
