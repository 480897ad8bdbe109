"""Policy: the person's rules and grants, applied to the classifier's assessment of a request."""
