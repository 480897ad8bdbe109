"""Whether a program can run a text that it reads: one judgement for each language."""
