"""A program and its sessions: with an adapter of ours, or with that of a person's editor."""
