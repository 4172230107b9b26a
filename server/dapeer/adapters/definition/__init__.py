"""A debug adapter's definition file."""
