"""HTTP, stdio and who may use them."""
