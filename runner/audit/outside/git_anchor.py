"""Signed heads as commits of a git repository; git runs no hook and nothing else that the repository names."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from runner.audit.outside.outside import SignedHead
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BRANCH = "refs/heads/assent-heads"
SECONDS = 20.0
"""Time limit of one call of git."""
FILE = "head.json"
_QUIET = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false"),
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "log.showSignature=false"),
    # A repository may fetch what it lacks, by a program that its configuration names.
    *("-c", "protocol.allow=never"),
    *("-c", "user.name=Assent", "-c", "user.email=assent@localhost"),
)
_NOBODYS = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}


class GitAnchor:
    """A branch of its own, one commit for each head. Neither the index nor the files of the repository are touched."""

    every = 60.0

    def __init__(self, repository: Path) -> None:
        self._repository = repository

    @property
    def where(self) -> str:
        return f"the branch assent-heads of {self._repository}"

    def note(self, head: SignedHead) -> None:
        before = self._tip()
        blob = self._git("hash-object", "-w", "--no-filters", "--stdin", given=f"{head.line}\n")
        tree = self._git("mktree", given=f"100644 blob {blob}\t{FILE}\n")
        message = f"Note entry {head.seq} of history {head.ledger[:12]}\n\n{head.line}\n"
        parent = ("-p", before) if before else ()
        commit = self._git("commit-tree", "--no-gpg-sign", tree, *parent, given=message)
        # Fails where somebody has moved the branch meanwhile: the next head is the next attempt.
        self._git("update-ref", "-m", "note a head", BRANCH, commit, before or "0" * len(commit))

    def heads(self) -> Iterator[SignedHead | None]:
        if not self._tip():
            raise KnownError(
                f"There are no heads in {self.where}.",
                "They begin with the next signed head. If there were some, somebody removed the branch.",
            )
        for line in self._lines("log", "--reverse", "--no-show-signature", "--format=%b", BRANCH):
            if line.strip():
                yield SignedHead.read(line)

    def _tip(self) -> str:
        return self._git("for-each-ref", "--format=%(objectname)", BRANCH)

    def _git(self, *arguments: str, given: str = "") -> str:
        try:
            done = subprocess.run(
                self._command(arguments),
                input=given.encode(),
                capture_output=True,
                timeout=SECONDS,
                env=self._environment(),
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise self._failed(str(error)) from error
        if done.returncode:
            raise self._failed(
                done.stderr.decode("utf-8", "replace").strip()[:300] or f"git ended with {done.returncode}"
            )
        return done.stdout.decode("ascii", "replace").strip()

    def _lines(self, *arguments: str) -> Iterator[str]:
        """Yield what git prints, line by line: there may be a commit for each minute of years."""
        try:
            with subprocess.Popen(
                self._command(arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment(),
            ) as process:
                assert process.stdout is not None
                try:
                    for line in process.stdout:
                        yield line.decode("ascii", "replace")
                finally:
                    process.kill()
        except OSError as error:
            raise self._failed(str(error)) from error

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return ["git", "-C", str(self._repository), "--no-replace-objects", *_QUIET, *arguments]

    @staticmethod
    def _environment() -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return {**kept, **_NOBODYS}

    def _failed(self, why: str) -> KnownError:
        what = f"The end of the history cannot be noted in {self.where}: {why}"
        return KnownError(what.rstrip(".") + ".", "Check that the folder is a git repository of yours.")
