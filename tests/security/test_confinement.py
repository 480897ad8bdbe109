"""Programs that pretend to confine code: none is taken by its name, and none is believed."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.request import Isolation, Language
from runner.sandbox.local import trusted
from runner.sandbox.local.bubblewrap import Bubblewrap
from runner.sandbox.local.interpreters import find
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.local.syscalls import FILTERED
from runner.sandbox.local.trial import FEW, IN_MEMORY, NETWORK, PROCESSES, SYSTEM
from tests.sandbox.conftest import job

if TYPE_CHECKING:
    from pathlib import Path

REAL = shutil.which("bwrap") or ""
EDITED = """#!{python}
import os, sys
words, drop = sys.argv[1:], {drop!r}
at = 0
while at < len(words) and words[at] != "--":
    if words[at : at + len(drop)] == drop:
        del words[at : at + len(drop)]
    else:
        at += 1
os.execv({real!r}, ["bwrap", *words])
"""
"""Bubblewrap without one of its options."""
FAKE = """#!{python}
import json, subprocess, sys
words = sys.argv[1:]
child = subprocess.Popen(["/bin/sh", "-c", "echo on; read -r _"])
with open(int(words[words.index("--info-fd") + 1]), "w") as info:
    json.dump({{"child-pid": {parent}}}, info)
sys.exit(child.wait())
"""
"""Confines nothing, and says that all is well."""


def program(folder: Path, name: str, text: str) -> str:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(text)
    file.chmod(0o755)
    return str(file)


def called(folder: Path, name: str) -> str:
    """Make a program that leaves a file when it is called."""
    return program(folder, name, f'#!/bin/sh\ntouch {shlex.quote(str(folder))}/called\nexec /usr/bin/{name} "$@"\n')


@pytest.mark.parametrize(
    ("mode", "taken"), [(0o755, False), (0o775, False), (0o757, False), (0o1777, False)], ids=lambda one: str(one)
)
def test_programs_of_other_folders_than_roots_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, taken: bool
) -> None:
    """Below /tmp everything may be replaced, whoever owns it."""
    path = called(tmp_path / "bin", "bwrap")
    (tmp_path / "bin").chmod(mode)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    assert (trusted.find("bwrap") == path) is taken
    assert trusted.find("bwrap") and not trusted.replaceable(trusted.find("bwrap"))
    assert path in trusted.elsewhere("bwrap")


def test_a_link_counts_with_where_it_leads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted, "OTHERS_WRITE", 0)
    monkeypatch.setattr(
        trusted.Path, "stat", lambda path: os.stat_result((0o755, 0, 0, 1, "elsewhere" in str(path), *[0] * 5))
    )
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    assert trusted.replaceable(f"{tmp_path}/link/bwrap") == str(tmp_path / "elsewhere")


@pytest.mark.parametrize("name", ["bwrap", "setpriv", "node", "bash"])
def test_a_program_earlier_in_the_path_is_not_even_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    called(tmp_path / "bin", name)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    sandbox = LocalSandbox(tmp_path / "runs")

    async def body() -> str:
        assert (await sandbox.check()).ready and sandbox.isolation is Isolation.LOCAL
        run = await sandbox.start(job("ls / | grep -c home; ls /home", Language.SHELL), lambda _usage: None)
        return (await run.finished()).stdout

    assert asyncio.run(body()) == "0\n"
    assert not (tmp_path / "bin" / "called").exists()


def test_node_that_may_be_replaced_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path / "bin", "node", "#!/bin/sh\necho v22.0.0\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(trusted, "FOLDERS", ())
    with pytest.raises(KnownError, match=r"bin/node is not taken, as others than root may change /tmp"):
        find(Language.JAVASCRIPT, "")
    assert find(Language.JAVASCRIPT, path).path == path, "a person may name it"


@pytest.mark.parametrize(
    ("drop", "lost"),
    [
        (["--unshare-net"], NETWORK),
        (["--unshare-pid"], PROCESSES),
        (["--remount-ro", "/"], SYSTEM),
        (["--size", str(64 << 20)], IN_MEMORY),
        (["--cap-drop", "ALL"], "no privileges"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_a_protection_that_is_not_there_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drop: list[str], lost: str
) -> None:
    path = program(tmp_path / "bin", "bwrap", EDITED.format(python=sys.executable, drop=drop, real=REAL))
    monkeypatch.setattr(trusted, "find", lambda *names: path if "bwrap" in names else f"/usr/bin/{names[0]}")
    if drop[0] == "--cap-drop" and os.geteuid() == 0:
        pytest.skip("becoming another user loses all privileges as well")
    with pytest.raises(KnownError, match="a trial run was without this protection") as refusal:
        Bubblewrap.tried()
    assert lost in refusal.value.what


def test_too_many_processes_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bubblewrap, "_limit", lambda *_: None)
    with pytest.raises(KnownError, match=FEW):
        Bubblewrap.tried()


def test_a_filter_that_is_not_there_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code runs without it, and nobody is made to believe otherwise."""
    drop = "words = [word for at, word in enumerate(words) if word != '--seccomp' and words[at - 1] != '--seccomp']\n"
    text = EDITED.format(python=sys.executable, drop=[], real=REAL).replace("at = 0\n", drop).partition("while")
    path = program(tmp_path / "bin", "bwrap", text[0] + text[2].partition("1\n")[2].replace("            ", ""))
    monkeypatch.setattr(trusted, "find", lambda *names: path if "bwrap" in names else f"/usr/bin/{names[0]}")
    found = Bubblewrap.tried()
    assert FILTERED not in found.protections
    assert found.missing == (f"{FILTERED}: a trial run was without this protection: {FILTERED}",)


def test_a_program_that_only_says_so_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path / "bin", "bwrap", FAKE.format(python=sys.executable, parent="__import__('os').getpid()"))
    monkeypatch.setattr(trusted, "find", lambda *names: path if "bwrap" in names else f"/usr/bin/{names[0]}")
    with pytest.raises(KnownError, match=r"without this protection: no network"):
        Bubblewrap.tried()
