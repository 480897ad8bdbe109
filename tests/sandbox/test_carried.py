"""What Assent carries for itself is not for the code that it runs, whatever the code is run in."""

from __future__ import annotations

import asyncio
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.request import Language, Limits
from runner.sandbox.local import bubblewrap_start
from runner.sandbox.local.sandbox import LocalSandbox
from tests.sandbox.conftest import job

if TYPE_CHECKING:
    import pytest

    from tests.sandbox.conftest import Lab

IMPORT = """
for name in ("app", "runner", "PySide6", "shiboken6", "mcp", "cryptography", "qasync", "detect_secrets", "re2"):
    try:
        print(name, __import__(name).__path__)
    except ImportError:
        pass
"""
OWN = sysconfig.get_path("purelib")
"""Where the packages are that this checkout carries; a machine may have some of the same names of its own."""
ROOT = Path(__file__).resolve().parents[2]
LIMITS = Limits(seconds=20.0, memory_mb=256, disk_mb=16, processes=64)


def test_code_cannot_import_it(lab: Lab) -> None:
    result = lab.run(IMPORT)
    assert (OWN in result.stdout, str(ROOT) in result.stdout, result.exit_code) == (False, False, 0)
    assert "PySide6" not in result.stdout and "runner" not in result.stdout


def test_code_in_a_kept_sandbox_cannot_import_it(bwrap: Lab) -> None:
    said = asyncio.run(kept(bwrap.sandbox, IMPORT))
    assert OWN not in said and str(ROOT) not in said
    assert "PySide6" not in said and "runner" not in said


def test_behind_bubblewrap_the_folder_of_a_package_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package lies below /usr, which every sandbox shows; its interpreter is used there, its modules are not."""
    inside = Path("/usr/share/perl5") if Path("/usr/share/perl5").is_dir() else Path("/usr/share/doc")
    assert list(inside.iterdir())
    monkeypatch.setattr(bubblewrap_start.installed, "modules", lambda: inside)
    sandbox = LocalSandbox(tmp_path / "runs")
    look = f"""
import os
print(os.listdir({str(inside)!r}))
try:
    open({str(inside / "new")!r}, "w")
except OSError as error:
    print(error.strerror)
"""

    async def both() -> tuple[str, str]:
        run = await sandbox.start(job(look), lambda _: None)
        return (await run.finished()).stdout, await kept(sandbox, look)

    assert asyncio.run(both()) == ("[]\nRead-only file system\n",) * 2


async def kept(sandbox: LocalSandbox, code: str) -> str:
    session = await sandbox.open(Language.PYTHON, LIMITS, "")
    try:
        return (await (await session.start(job(code), lambda _: None)).finished()).stdout
    finally:
        await session.close()
