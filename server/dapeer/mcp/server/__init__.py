"""What a client gets: tools, resources, prompts."""
