"""A program that runs once more: again and again until a run fails, or beside what is debugged."""
