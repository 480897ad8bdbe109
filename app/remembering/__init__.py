"""What is remembered and what the rules say: made beside Approve, listed and revoked on a page of its own."""
