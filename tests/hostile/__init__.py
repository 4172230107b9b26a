"""Attacks on a running server, and one judge of what becomes of it. `python -m tests.hostile --help` tells more."""
