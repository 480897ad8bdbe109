"""Follows Python programs."""
