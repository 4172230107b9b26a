"""Our core at OpenCode servers, whose models debug with our tools."""
