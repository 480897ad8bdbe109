"""The sandbox made of processes on this machine."""
