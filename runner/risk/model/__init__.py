"""What is known of values and acts in code before it runs."""
