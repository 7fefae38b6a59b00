"""Benchmarks for asv: every kernel and whole recall, by number of rows.

asv imports this folder as a package of its own, hence the relative imports.
"""
