"""Runs code in containers: a small client of the engine's API, and the one sandbox for gVisor and Docker."""
