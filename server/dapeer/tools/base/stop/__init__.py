"""A stop in a tool's answer: what a caller wants of it, how it is waited for, and its text."""
