"""The parser of the commands of `assent`: each answers for its own arguments."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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


class VersionAction(argparse.Action):
    """Prints what `words` returns, and ends. argparse's own action needs the text beforehand, from every command."""

    def __init__(self, option_strings: Sequence[str], dest: str, words: Callable[[], str], **more: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, **more)
        self._words = words

    def __call__(self, parser: argparse.ArgumentParser, *_given: object) -> None:
        sys.stdout.write(f"{self._words()}\n")
        parser.exit()
