"""Tests with a real OpenCode server."""
