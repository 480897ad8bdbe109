"""What is removed from the history by rule or by order, and what is cleared away after it."""
