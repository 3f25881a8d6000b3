"""Toolchains that compile and run what was emitted."""
