"""`python -m runner`: the engine with its questions asked on the terminal, as `assent terminal`."""

from __future__ import annotations

import sys

from runner.commands.terminal import main
from runner.system.private import close_to_others

if __name__ == "__main__":
    close_to_others()
    sys.exit(main())
