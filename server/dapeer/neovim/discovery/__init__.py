"""Which Neovims there are."""
