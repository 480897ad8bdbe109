"""Who is known: agents and their tokens, and the keys of this installation."""
