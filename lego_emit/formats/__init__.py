"""The catalogue: memory layouts of libraries and hardware by name, each with its source."""

from . import cublaslt, onednn
from .entry import Catalogue, Entry, catalogue

__all__ = ["Catalogue", "Entry", "catalogue", "cublaslt", "onednn"]
