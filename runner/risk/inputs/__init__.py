"""What code gets beside its text: input, variables, modules, and the files of a kept sandbox."""
