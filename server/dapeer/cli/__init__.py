"""The command line: `main` reads it, the other modules are its commands."""
