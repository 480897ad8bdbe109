"""Identities: agents and their tokens, and the keys of this installation."""
