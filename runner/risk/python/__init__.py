"""Following Python programs."""
