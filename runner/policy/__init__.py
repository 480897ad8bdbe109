"""What happens to a request: the person's rules, and how they meet the classifier's verdict."""
