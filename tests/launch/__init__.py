"""What is started, and how."""
