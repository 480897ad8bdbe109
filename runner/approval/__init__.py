"""Whoever may answer a request: a person, now or late, or what a person chose before."""
