"""The behaviour of a run as its sandbox saw it, beside what its assessment had foreseen."""
