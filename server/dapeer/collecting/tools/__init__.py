"""The tools that look further at what was collected."""
