"""Rows that are recorded where the program runs."""
