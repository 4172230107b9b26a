"""The server, as MCP clients meet it."""
