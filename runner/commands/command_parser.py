"""The parser of the commands of `assent`: each answers for its own arguments."""

from __future__ import annotations

import argparse
from typing import Any


class CommandParser(argparse.ArgumentParser):
    """One that answers for its own arguments.

    argparse itself has what a command does not know reported by the parser of all commands, with the usage of that one.
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Return what it knows; ends with the usage of this command where there is more."""
        known, more = super().parse_known_args(args, namespace)
        if more:
            self.error(f"unrecognized arguments: {' '.join(more)}")
        return known, more
