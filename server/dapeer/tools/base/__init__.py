"""The common parts of all tools."""
