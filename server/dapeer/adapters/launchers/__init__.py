"""Programs of our own that are started as processes; nothing here is imported by dapeer."""
