"""Secrets: which texts and files hold them, and how they are masked."""
