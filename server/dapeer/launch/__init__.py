"""From what a caller asks for to what is started."""
