"""Files that other programs obey are CRITICAL for every tool that writes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.clients.client import ConfigScope, Setup
from runner.clients.known import CLIENTS
from runner.gateway.client_tools import client_submission
from runner.model.assessment import Level
from runner.model.request import Isolation
from runner.requests import intake
from runner.risk.tools import weigh
from runner.settings.loading import Settings

if TYPE_CHECKING:
    from runner.model.assessment import Assessment

HOME, FOLDER = "/home/me", "/home/me/project"
PROJECT_FILES = """
    opencode.json .qwen/settings.json .copilot/mcp-config.json .clinerules/a.md .clinerules .cline/x .roo/x .kiro/x
    .windsurf/x .continue/config.yaml .idea/runConfigurations/a.xml .cargo/config.toml .venv/bin/activate
    node_modules/.bin/tsc .githooks/pre-commit build.rs .exrc .env .env.local sub/.env .envrc .husky/pre-commit
    .vscode/settings.json .claude/settings.json .mcp.json .git/hooks/pre-commit lib/x.pth
"""
HOME_FILES = """
    .local/bin/ls bin/ls .ipython/profile_default/startup/x.py .vim/plugin/x.vim .config/nvim/init.lua .tmux.conf
    .qwen/settings.json .pyenv/shims/python .config/i3/config .config/assent/rules.yaml .claude.json .bashrc
    .config/Code/User/mcp.json .config/goose/config.yaml .config/zed/settings.json .config/opencode/opencode.json
"""
FILES = [f"{FOLDER}/{name}" for name in PROJECT_FILES.split()] + [f"{HOME}/{name}" for name in HOME_FILES.split()]
ORDINARY = ["README.md", "src/bin.py", "docs/env.md", ".env.example", "environment.yml", "src/build.py", "a/.gitignore"]


def weighed(name: str, **given: object) -> Assessment:
    wanted = client_submission("a", name, given, FOLDER)
    return weigh(intake.request(wanted, Settings(), Isolation.LOCAL))


def each_way(path: str) -> dict[str, Assessment]:
    """The same file by each tool."""
    patch = f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch"
    diff = f"--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+x\n"
    return {
        "edit": weighed("Write", file_path=path, content="x"),
        "patch": weighed("apply_patch", command=patch),
        "patch by the shell": weighed("exec_command", cmd=f"apply_patch <<'E'\n{patch}\nE"),
        "diff": weighed("Bash", command=f"patch -p0 <<'E'\n{diff}E"),
        "cat": weighed("Bash", command=f"cat > {path} <<'E'\nx\nE"),
    }


@pytest.mark.parametrize("path", FILES)
def test_a_file_that_programs_obey_is_critical_by_each_way(path: str) -> None:
    levels = {way: found.level for way, found in each_way(path).items()}
    assert set(levels.values()) == {Level.CRITICAL}, levels


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_file_is_not(name: str) -> None:
    assert not [way for way, found in each_way(f"{FOLDER}/{name}").items() if found.level is Level.CRITICAL]


@pytest.mark.parametrize("scope", ConfigScope)
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)
def test_the_configuration_of_every_client_is_among_them(scope: ConfigScope, client: object) -> None:
    assert client in CLIENTS
    setup = Setup("t", Path(HOME), {}, scope, Path(FOLDER), hook=True)
    known = next(one for one in CLIENTS if one is client)
    if scope is ConfigScope.PROJECT and not known.entry.has_projects:
        pytest.skip("it has no configuration in projects")
    files = {known.server(setup)[0], *(edits.path for edits in known.files(setup))}
    assert {str(path): weighed("Write", file_path=str(path), content="x").level for path in files} == dict.fromkeys(
        map(str, files), Level.CRITICAL
    )


def test_a_patch_with_a_line_that_has_no_place_is_critical() -> None:
    patch = "*** Begin Patch\n*** Update File: a.md\n-x\n+y\n *** Add File: b.md\n*** End Patch"
    found = weighed("apply_patch", command=patch)
    assert found.level is Level.CRITICAL and "cannot be read for certain" in found.verdict.sentence
