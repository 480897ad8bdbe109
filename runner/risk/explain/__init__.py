"""Reasons for a request's class, in words; what was foreseen of it; what a person holds for misjudged."""
