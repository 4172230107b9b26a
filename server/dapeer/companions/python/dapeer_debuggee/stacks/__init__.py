"""Stacks of threads and tasks, and what those wait for."""
