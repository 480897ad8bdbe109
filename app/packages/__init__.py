"""Package plans on the screen: which files would be installed, and what is known of each."""
