"""The program's process: its children, its end, its speed, its output."""
