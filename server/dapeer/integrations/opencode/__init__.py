"""OpenCode: an agent that dapeer's clients use, and that debugs with dapeer's tools."""
