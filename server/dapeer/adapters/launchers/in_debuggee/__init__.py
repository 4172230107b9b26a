"""What runs in the debuggee, beside pydevd."""
