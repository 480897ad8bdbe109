"""Follows JavaScript programs."""
