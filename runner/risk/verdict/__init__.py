"""Says in one sentence what a request would do, from what following its code has found."""
