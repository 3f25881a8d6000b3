"""Builds of whole projects: configuration, manifest, user files."""
