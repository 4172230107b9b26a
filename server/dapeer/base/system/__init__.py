"""The machine that dapeer runs on: its users, processes, folders, logs, and secrets."""
