"""Tools, resources, prompts and changes, in memory."""
