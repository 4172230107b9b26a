"""All programs: what holds them, starts and ends them, and which one a client means."""
