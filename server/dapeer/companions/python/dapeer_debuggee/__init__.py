"""Modules that run in the debuggee and patch pydevd."""
