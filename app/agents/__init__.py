"""The agents that may connect: adding, revoking, and what to paste into their programs."""
