"""Judgement of whether a program can run a text that it reads: one for each language."""
