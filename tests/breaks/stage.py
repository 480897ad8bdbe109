"""A copy of the checkout in which mends are taken out, and the tests that are run there."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.system.removal import remove

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tests.breaks.book import Break

ROOT = Path(__file__).resolve().parent.parent.parent
TEST_SECONDS = 30
"""For one test without its mend: some of them then never end."""
LONGEST = 240
"""Seconds after which a whole run is ended, where not even that ends a test."""
FROM = "import app, runner, tests; print(*runner.__path__, *app.__path__, *tests.__path__, sep='\\n')"


class Fault(Exception):
    """A break or the copy is wrong, so that nothing can be seen by it."""


@dataclass(frozen=True)
class Run:
    """How the tests went."""

    code: int
    passed: tuple[str, ...] = ()
    red: tuple[str, ...] = ()
    """Failed: what a test asserts, not an error before or after it."""
    errors: tuple[str, ...] = ()
    """Those before or after which something failed."""
    said: str = ""

    def is_green(self, test: str) -> bool:
        """Whether something of `test` passed and nothing of it failed; what this machine lacks may be skipped."""

        def belongs(case: str) -> bool:
            return case == test or case.startswith(f"{test}[")

        return any(map(belongs, self.passed)) and not any(map(belongs, (*self.red, *self.errors)))


class Copy:
    """All files of the checkout in `folder`, with an environment whose modules are the copied ones."""

    def __init__(self, folder: Path) -> None:
        self._root = folder / "checkout"
        self._report = folder / "report.xml"
        self._temporary = folder / "tests"
        """What the tests leave: without a mend that may be what nothing but `remove` can remove."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
            if (ROOT / name).exists():  # not where it was removed and that is not committed yet
                (self._root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self._root / name, follow_symlinks=False)
        self._python = self._environment()
        self._check()

    def _environment(self) -> Path:
        """An interpreter with the packages of this one, and the program of the copy in place of this checkout's."""
        home, here = self._root / ".venv", Path(sys.prefix)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
        packages = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
        for one in Path(sysconfig.get_path("purelib")).iterdir():
            if one.suffix != ".pth":  # one of them names this checkout
                (packages / one.name).symlink_to(one)
        (packages / "copy.pth").write_text(f"{self._root}\n", "utf-8")
        for program in (here / "bin").iterdir():
            there = home / "bin" / program.name
            with contextlib.suppress(UnicodeDecodeError):
                text = program.read_text("utf-8") if program.is_file() else ""
                if text.startswith("#!") and not there.exists():
                    there.write_text(text.replace(str(here), str(home)), "utf-8")
                    there.chmod(0o755)
        return home / "bin" / "python"

    def _check(self) -> None:
        """That programs which are started, also those that heed no variable, take their modules from the copy."""
        done = subprocess.run([self._python, "-I", "-c", FROM], cwd="/", capture_output=True, text=True, check=False)
        found = {Path(line).parent for line in done.stdout.splitlines()}
        if found != {self._root}:
            raise Fault(f"modules do not come from the copy: {sorted(map(str, found))} {done.stderr}")

    @contextlib.contextmanager
    def broken(self, one: Break) -> Iterator[None]:
        """The copy without the mend of `one`."""
        path = self._root / one.file
        whole = path.read_text("utf-8")
        try:
            text = one.without_mend(whole)
            if path.suffix == ".py":
                compile(text, one.file, "exec")
        except (ValueError, SyntaxError) as error:
            raise Fault(str(error)) from error
        self._write(path, text)
        try:
            yield
        finally:
            self._write(path, whole)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, "utf-8")
        # It is known by second and size, which may both be the same.
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)

    @property
    def _pytest(self) -> tuple[str, ...]:
        return str(self._python), "-m", "pytest", "-q", f"--basetemp={self._temporary}", f"--junitxml={self._report}"

    def run(self, tests: Sequence[str], *more: str, limit: float | None = None) -> Run:
        """Run `tests` in a process of their own."""
        self._report.unlink(missing_ok=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        process = subprocess.Popen(
            [*self._pytest, *more, *tests],
            cwd=self._root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            raise Fault(f"its tests do not end within {limit:.0f} s") from None
        finally:
            # With all that it started: a test that was ended may leave some of it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if left := remove(self._temporary):
                raise Fault(f"what its tests left cannot be removed: {left}")
        return judged(process.returncode, said, self._report)

    def run_broken(self, one: Break) -> Run:
        """Run the tests of `one` without its mend. Raises Fault where they fail of something else."""
        with self.broken(one):
            run = self.run(one.tests, f"--timeout={TEST_SECONDS}", limit=LONGEST)
        if run.code not in (0, 1) or (run.errors and not run.red):
            *_, last = run.said.strip().splitlines() or [""]
            raise Fault(f"no test failed, but pytest ended with {run.code}: {', '.join(run.errors) or last}")
        return run


def judged(code: int, said: str, report: Path) -> Run:
    """How the tests went, as pytest ended, what it printed, and its report."""
    if code not in (0, 1):
        return Run(code, said=said)
    passed, red, errors = list[str](), list[str](), list[str]()
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
        marks = {part.tag for part in case}
        if "skipped" not in marks:
            (red if "failure" in marks else errors if "error" in marks else passed).append(name)
    return Run(code, tuple(passed), tuple(dict.fromkeys(red)), tuple(errors), said)


def not_green(run: Run, tests: Iterable[str]) -> list[str]:
    """Those of `tests` of which something failed, or nothing passed."""
    return [test for test in tests if not run.is_green(test)]
