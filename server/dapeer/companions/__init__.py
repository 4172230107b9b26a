"""Programs of our own that run elsewhere, by language: inside of debuggers, of debugged programs, or as processes beside them."""
