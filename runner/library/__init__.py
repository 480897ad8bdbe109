"""The public Python API: single runs, sandboxes that are kept, and runners by security level."""
