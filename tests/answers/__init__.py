"""The page of answers word for word: what `tools.answers` makes is readable and complete."""
