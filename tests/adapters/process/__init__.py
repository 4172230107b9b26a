"""Adapters as processes, and what they say."""
