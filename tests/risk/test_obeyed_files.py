"""Files that other programs obey are CRITICAL for every tool that writes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.clients.client import ConfigScope, Setup
from runner.clients.known import CLIENTS
from runner.gateway.client_tools import client_submission
from runner.model.assessment import Level
from runner.model.request import Isolation, Language, Request, Tool
from runner.requests import intake
from runner.risk.assess import assess
from runner.risk.tools.tools import weigh
from runner.settings.loading import Settings

if TYPE_CHECKING:
    from runner.model.assessment import Assessment

HOME, FOLDER = "/home/me", "/home/me/project"
PROJECT_FILES = """
    .git/config
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


OPENED = {
    "handed to what writes it": "import json\njson.dump({}, open(PATH, 'w'))\n",
    "in a statement": "import yaml\nwith open(PATH, 'w') as f:\n    yaml.safe_dump({}, f)\n",
    "by a helper": "import json\ndef save(p, d):\n    f = open(p, 'w')\n    json.dump(d, f)\nsave(PATH, {})\n",
    "of pathlib": "import json, pathlib\nwith pathlib.Path(PATH).open('w') as f:\n    json.dump({}, f)\n",
    "for the output of a program": "import subprocess\nsubprocess.run(['cat', 'x'], stdout=open(PATH, 'w'))\n",
    "for a copy": "import shutil\nshutil.copyfileobj(open('a'), open(PATH, 'wb'))\n",
    "by a parser": "import configparser as p\nc = p.ConfigParser()\nwith open(PATH, 'w') as f:\n    c.write(f)\n",
}


@pytest.mark.parametrize("way", OPENED)
@pytest.mark.parametrize("path", [".cursor/mcp.json", ".git/config", "~/.bashrc"])
def test_a_file_that_is_opened_to_be_written_is_one_that_is_written(path: str, way: str) -> None:
    assert attention(OPENED[way].replace("PATH", repr(path))) is Level.CRITICAL


@pytest.mark.parametrize("way", OPENED)
def test_one_that_nobody_obeys_is_not(way: str) -> None:
    assert attention(OPENED[way].replace("PATH", "'out/data.json'")) is None


PACKAGES = [
    "import site, pathlib\npathlib.Path(site.getsitepackages()[0], 'requests', '__init__.py').write_text('x')\n",
    "import site\nopen(site.getusersitepackages() + '/requests/__init__.py', 'a').write('x')\n",
    "import os, sysconfig\nopen(os.path.join(sysconfig.get_paths()['purelib'], 'yaml', 'x.py'), 'w').write('x')\n",
    "import os, sysconfig\nopen(os.path.join(sysconfig.get_path('purelib'), 'yaml', 'x.py'), 'w').write('x')\n",
]


@pytest.mark.parametrize("code", PACKAGES)
def test_an_installed_package_is_one_wherever_it_is(code: str) -> None:
    assert attention(code) is Level.HIGH


def attention(code: str) -> Level | None:
    return assess(Request("1", "a", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, code)).attention
