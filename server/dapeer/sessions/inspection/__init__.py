"""What is known of a stopped program: fetched once, whoever asks."""
