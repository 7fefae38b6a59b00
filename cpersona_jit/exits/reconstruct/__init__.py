"""Reconstruction: recall items whose every claim points to a stored row."""
