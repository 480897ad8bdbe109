"""Changes that runs made among the files of kept sandboxes, and the way back."""
