"""Collected rows: how they are kept, shown and compared."""
