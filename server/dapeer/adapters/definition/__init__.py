"""What a definition file says of a debug adapter."""
