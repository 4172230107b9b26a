"""Programs of our own that run elsewhere, by language: in debuggers, in programs, or beside them."""
