"""Slow, obvious reference implementations, independent of the package, to compare it with."""
