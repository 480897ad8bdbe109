"""Code and output as text: fast views, their painting, search, selection and copies."""
