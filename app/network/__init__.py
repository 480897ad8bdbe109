"""Hosts on the screen: which may be reached, and which a run tried to reach."""
