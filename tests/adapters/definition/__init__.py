"""Definition files."""
