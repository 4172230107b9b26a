"""What is sent to a program while a caller waits: `trigger` reads it, `runs` does it."""
