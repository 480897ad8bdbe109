"""Following JavaScript programs."""
