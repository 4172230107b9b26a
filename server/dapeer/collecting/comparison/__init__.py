"""Where two runs part that have collected the same. Pure."""
