"""The classifier: finds what the code of a request would do, by parsing it."""
