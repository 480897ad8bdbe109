"""A project's folder as a contained program sees it: a layer over it, what changed in it, and Apply, Undo, Discard."""
