"""The machine: users, processes, folders, logs."""
