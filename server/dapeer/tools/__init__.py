"""The tools for debugging, one file per subject; `collecting/tools/` has those for rows."""
