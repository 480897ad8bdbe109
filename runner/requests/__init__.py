"""One request: checked and bounded at intake, then its case through the life cycle."""
