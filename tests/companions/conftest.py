"""Companions are started as adapters are."""

from tests.adapters.conftest import reaper

__all__ = ["reaper"]
