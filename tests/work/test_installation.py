"""What is shown of an account's own installations: enough to start, nothing with secrets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from runner.work.installation import shown_for

if TYPE_CHECKING:
    from pathlib import Path


def script(path: Path, first: str = "#!/bin/sh") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{first}\n")
    path.chmod(0o755)
    return path


def link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def shown(home: Path, program: str, *folders: str) -> set[str]:
    """Return what is shown, below home, and None of the rest."""
    path = os.pathsep.join([*(str(home / folder) for folder in folders), "/usr/bin", "/bin"])
    return {os.path.relpath(one, home) for one in shown_for(program, home, path)}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    for secret in (
        ".ssh/id",
        ".local/share/keyrings/login",
        ".npmrc",
        ".cargo/credentials.toml",
        ".config/gh/hosts.yml",
    ):
        (home / secret).parent.mkdir(parents=True, exist_ok=True)
        (home / secret).write_text("secret")
    return home


def test_a_version_of_node_with_its_packages(home: Path) -> None:
    version = home / ".nvm/versions/node/v22.1.0"
    script(version / "bin/node", "#!/bin/sh")
    script(version / "lib/node_modules/@some/client/cli.js", "#!/usr/bin/env node")
    link(version / "bin/client", version / "lib/node_modules/@some/client/cli.js")
    assert shown(home, "client", ".nvm/versions/node/v22.1.0/bin") == {".nvm/versions/node/v22.1.0"}


def test_a_package_of_npm_below_local_shows_neither_its_secrets_nor_all_of_it(home: Path) -> None:
    script(home / ".local/lib/node_modules/client/cli.js", "#!/usr/bin/env -S node")
    link(home / ".local/bin/client", home / ".local/lib/node_modules/client/cli.js")
    script(home / ".volta/bin/node")
    found = shown(home, "client", ".local/bin", ".volta/bin")
    assert found == {".local/bin", ".local/lib/node_modules", ".volta"}


def test_a_program_that_installs_itself(home: Path) -> None:
    script(home / ".local/share/client/versions/2.1.0")
    link(home / ".local/bin/client", home / ".local/share/client/versions/2.1.0")
    assert shown(home, "client", ".local/bin") == {".local/bin", ".local/share/client/versions"}


def test_tools_of_path_with_what_they_are_a_part_of(home: Path) -> None:
    script(home / ".pyenv/shims/python3")
    script(home / ".cargo/bin/cargo")
    (home / ".rustup/toolchains").mkdir(parents=True)
    script(home / "go/bin/tool")
    (home / "go/pkg/mod").mkdir(parents=True)
    script(home / "work/bin/mine")
    script(home / "venv/bin/python")
    (home / "venv/pyvenv.cfg").write_text("")
    script(home / ".local/share/pipx/venvs/tool/bin/tool", f"#!{home}/.local/share/pipx/venvs/tool/bin/python")
    link(home / ".local/bin/tool", home / ".local/share/pipx/venvs/tool/bin/tool")
    link(home / ".local/share/pipx/venvs/tool/bin/python", script(home / ".pyenv/versions/3.12/bin/python3.12"))
    folders = (".pyenv/shims", ".cargo/bin", "go/bin", "work/bin", "venv/bin", ".local/bin")
    wanted = {".pyenv", ".cargo/bin", ".rustup", "go", "work/bin", "venv", ".local/bin", ".local/share/pipx/venvs/tool"}
    assert shown(home, "true", *folders) == wanted


@pytest.mark.parametrize("folder", [".", "..", ".ssh", ".config", ".local", ".local/share", ".config/gh/bin"])
def test_a_folder_with_secrets_is_never_shown(home: Path, folder: str) -> None:
    (home / folder).mkdir(parents=True, exist_ok=True)
    script(home / folder / "tool")
    assert shown(home, "tool", folder) <= {os.path.normpath(os.path.join(folder, "tool"))} - {
        ".ssh/tool",
        ".config/gh/bin/tool",
    }


def test_a_link_of_another_folder_is_shown_by_its_own_name(home: Path, tmp_path: Path) -> None:
    script(home / ".local/share/fnm/node-versions/v22/installation/bin/node")
    link(tmp_path / "run/fnm_multishells/1", home / ".local/share/fnm/node-versions/v22/installation")
    found = shown_for("node", home, str(tmp_path / "run/fnm_multishells/1/bin"))
    assert home / ".local/share/fnm/node-versions/v22/installation" in found
    assert any(one.is_relative_to(tmp_path / "run") for one in found)


def test_programs_of_the_system_need_nothing(home: Path) -> None:
    assert shown(home, "sh") == set()
    assert shown(home, "there-is-none") == set()


def test_links_and_interpreters_in_a_circle_end(home: Path) -> None:
    script(home / ".a/bin/one", f"#!{home}/.a/bin/two")
    script(home / ".a/bin/two", f"#!{home}/.a/bin/one")
    link(home / ".a/bin/loop", home / ".a/bin/loop")
    assert shown(home, "one", ".a/bin") == {".a"}
