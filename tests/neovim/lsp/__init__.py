"""The tools that ask language servers: ty and ruff, both at once."""
