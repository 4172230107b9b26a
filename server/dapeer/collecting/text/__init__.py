"""Collected rows and calls for a reader: summarised, listed, filtered; as data and as text. Pure."""
