"""Values and acts in code, as known before it runs."""
