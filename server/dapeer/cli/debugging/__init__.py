"""Debugging by commands: each calls a tool of the project's server."""
