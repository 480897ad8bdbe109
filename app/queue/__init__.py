"""The queue of requests that wait for an answer."""
