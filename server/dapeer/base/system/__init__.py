"""The machine that dapeer runs on: its processes, folders, files and logs."""
