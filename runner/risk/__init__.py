"""The classifier: what the code of a request would do, found by parsing it."""
