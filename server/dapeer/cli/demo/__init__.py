"""`dapeer demo`: stories that real components play."""
