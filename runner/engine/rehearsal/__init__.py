"""Code that runs while its question is open: rehearsals and trials."""
