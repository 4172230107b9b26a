"""Tests as programs, in every language."""
