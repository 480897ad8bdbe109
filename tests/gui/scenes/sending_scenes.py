"""Requests whose code would run on another machine, with files of the project."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.assessment import Capability, Level
from runner.model.request import PROMISED, SENT, Isolation, Request, WorkPlace
from runner.model.sent_files import HeldFile, LeftFile, SentFile, SentFiles, listing
from tests.gui import feed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.gui.scenes.shots import Scene

CODE = """import subprocess

subprocess.run(["pytest", "-q", "tests/api"], check=True)
"""
HELD = (
    HeldFile(SentFile(".env", 412, "600", "e" * 64).line, "by its name"),
    HeldFile(SentFile("deploy/gha-creds-1f0c.json", 2300, "644", "d" * 64).line, "by its name"),
    HeldFile(SentFile("tests/api/test_login.py", 9120, "644", "c" * 64).line, "GitHub Token in it"),
)
LEFT = (LeftFile("vendor/parser", "a repository of its own"), LeftFile("run/app.sock", "neither a file nor a link"))


def files(number: int) -> SentFiles:
    """Return so many files, those that may hold a secret, and some that never leave."""
    plain = [SentFile(f"src/api/part_{one:03}.py", 400 + 37 * one, "644", f"{one:064x}") for one in range(number)]
    plain += [SentFile("bin/start", 812, "755", "f" * 64), SentFile("latest", 9, "link", "a" * 64)]
    return SentFiles(listing(plain), HELD, (), LEFT)


def request(number: int, **more: object) -> Request:
    one = feed.request(CODE, title="Run the tests of the API")
    return replace(
        one,
        isolation=Isolation.E2B,
        protections=(f"{PROMISED}e2b.app", "no network"),
        work=WorkPlace("shop-1a2b3c", "/home/me/projects/shop"),
        sends=files(number),
        **more,  # type: ignore[arg-type]
    )


def _shown(scene: Scene, number: int) -> Request:
    one = request(number)
    found = feed.finding(3, "Starts a program.", Level.MEDIUM, Capability.STARTS_PROCESSES)
    scene.hear(feed.asked(one, feed.assessment(Level.MEDIUM, found)))
    return one


def asked(scene: Scene) -> None:
    """The request as it comes up."""
    _shown(scene, 40)


def listed(scene: Scene) -> None:
    """What would be sent, and what stays here."""
    _shown(scene, 40)
    scene.window.deciding.review.page.reading.look_further(SENT)


def included(scene: Scene) -> None:
    """One of the files that may hold a secret has been ticked."""
    from runner.approval.draft import Draft

    one = _shown(scene, 40)
    reading = scene.window.deciding.review.page.reading
    reading.look_further(SENT)
    reading.sent.list.toggled.emit(".env")
    assert one.sends is not None
    version = replace(one, sends=one.sends.including([".env"]))
    scene.bridge.give("draft", Draft(version, feed.assessment(Level.MEDIUM), ""))


def many(scene: Scene) -> None:
    """As many files as may be sent."""
    _shown(scene, 9000)
    scene.window.deciding.review.page.reading.look_further(SENT)


SCENES: dict[str, Callable[[Scene], object]] = {
    "sending-asked": asked,
    "sending-listed": listed,
    "sending-included": included,
    "sending-many": many,
}
