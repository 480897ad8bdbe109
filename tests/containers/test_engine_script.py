"""What packaging/engine.sh does as root in a folder that somebody else was at first; no engine is needed for it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.container_engine import SCRIPT

if TYPE_CHECKING:
    from pathlib import Path

NOBODY = 65534
STUBS = {
    "docker": "exit 0",
    "dockerd": "exit 0",
    "mmdebstrap": "exit 0",
    "runsc": "echo runsc version release-20990101.0",
}
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts an engine and gives files away")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "engine"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The script with stubs in place of an engine, and sockets of containerd below `tmp_path`."""
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    for name, body in STUBS.items():
        (stubs / name).write_text(f"#!/bin/sh\n{body}\n")
        (stubs / name).chmod(0o755)
    text = SCRIPT.read_text().replace("\nPATH=", f"\nPATH={stubs}:").replace("/run/containerd/", f"{tmp_path}/sockets/")
    text = text.replace("\nFOLDER=/var/lib/", f"\nFOLDER={tmp_path}/")
    copy = tmp_path / "engine.sh"
    copy.write_text(text)
    copy.chmod(0o755)
    return copy


@as_root
@pytest.mark.parametrize("verb", ["start", "stop", "status"])
def test_a_folder_that_somebody_else_made_is_refused(verb: str, folder: Path, script: Path) -> None:
    (folder / "daemon.json").write_text("theirs")
    os.chown(folder, NOBODY, NOBODY)
    done = _run(script, verb, folder)
    assert done.returncode == 1
    assert str(folder) in done.stderr
    assert (folder / "daemon.json").read_text() == "theirs"


@pytest.mark.parametrize("verb", ["start", "stop"])
def test_a_folder_open_to_others_is_refused(verb: str, folder: Path, script: Path) -> None:
    folder.chmod(0o755)
    done = _run(script, verb, folder)
    assert done.returncode == 1
    assert "directory of your own with mode 700" in done.stderr
    assert folder.exists()


@pytest.mark.parametrize("verb", ["start", "stop"])
@pytest.mark.parametrize("ending", ["", "/"])
def test_a_link_to_a_folder_is_refused(verb: str, ending: str, folder: Path, script: Path) -> None:
    link = folder.with_name("link")
    link.symlink_to(folder)
    done = _run(script, verb, f"{link}{ending}")
    assert done.returncode == 1
    assert "directory of your own with mode 700" in done.stderr
    assert not list(folder.iterdir())
    assert link.is_symlink()


@as_root
def test_nothing_is_written_through_a_link(folder: Path, script: Path) -> None:
    victim = folder.with_name("victim")
    victim.write_text("precious")
    for name in ("daemon.json", "log"):
        (folder / name).symlink_to(victim)
    assert _run(script, "start", folder).returncode == 0
    assert victim.read_text() == "precious"
    assert "data-root" in (folder / "daemon.json").read_text()


@pytest.mark.parametrize(
    "named", ["../victim", "s/../../victim", "s/a\nunix:///etc/../{}/victim", "s/*", "s/a ../victim"]
)
def test_stop_removes_sockets_of_containerd_only(named: str, folder: Path, script: Path) -> None:
    victim, sockets = folder.with_name("victim"), folder.with_name("sockets")
    (sockets / "s").mkdir(parents=True)
    others = [victim, sockets / "s" / "of-another-engine"]
    own = sockets / "s" / "own"
    for path in (*others, own):
        path.touch()
    (folder / "exec" / "one").mkdir(parents=True)
    (folder / "exec" / "one" / "address").write_text(f"unix://{sockets}/{named.format(folder.parent)}")
    (folder / "exec" / "two").mkdir()
    (folder / "exec" / "two" / "address").write_text(f"unix://{own}")
    done = _run(script, "stop", folder)
    assert done.returncode == 0, done.stderr
    assert all(path.exists() for path in others)
    assert not own.exists()
    assert not folder.exists()


@pytest.mark.parametrize(("mode", "code"), [(0o700, 0), (0o755, 1)])
def test_an_engine_at_the_former_place_is_found_where_nobody_else_could_write(
    mode: int, code: int, tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = tmp_path / "temporary" / "assent-engine"
    former.mkdir(parents=True)
    former.chmod(mode)
    monkeypatch.setenv("TMPDIR", str(former.parent))
    engine = subprocess.Popen(
        [sys.executable, "-c", "input()", f"--pidfile={former}/docker.pid"], stdin=subprocess.PIPE
    )
    with engine:
        (former / "docker.pid").write_text(str(engine.pid))
        done = subprocess.run([script, "status"], capture_output=True, text=True, check=False)
        engine.kill()
    assert done.returncode == code
    assert done.stdout == ("" if code else f"unix://{former}/docker.sock\n")
    assert code == 0 or str(tmp_path / "assent-engine") in done.stderr


def _run(script: Path, verb: str, folder: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([script, verb, folder], capture_output=True, text=True, check=False)
