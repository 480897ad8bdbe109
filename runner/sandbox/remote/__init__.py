"""Sandboxes on other machines, by E2B's API."""
