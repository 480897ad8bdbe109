"""What surrounds the code of a request: network, packages, and the programs that come with these."""
