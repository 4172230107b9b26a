"""The server: MCP over stdio, HTTP and a unix socket, on top of the tools."""
