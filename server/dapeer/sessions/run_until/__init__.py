"""Runs a program until something, by stops: at a watchpoint, at conditions, or step by step."""
