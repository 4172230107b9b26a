"""What became of breakpoints, and of changes to sessions; `broadcast` and `in_memory` also send."""
