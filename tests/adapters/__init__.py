"""Adapters: definitions, detection, processes."""
