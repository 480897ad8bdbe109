"""The program with which a container sandbox is tried: it has to see the files of a folder as `ls -l` shows them.

gVisor from before 2024 runs Python and Node.js and fails in that: it refuses the statx(2) of current coreutils.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from runner.model.language_support import LANGUAGES
from runner.model.request import Isolation, Language

if TYPE_CHECKING:
    from runner.model.result import Result

SINCE = 2024
"""Year of the first runsc in which `ls -l` and `stat` of coreutils 9 work: those before refuse their statx(2)."""
TOO_OLD = f"is too old: `ls -l` and `stat` fail in gVisor from before {SINCE}"
"""What is said of such a program; Doctor knows it by these words."""
GET = f"Install the package runsc of {SINCE} or later, or get it with: assent images --gvisor"
BLIND_STATUS = 87
"""Exit code where `ls` or `stat` fails."""
LOOK = (
    "command -v ls >/dev/null && command -v stat >/dev/null || exit 0; "
    f": >trial && ls -la . >/dev/null && stat trial >/dev/null || exit {BLIND_STATUS}"
)
"""An image that lacks these programs has nothing that could fail."""
REGISTER = (
    f"Register a runsc of {SINCE} or later with the container engine (runsc install), then have it read its "
    "configuration again. One is got with: assent images --gvisor"
)
CODE = {
    Language.PYTHON: "import shutil, subprocess, sys\n"
    f"sys.exit(subprocess.run(['sh', '-c', {LOOK!r}]).returncode if shutil.which('sh') else 0)\n",
    Language.JAVASCRIPT: "const { spawnSync } = require('node:child_process');\n"
    f"process.exit(spawnSync('sh', ['-c', {json.dumps(LOOK)}], {{ stdio: 'inherit' }}).status ?? 0);\n",
    Language.SHELL: LOOK,
}


def code(language: Language) -> str:
    """Return the program for a container in which `language` runs; of one that is compiled, one that does nothing."""
    return CODE.get(language) or LANGUAGES[language].idle


def problem(isolation: Isolation, result: Result) -> tuple[str, str]:
    """Return why a trial that was not OK shows that a sandbox does not work, and what to do."""
    if result.exit_code == BLIND_STATUS and isolation.is_gvisor:
        return f"The gVisor that is here {TOO_OLD}.", GET if isolation is Isolation.GVISOR_DIRECT else REGISTER
    why = "`ls -l` and `stat` fail in it" if result.exit_code == BLIND_STATUS else str(result.error)
    return f"The {isolation.value} sandbox does not work here: {why}.", "Set SANDBOX_TYPE=local."
