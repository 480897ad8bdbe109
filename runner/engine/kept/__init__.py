"""Sandboxes that agents keep, and the states of their files."""
