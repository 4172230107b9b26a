"""Answers a client's first requests while the MCP library is not loaded yet; only the standard library, and little of it."""
