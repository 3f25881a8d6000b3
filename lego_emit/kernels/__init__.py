"""Whole kernels: templates with placeholders that become index expressions (LEGO, section IV-A)."""

from .render import Rendered, render

__all__ = ["Rendered", "render"]
