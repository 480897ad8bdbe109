"""What runs in kept sandboxes changed among their files, and the way back."""
