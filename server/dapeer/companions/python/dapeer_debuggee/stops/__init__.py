"""Where the program stops: conditions, steps, what is watched, and evaluations there."""
