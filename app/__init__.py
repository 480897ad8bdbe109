"""The window around the engine: Qt lives here and nowhere else."""
