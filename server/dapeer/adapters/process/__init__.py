"""The process of a debug adapter: its start, its messages, its end."""
