"""From expressions to the cheapest program of equal value."""
