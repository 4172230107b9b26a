"""The breakpoints that clients set, and how a session sends them."""
