"""What a debug session has told. Pure."""
