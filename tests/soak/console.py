"""`python -m tests.soak.console LOG`: the console on a terminal, with a line in LOG for each run before it starts.

The line is written in place of bubblewrap's start, so what is in LOG was about to run, whatever the ledger says.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from runner.commands.terminal import main
from runner.sandbox.local.run import LocalRun

if TYPE_CHECKING:
    from runner.sandbox.local.child import Child


def note_starts(path: str) -> None:
    """Have every start of this process noted in `path`."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    start = LocalRun._start

    def noted(run: LocalRun, name: str, channel: int) -> Child:
        os.write(log, f"{run._job.id}\n".encode())
        return start(run, name, channel)

    LocalRun._start = noted  # type: ignore[method-assign,assignment]


if __name__ == "__main__":
    note_starts(sys.argv[1])
    sys.exit(main())
