"""The first lines of an installed Assent: its own modules before all others, then as in a checkout."""

import sys

sys.path.insert(0, __file__.rpartition("/")[0] + "/app")
sys.argv[0] = "assent"

from app.__main__ import main  # noqa: E402

sys.exit(main())
