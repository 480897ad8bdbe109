"""What `make package-test` hands to these tests."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE, LATER = (Path(name) for name in os.environ.get("ASSENT_PACKAGES", ":").split(":"))
"""The package, and the same of a later version."""
PORTABLE = Path(os.environ.get("ASSENT_PORTABLE", "")).absolute()
"""The folder of the archive, unpacked."""
SUITES = os.environ.get("SUITES", "bookworm").split()
SHOTS = Path(os.environ.get("ASSENT_SHOTS", "build/package-test")).absolute()
HOME = "/home/person"
PATIENCE = 120.0
