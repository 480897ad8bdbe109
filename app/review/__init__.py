"""Review: exactly what would run, what is known about it, and the two answers."""
