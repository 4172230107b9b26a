"""The tools for debugging, one file per subject."""
