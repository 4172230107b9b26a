"""Test runners."""
