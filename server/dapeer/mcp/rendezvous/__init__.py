"""How a client finds the server of its Neovim or project."""
