"""The command line, lego-emit."""

from .app import main

__all__ = ["main"]
