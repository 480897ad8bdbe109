"""The test for a program that was read whole, and what could not be read of one that was not."""
