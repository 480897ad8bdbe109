"""What a run did, as its sandbox saw it, beside what its assessment had foreseen."""
