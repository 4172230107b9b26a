"""Neovim as the IDE of Claude Code: its CLI shows its diffs there, and knows what is selected.

The protocol is MCP over a WebSocket, found by a lock file. It has no specification; what is built here was seen
between Claude Code 2.1.200 and its own IDE extensions, and docs/claude-code.md says it.
"""
