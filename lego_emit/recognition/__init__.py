"""Which layout makes a table? recognize() tries the families, the smallest first."""

from .recognize import Recognized, recognize

__all__ = ["Recognized", "recognize"]
