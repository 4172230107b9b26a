"""Which adapter debugs a program, and whether it is installed."""
