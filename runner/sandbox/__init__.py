"""The sandboxes in which approved code runs."""
