"""The tools that start programs, and what a new program inherits."""
