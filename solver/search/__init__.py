"""What the kernels share, as headers for ``cimport``: card sets, the transposition table, the clock and stop flag."""
