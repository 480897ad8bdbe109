"""Where approved code runs."""
