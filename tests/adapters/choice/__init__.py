"""Which adapter is for what."""
