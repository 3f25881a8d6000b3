"""A Python function followed with symbols; layouts on symbols."""
