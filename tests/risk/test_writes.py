"""What writing a file would do: place, program or not, content."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.risk.tools.writes import assess_write


@pytest.mark.parametrize(
    ("path", "content", "level"),
    [
        ("data/report.csv", "a,b\n1,2\n", Level.MEDIUM),
        ("/workspace/notes.md", "rm -rf / is a bad idea", Level.MEDIUM),
        (".gitignore", "build\n", Level.MEDIUM),
        ("run.sh", "#!/bin/sh\nmake\n", Level.HIGH),
        ("tool", "#!/usr/bin/env python3\nprint(1)\n", Level.HIGH),
        ("main.py", "print(1)\n", Level.HIGH),
        ("main.py", "import shutil\nshutil.rmtree('/home')\n", Level.CRITICAL),
        ("tool", "#!/bin/bash\nrm -rf ~\n", Level.CRITICAL),
        ("../other/x.txt", "", Level.CRITICAL),
        ("/etc/cron.d/job", "* * * * * root x\n", Level.CRITICAL),
        ("a/../../workspace2/x", "", Level.CRITICAL),
        (".bashrc", "alias ls=x\n", Level.CRITICAL),
        ("project/.git/hooks/pre-commit", "x", Level.CRITICAL),
        ("home/.ssh/authorized_keys", "ssh-ed25519 AAAA x", Level.CRITICAL),
        ("a\nb", "", Level.CRITICAL),
    ],
)
def test_level_of_a_write(path: str, content: str, level: Level) -> None:
    assert assess_write(path, content).level is level


def test_an_executable_file_is_high_and_says_so() -> None:
    found = assess_write("tool.bin", "\x7fELF", executable=True)
    assert found.level is Level.HIGH
    assert any("started as a program" in reason for reason in found.reasons)


def test_what_the_program_touches_is_listed_as_well() -> None:
    found = assess_write("get.sh", "curl https://files.example.org/a -o b\n")
    assert found.touch.files[0] == "get.sh"
    assert "files.example.org" in found.touch.hosts
