"""gVisor that Assent starts itself: containers without a container engine and without a daemon."""
