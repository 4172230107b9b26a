"""What a client is offered: tools, resources, prompts."""
