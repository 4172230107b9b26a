"""What is shown of a stop."""
