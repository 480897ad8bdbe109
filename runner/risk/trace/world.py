"""The protocols by which a followed program reaches its environment: files, processes, code in other languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.risk.model.acts import Act, Place
    from runner.risk.model.value import Value


class FollowedProgram(Protocol):
    """A program that can run a text as a part of itself (`exec`, `eval`)."""

    language: str

    def inner(self, code: str) -> Value:
        """Go through `code` in the scope where the program stands."""


class Script(Protocol):
    """A shell script that can run a text as a script inside itself."""

    def inner(self, code: str, arguments: Sequence[Value], stdin: Value) -> Value:
        """Go through `code` with arguments of its own."""


class ShellCaller(Protocol):
    """A command of a shell script that runs a text as a script: `bash -c`, `eval`."""

    @property
    def name(self) -> str: ...

    @property
    def place(self) -> Place: ...

    @property
    def shell(self) -> Script: ...


class World(Protocol):
    """What happens outside of the program that is followed. `nested.Nested` implements it."""

    escapes: bool
    """Whether the code has literals whose letters are written as numbers."""
    variables: dict[str, Value]
    """What the program, or whoever started it, has put into its environment."""
    mentions: Callable[[str], bool] | None
    """What to look for in texts, when it is anywhere in the code."""

    def mentioned(self, known: str, place: Place) -> None:
        """Note a text of the program that is enough by itself."""

    def written_out(self, source: str, place: Place) -> None:
        """Note a literal whose letters are written as numbers; `source` is how it stands in the code."""

    def printed(self, value: Value) -> None:
        """Note a line that the program prints."""

    def handed(
        self, name: str, values: Sequence[Value], labels: frozenset[str], place: Place, *, python: bool = False
    ) -> None:
        """Note what a call of `name`, which is not known, is given: places of the person's, and secrets."""

    def handed_to_program(self, name: str, values: Sequence[Value], code: Sequence[Value], place: Place) -> None:
        """Note what a program of which nothing is known is given; '' is one that only the run decides about.

        `code` are the texts among it that may be code to it.
        """

    def done(self, act: Act) -> frozenset[str]:
        """Follow up an act just done; return labels for what it gives."""

    def origin(self, path: Value) -> frozenset[str]:
        """Return the labels of what the program has written to `path`."""

    def content(self, path: Value) -> Value:
        """Return what the program has written to `path`, where that is known."""

    def started(self, path: Value, labels: frozenset[str], place: Place, language: str = "") -> None:
        """Follow a program file that is started, by its name or by the interpreter of `language`."""

    def shell_text(self, command: ShellCaller, code: Value, arguments: Sequence[Value], stdin: Value) -> Value:
        """Follow a script inside a script; return what it prints."""

    def executed(self, program: FollowedProgram, act: Act, code: Value) -> Value:
        """Follow code that runs where it stands, in the program that holds it; return its value."""
