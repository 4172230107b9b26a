"""Sessions: requests, waits, breakpoints."""
