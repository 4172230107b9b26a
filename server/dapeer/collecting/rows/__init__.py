"""The rows that a program has collected: how they come, and how they are kept. Pure."""
