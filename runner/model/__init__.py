"""What travels between the rooms: values that import nothing of ours."""
