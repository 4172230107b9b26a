"""Debugging by commands of the command line."""
