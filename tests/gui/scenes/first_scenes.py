"""Pictures of the first steps: before anything is done, one program on its way, each answer of the keyring, the end."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.first_start.panel import FirstSteps
from app.parts.fold import reveal
from runner.commands.check import Check, State
from runner.identity.agents import Agent
from runner.identity.keyring_answer import KeyringAnswer
from runner.identity.secrets import ANSWER, UNLOCK, WITHHELD, Vault, Where
from tests.gui import feed
from tests.gui.client_files import ClientFiles
from tests.gui.scenes.shots import settle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.system.places import Places
    from tests.gui.scenes.shots import Scene

LOST = "The history cannot be verified after a restart, and a PIN is forgotten: "
OR_FILE = " Or agree in Settings to a file that only you can read."
UNASKED = Where(Vault.MEMORY, LOST + WITHHELD[KeyringAnswer.UNASKED], ANSWER + OR_FILE, KeyringAnswer.UNASKED)
REFUSED = Where(Vault.MEMORY, LOST + WITHHELD[KeyringAnswer.REFUSED], ANSWER + OR_FILE, KeyringAnswer.REFUSED)
LOCKED = Where(Vault.MEMORY, f"{LOST}the keyring is locked, and it was not unlocked.", UNLOCK + OR_FILE)
ABSENT = Where(Vault.MEMORY, f"{LOST}there is no keyring here.", UNLOCK + OR_FILE)
KEPT = Where(Vault.KEYRING, "Secrets are kept in the keyring (SecretService).")
CHECKS = (
    Check("gVisor", State.WARN, "Docker daemon not available.", "sudo apt-get install docker.io"),
    Check("Docker", State.WARN, "Docker daemon not available.", "sudo apt-get install docker.io"),
    Check("Local sandbox", State.OK, "Active."),
)


def examined(_places: Places) -> Sequence[Check]:
    return CHECKS


def first_page(scene: Scene, where: Where = UNASKED) -> FirstSteps:
    """Show the page of somebody who has nothing yet, with programs in a folder of its own."""
    scene.bridge.known = ()
    scene.cases.know_agents(())
    files = ClientFiles(Path(tempfile.mkdtemp(dir=scene.window._places.state)), ("claude-code", "codex"))
    (files.home / ".claude.json").write_text('{\n  "theme": "dark",\n  "numStartups": 12\n}\n')
    bridge: Any = scene.bridge
    page = FirstSteps(scene.cases, bridge, files, scene.window._look, scene.window._places, examined)
    scene.window.pages.add("First steps", page)
    scene.window.show_page("First steps")
    feed.turn()
    bridge.give("secrets_where", where)
    return page


def tile(page: FirstSteps, name: str) -> None:
    """Choose the program of this name."""
    next(tile for tile in page.connecting.tiles if tile.text().startswith(name)).click()
    feed.turn()


def begun(scene: Scene) -> None:
    first_page(scene)


def difference(scene: Scene) -> None:
    tile(first_page(scene), "Claude Code")


def written(scene: Scene) -> FirstSteps:
    page = first_page(scene)
    tile(page, "Claude Code")
    page.connecting.go.click()
    feed.turn()
    agent = Agent("claude-code", "0" * 64, time.time() - 5)
    scene.bridge.known = (agent,)
    scene.cases.know_agents(scene.bridge.known)
    return page


def waiting_for_calls(scene: Scene) -> None:
    """Back at the tiles: one has called, the other has not."""
    page = written(scene)
    agent = scene.bridge.known[0]
    scene.bridge.known = (replace(agent, last_seen=time.time()), replace(agent, name="codex"))
    scene.cases.know_agents(scene.bridge.known)
    page.connecting.go.click()
    feed.turn()


def keyring(where: Where) -> Callable[[Scene], None]:
    def show(scene: Scene) -> None:
        page = first_page(scene)
        page.keyring_step.allow.click()
        scene.bridge.give("answer_keyring", where)
        settle(0.1)
        reveal(page.isolation_step)

    return show


def keyring_opening(scene: Scene) -> None:
    first_page(scene).keyring_step.allow.click()


def finished(scene: Scene) -> None:
    """Everything is done."""
    page = written(scene)
    scene.bridge.known = (replace(scene.bridge.known[0], last_seen=time.time() + 1),)
    scene.cases.know_agents(scene.bridge.known)
    page.connecting.go.click()
    page.keyring_step.allow.click()
    scene.bridge.give("answer_keyring", KEPT)
    page.try_step.send.click()
    one = feed.request("print(1)", title="Test request, sent from this window")
    scene.hear(feed.asked(one))
    scene.bridge.give("send_test", one.id)
    scene.hear(feed.decided(one))


FIRST: dict[str, Callable[[Scene], object]] = {
    "first-begun": begun,
    "first-difference": difference,
    "first-written": written,
    "first-calls": waiting_for_calls,
    "first-keyring-opening": keyring_opening,
    "first-keyring-locked": keyring(LOCKED),
    "first-keyring-absent": keyring(ABSENT),
    "first-keyring-refused": keyring(REFUSED),
    "first-done": finished,
}
