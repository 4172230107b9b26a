"""What a session has told, without a session."""
