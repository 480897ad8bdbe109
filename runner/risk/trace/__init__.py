"""Follows values through a program and into the code that it starts."""
