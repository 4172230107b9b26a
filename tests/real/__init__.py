"""The gallery: software that nobody here wrote, with a bug put in, debugged as an assistant would.

`uv run python -m tests.real.install` gets the software, pinned; `uv run pytest -m real` drives it.
What a machine cannot have is skipped, and says how to get it.
"""
