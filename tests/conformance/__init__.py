"""The official conformance suite of MCP, run against the server as it is."""
