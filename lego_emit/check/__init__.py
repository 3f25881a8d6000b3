"""By what means emitted code is checked, and its explanation."""
