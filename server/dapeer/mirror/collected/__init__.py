"""The rows that a program's processes collect. Pure."""
