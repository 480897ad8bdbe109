"""Danger in disguise, made by construction: deeds, and steps that rewrite a program so that it still means the same."""
