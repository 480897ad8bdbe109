"""What is said of each client's hook, and set up for it, without the program itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from runner.clients import managed
from runner.clients.connection import ClientConnections
from runner.clients.hooks import FOLDER, HOOKS, UNASKED
from runner.clients.known import BY_ID, GOOSE
from runner.identity.agents import Agents
from runner.model.errors import KnownError
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path


class Person:
    """An account with Goose installed."""

    def __init__(self, folder: Path) -> None:
        self.program = folder / "bin/goose"
        self.program.parent.mkdir()
        self.agents = Agents(Places.under(folder / "assent"))
        self.connections = ClientConnections(Places.under(folder / "assent"), self.agents, {}, folder)

    def install(self, version: str) -> None:
        self.program.write_text(f"#!/bin/sh\necho ' {version}'\n")
        self.program.chmod(0o755)

    def connect(self) -> None:
        plan = self.connections.plan(BY_ID[GOOSE], self.connections.setup(hook=True))
        self.connections.connect(plan, self.agents.add)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


@pytest.mark.parametrize("version", ["1.34.0", "1.49.9", "0.99.0"])
def test_a_program_that_does_not_heed_its_hook_gets_none(person: Person, version: str) -> None:
    person.install(version)
    with pytest.raises(KnownError, match=r"before 1\.50"):
        person.connect()
    assert person.agents.all() == ()


def test_a_program_that_heeds_its_hook_no_longer_is_said(person: Person) -> None:
    person.install("1.52.0")
    person.connect()
    setup = person.connections.setup()
    found = person.connections.connected(BY_ID[GOOSE], setup)
    assert found is not None and (found.hooked, found.outdated) == (True, "")
    person.install("1.34.0")
    found = person.connections.connected(BY_ID[GOOSE], setup)
    assert found is not None and "whatever a hook says" in found.outdated


def test_every_client_with_a_hook_has_its_tools_that_nobody_is_asked_about() -> None:
    named = [line.partition(":")[0] for line in UNASKED.read_text("ascii").splitlines()]
    assert named == list(HOOKS) or sorted(named) == sorted(HOOKS)


@pytest.mark.parametrize("client", HOOKS)
def test_what_a_project_can_do_is_said_with_the_file(client: str) -> None:
    said = managed.standing(HOOKS[client])
    assert all(switch.file in said for switch in HOOKS[client].switches)
    assert BY_ID[client].hook is HOOKS[client]


DRIVER = """\
import {{ Assent }} from {plugin}
const hooks = await Assent({{ directory: "/work" }})
const output = {{ args: {{ command: "make", more: {{ deep: 1 }} }} }}
let said = "allowed"
try {{
  await hooks["tool.execute.before"]({{ tool: "bash", callID: "1" }}, output)
}} catch (error) {{
  said = "refused: " + error.message
}}
console.log(JSON.stringify([said, Object.isFrozen(output), Object.isFrozen(output.args.more)]))
"""
ANSWERS = {
    "yes": ("""echo '{"decision": "allow"}'""", "allowed"),
    "a tool nobody is asked about": ("exit 0", "allowed"),
    "no": ("""echo '{"decision": "deny", "reason": "Not now."}'""", "refused: Not now."),
    "exit code": ("echo why >&2; exit 2", "refused: why"),
    "crash": ("kill -9 $$", "refused: Assent did not answer; nothing was run."),
    "yes, then a crash": ("""echo '{"decision": "allow"}'; exit 1""", "refused: Assent did not answer"),
    "garbage": ("echo yes", "refused: "),
    "another word": ("""echo '{"decision": "maybe"}'""", "refused: Assent did not answer"),
    "a missing program": ("exec /no/such/program", "refused: "),
}


@pytest.mark.parametrize("how", ANSWERS)
def test_the_plugin_of_opencode_says_no_to_all_but_a_yes(how: str, tmp_path: Path) -> None:
    if (node := shutil.which("node")) is None:
        pytest.skip("Node.js is missing")
    command, said = ANSWERS[how]
    plugin = tmp_path / "assent.mjs"
    plugin.write_text((FOLDER / "opencode.js").read_text().replace("COMMAND", json.dumps(f"cat >/dev/null; {command}")))
    driver = tmp_path / "driver.mjs"
    driver.write_text(DRIVER.format(plugin=json.dumps(str(plugin))))
    done = subprocess.run([node, str(driver)], capture_output=True, text=True, check=True, timeout=60)
    answer, fixed, deeply = json.loads(done.stdout)
    assert answer.startswith(said) and fixed and deeply
