"""What became of breakpoints, and of changes to several sessions. Pure, except for `broadcast`."""
