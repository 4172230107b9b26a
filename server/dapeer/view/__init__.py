"""What is shown: a stop, a list, a value, as data and as text. Pure, except for source files."""
