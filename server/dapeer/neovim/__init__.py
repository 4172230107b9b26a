"""Neovim as a peer: found, attached to, and the debug sessions that it holds."""
