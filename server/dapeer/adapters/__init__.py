"""Debug adapters: their definitions, finding installed ones, starting and ending them."""
