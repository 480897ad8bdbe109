"""The engine: the path of one request, from its arrival to the answer."""
