"""The gate to the outside: the only way from code in a sandbox to other hosts, and what decides there."""
