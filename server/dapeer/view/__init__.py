"""What a person looks at: a stop, a list, a value, as data and as text. Pure but for source files."""
