"""The gateway for agents. This file imports nothing, so that the stdio bridge starts in milliseconds."""
