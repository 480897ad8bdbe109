"""Values that the other packages exchange; they import nothing else of Assent."""
