"""Follows shell scripts."""
