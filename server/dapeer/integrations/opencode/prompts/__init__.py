"""Prompts of OpenCode sessions, each from its start to its result, or to what OpenCode asks."""
