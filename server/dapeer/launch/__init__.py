"""From a request of a caller to a start."""
