"""Collected rows and calls, as data and as text. Pure."""
