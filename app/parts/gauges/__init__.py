"""Gauges, curves and strips of a run."""
