"""The sessions of programs, and the debugger that holds them: everything that acts."""
