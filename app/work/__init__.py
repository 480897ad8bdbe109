"""Programs at work over a copy of a project, what they changed, and what of that is applied."""
