"""The path of one request."""
