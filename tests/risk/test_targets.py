"""Kinds of paths: an expression is left out only where it could not find anything."""

from __future__ import annotations

import itertools
import re

import pytest

from runner.risk.model.value import HOLE
from runner.risk.rules.knowledge import bundled, table
from runner.risk.rules.targets import HAS, _anchored, needs

FOLDERS = ("", "/", "~/", "c:/", "../", "a/", "/etc/", "~/.ssh/", "windows/", "/home/x/", ".config/", "hkcu/")
NAMES = ("", "a", "id_rsa", ".netrc", ".env", "x.pem", "hooks/update", "winevt/logs", "google/chrome/user data", "*")
PATHS = [folder + name for folder, name in itertools.product(FOLDERS, NAMES)]


@pytest.mark.parametrize(
    ("pattern", "group"),
    [
        ("^/etc/", "root"),
        ("^/?etc", ""),
        ("^/(a|b)$", "root"),
        ("^/a|b", ""),
        ("^~(/|$)", "home"),
        ("^[a-z]:/windows", "drive"),
        ("^[a-z]:?/windows", "slash"),
        (r"//\.ssh", "dot"),
        (r"//\.?ssh", ""),
        ("//hooks/update", "slash"),
        ("//hooks(/|$)", ""),
        (r"a[/]b\|c", ""),
        ("(a/b)?c", ""),
        ("[]/]c", ""),
        (r"[^\]/]c", ""),
        (r"(a\)/)?c", ""),
        (r"a\\/c", "slash"),
        ("a/*b", ""),
    ],
)
def test_what_an_expression_needs(pattern: str, group: str) -> None:
    assert needs(pattern) == group


def test_an_expression_finds_nothing_where_what_it_needs_is_missing() -> None:
    patterns = [pattern for found in table()["targets"].values() for pattern in found]
    assert {needs(pattern) for pattern in patterns} == HAS.keys()
    for pattern in patterns:
        whole, has = re.compile(_anchored(pattern), re.IGNORECASE), HAS[needs(pattern)]
        assert [path for path in PATHS if whole.search(path) and not has(path)] == [], pattern


@pytest.mark.parametrize(
    ("path", "starts"),
    [
        ("~/.bashrc", True),
        ("/home/me/.zshrc", True),
        ("~/.bashrc*", True),
        ("~/.bashrc.d/own", True),
        ("~/.zshrc.local", True),
        ("~/.emacs.d/init.el", True),
        ("~/.config/fish/config.fish", True),
        (f"~/.bashrc{HOLE}", True),
        ("~/.bashrc2", False),
        ("~/.profile.bak", False),
        ("~/.login_notes", False),
    ],
)
def test_a_start_up_file_is_known_by_its_whole_name(path: str, starts: bool) -> None:
    assert bool(bundled().targets.among(path, frozenset({"startup"}))) is starts
