"""Check what changed, for every save: style, types, the classifier's figures, and the tests that are nearest to it.

    python -m tests.quick [COMMIT]

What changed is what differs from COMMIT, without it from where this branch left `main`; what is not committed counts.
It ends within a minute: what is too far away, or comes when the time is up, is counted and left to `make test`. A
check that is not through by then fails, as the first one of mypy in a new checkout may: what it has read is kept.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.quick.on_time import ENDS, ORDER
from tests.quick.touched import Touched, touched

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 40.0
"""After which no test is begun, so that the last ones end within the minute."""
GRACE = 15.0
"""Seconds after those, for what has begun."""
MOST_FILES = 40
"""To be read by pytest, which takes half a second for some."""
FEW = 4
"""Files that one process is through with before a second one has started."""
DRIFT = ("runner/risk/", "resources/rules/", "tests/risk/drift")


def main(arguments: list[str]) -> int:
    ends = time.monotonic() + SECONDS
    changed = changes(arguments[0] if arguments else None)
    commands = [["ruff", "check", "-q", "."], ["ruff", "format", "-q", "--check", "."], ["mypy"]]
    if any(file.startswith(DRIFT) for file in changed):
        commands.append([sys.executable, "-m", "tests.risk.drift"])
    checks = [subprocess.Popen([str(Path(sys.executable).parent / command[0]), *command[1:]]) for command in commands]
    near = touched(changed, modules())
    failed = tested(near, ends) if near else 0
    if not near:
        print(f"No test is near to {', '.join(changed) or 'what changed, which is nothing'}.")
    return max(failed, *(ended(check, ends + GRACE) for check in checks))


def ended(check: subprocess.Popen[bytes], by: float) -> int:
    """Return the exit status of a check, which is stopped and fails where it is not through in time."""
    try:
        return abs(check.wait(max(0.0, by - time.monotonic())))
    except subprocess.TimeoutExpired:
        check.kill()
        check.wait()
        print(f"Not through within a minute: {check.args!r}. Run it again, or make lint, which waits for it.")
        return 1


def tested(near: list[Touched], ends: float) -> int:
    """Run the nearest tests and return the exit status."""
    files = [one.file for one in near[:MOST_FILES]]
    if left := len(near) - len(files):
        print(f"{left} more files of tests are near, from {near[MOST_FILES].file} on; make test runs them.")
    environment = os.environ | {ENDS: str(ends), ORDER: ":".join(files)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.quick.on_time", *files]
    if len(files) > FEW:
        command += ["-n", "2"]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def changes(since: str | None = None) -> list[str]:
    """Return the files that differ from a commit, those that are new or gone included. Raises CalledProcessError."""
    if since is None:
        found = subprocess.run(["git", "merge-base", "HEAD", "main"], cwd=ROOT, capture_output=True, text=True)
        since = found.stdout.strip() or "HEAD"
    return [*_git("diff", "--name-only", "--no-renames", since), *_git("ls-files", "--others", "--exclude-standard")]


def modules() -> dict[str, str]:
    """Return every module of the project as it is now, by its path."""
    files = _git("ls-files", "--cached", "--others", "--exclude-standard", "*.py")
    return {file: (ROOT / file).read_text("utf-8") for file in files if (ROOT / file).is_file()}


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments, "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
