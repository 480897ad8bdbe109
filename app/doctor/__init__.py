"""The doctor: what works here, what does not, and the fix."""
