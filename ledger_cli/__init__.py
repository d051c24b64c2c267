"""Decisions and facts on two time axes, kept as one canonical JSON file in git."""

__version__ = "0.1.0"
