"""The page of a first start: what has to be done once, each step where the person can see what it changes."""
