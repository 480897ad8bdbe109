"""Following shell scripts."""
