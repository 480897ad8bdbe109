"""The surroundings of a request's code: network, packages, and the programs that come with these."""
