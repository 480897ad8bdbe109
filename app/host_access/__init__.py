"""Hosts that a run was refused, and the two words of a person that let it reach one."""
