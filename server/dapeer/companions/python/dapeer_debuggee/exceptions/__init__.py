"""Exceptions: which stop the program, and what belongs to them."""
