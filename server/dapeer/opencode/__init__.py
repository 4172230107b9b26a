"""OpenCode: its server's HTTP interface, and the prompts and tools that run there."""
