"""Guiñote and its cousins: rules as data, positions, the exact kernel."""
