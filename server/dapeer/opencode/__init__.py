"""OpenCode: its server's HTTP interface, and what runs there."""
