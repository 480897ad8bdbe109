"""Literals of a program that can only be data, so that two programs differ in nothing but these."""
