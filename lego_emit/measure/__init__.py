"""Timing of emitted code against others."""
