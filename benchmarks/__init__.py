"""Measures of speed; not part of the package."""
