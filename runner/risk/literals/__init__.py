"""Which literals of a program can only be data, so that two programs differ in nothing but these."""
