"""Inputs of code besides its text: standard input, variables, modules, and the files of a kept sandbox."""
