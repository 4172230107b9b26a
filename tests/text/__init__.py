"""Texts, cut and fitted."""
