"""Mutation testing: small faults put into the generator, and whether the tests see them."""
