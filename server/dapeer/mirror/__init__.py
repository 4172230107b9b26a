"""The state of a debug session, from its messages. Pure."""
