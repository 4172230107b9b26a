"""Programs of our own that are started as processes; dapeer itself imports nothing of them."""
