"""Text for a reader, cut to the room that there is. Pure."""
