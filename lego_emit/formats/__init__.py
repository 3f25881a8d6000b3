"""The catalogue: memory layouts of libraries and hardware by name, each with its source."""

from . import (
    arrays,
    ascend,
    banks,
    cublaslt,
    curves,
    fragments,
    healpix,
    onednn,
    quda,
    surfaces,
    tenstorrent,
    triton,
    xla,
)
from .entry import Catalogue, Entry, catalogue

__all__ = [
    "Catalogue",
    "Entry",
    "arrays",
    "ascend",
    "banks",
    "catalogue",
    "cublaslt",
    "curves",
    "fragments",
    "healpix",
    "onednn",
    "quda",
    "surfaces",
    "tenstorrent",
    "triton",
    "xla",
]
