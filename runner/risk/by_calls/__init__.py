"""Reads a language by its calls alone: by a grammar, and data on which of them are harmless and which are grave."""
