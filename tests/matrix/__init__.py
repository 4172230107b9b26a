"""The same stories over many versions: of the debugged Python, of dapeer's own Python, and of what dapeer uses."""
