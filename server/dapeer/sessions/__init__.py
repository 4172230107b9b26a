"""Who acts: the sessions of programs, and the debugger that holds them."""
