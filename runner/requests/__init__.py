"""One request: taken in, bounded, and followed through its life."""
