"""Programs at work, as the console sees them: what they report, and what a person does with it."""
