"""The benchmark: `uv run python -m tools.bench`."""
