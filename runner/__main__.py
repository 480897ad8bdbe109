"""`python -m runner`: the engine with its questions asked on the terminal, as `assent terminal`."""

from __future__ import annotations

import sys

from runner.commands.terminal import main

if __name__ == "__main__":
    sys.exit(main())
