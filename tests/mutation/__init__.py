"""Changed copies of the installed debugpy, as its next version may be, and whether dapeer debugs with them."""
