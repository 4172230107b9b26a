"""The reaper of what dapeer has started, and the start of a program in a terminal."""
