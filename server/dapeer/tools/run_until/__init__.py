"""The tool that runs a program until something, and the ways to do it."""
