"""Grants and rules: made beside Approve, listed and revoked on a page of its own."""
