"""The effects of shell commands."""
