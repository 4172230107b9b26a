"""The relay: a plugin of ours in OpenCode, by which a client calls a tool of OpenCode."""
