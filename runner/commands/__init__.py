"""What a person types: the subcommands of `assent`."""
