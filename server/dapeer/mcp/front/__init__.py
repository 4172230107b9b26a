"""Answers a client's first requests before the MCP library is loaded; little of the standard library."""
