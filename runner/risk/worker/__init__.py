"""Reading code in processes of their own, with a deadline."""
