"""Worker processes that parse code, with a deadline."""
