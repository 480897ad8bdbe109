"""These tests install the package in bare systems; `make package-test` builds it and runs them."""

from __future__ import annotations

import os

if "ASSENT_PACKAGES" not in os.environ:
    collect_ignore_glob = ["test_*.py"]
