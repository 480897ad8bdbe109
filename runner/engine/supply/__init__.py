"""Network and packages for runs."""
