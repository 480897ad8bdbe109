"""A server that speaks E2B's API on loopback, its sandboxes in bubblewrap."""
