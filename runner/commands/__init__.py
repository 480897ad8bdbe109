"""The subcommands of `assent`."""
