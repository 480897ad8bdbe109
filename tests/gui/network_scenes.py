"""Scenes with network and packages, for pictures and tests of the window."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runner.model.assessment import Level, Touch
from runner.model.events import SandboxesChanged
from runner.model.kept_sandbox import Kept
from runner.model.plan import Plan, PlannedPackage, Registry
from runner.model.request import Isolation, Language, NetworkMode
from tests.gui import feed
from tests.gui.shots import settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.request import Request
    from tests.gui.shots import Scene

DAY = 86_400.0
KEPT = "3f9c01d2ab77"
FETCH = """import json
import requests

rows = json.load(open("rows.json"))
answer = requests.get("https://api.example.com/v1/rates", timeout=10)
for row in rows:
    row["euro"] = row["amount"] * answer.json()["EUR"]
requests.post("https://stats.example.net/upload", json=rows)
print(len(rows), "rows")
"""


def package(name: str, version: str, days: float, **others: Any) -> PlannedPackage:
    """One package, released `days` ago."""
    file = others.pop("file", f"{name}-{version}-py3-none-any.whl")
    now = time.time()
    return PlannedPackage(
        name,
        version,
        file,
        hashlib.sha256(file.encode()).hexdigest(),
        others.pop("size", 64_000),
        others.pop("url", f"https://files.packages.example/{name[:1]}/{name}/{file}"),
        released_at=now - days * DAY if days else 0.0,
        first_released_at=now - others.pop("since", 4000) * DAY,
        versions=others.pop("versions", 40),
        **others,
    )


def plan(odd: bool = False) -> Plan:
    """What `requests` needs; with `odd` there is something wrong with most of it."""
    packages = [
        package("certifi", "2025.10.5", 6.2, wanted_by=("requests",), size=163_000, summary="Mozilla's CA bundle."),
        package("charset-normalizer", "3.4.4", 40, wanted_by=("requests",), size=53_000),
        package("idna", "3.11", 12, wanted_by=("requests",)),
        package("requests", "2.32.3", 540, size=65_000, versions=152, summary="Python HTTP for Humans."),
        package("urllib3", "2.5.0", 157, wanted_by=("requests",), size=129_000),
    ]
    if odd:
        packages[1] = replace(packages[1], yanked="Wrong metadata; use 3.4.5 instead.")
        packages[2] = package("reqeusts", "0.0.1", 0.2, versions=1, since=0.2, mistaken_for="requests", size=3_200)
        packages[4] = replace(packages[4], scripts=("preinstall", "postinstall"), versions=0, released_at=0.0)
    return Plan(Registry.PYPI, ("files.packages.example",), tuple(packages), "Python 3.13, x86_64")


def install(**others: Any) -> Request:
    """A request that installs packages and runs no code."""
    return feed.request("", packages=("requests",), plan=others.pop("plan", plan()), sandbox=KEPT, **others)


def networked(**others: Any) -> Request:
    """A request for listed hosts of every kind, one of them by a grant, in a kept sandbox."""
    others.setdefault("network", NetworkMode.DOMAINS)
    others.setdefault(
        "domains",
        ("*.cdn.example.org", "10.1.2.3:8080", "api.example.com", "intranet:80", "stats.example.net"),
    )
    others.setdefault("granted", ("stats.example.net",))
    others.setdefault("title", "Convert the rows")
    return feed.request(FETCH, **others)


def keep(**others: Any) -> Kept:
    """The kept sandbox of these requests."""
    return Kept(KEPT, "claude-code", Language.PYTHON, Isolation.GVISOR, time.time(), uses=5, **others)


def review_hosts(scene: Scene) -> None:
    scene.hear((SandboxesChanged((keep(),)),))
    one = networked(sandbox=KEPT, context='{"month": 4, "region": "north"}', stdin="a\n" * 400)
    touch = Touch(hosts=("api.example.com", "stats.example.net"), files=("rows.json",))
    found = feed.finding(9, "Sends data to stats.example.net.", Level.CRITICAL)
    scene.hear(feed.asked(one, feed.assessment(Level.CRITICAL, found, touch=touch)))


def review_registries(scene: Scene) -> None:
    hosts = ("files.packages.example", "registry.packages.example")
    one = networked(network=NetworkMode.REGISTRIES, domains=hosts, granted=())
    scene.hear(feed.asked(one, feed.assessment(Level.CRITICAL)))


def review_plan(scene: Scene, odd: bool = False) -> None:
    scene.hear(feed.asked(install(plan=plan(odd)), feed.assessment(Level.HIGH)))


def review_plan_long(scene: Scene) -> None:
    many = tuple(package(f"library-{number:03}", f"1.{number}", 30 + number) for number in range(120))
    scene.hear(feed.asked(install(plan=replace(plan(), packages=many)), feed.assessment(Level.HIGH)))


def review_plan_with_code(scene: Scene) -> None:
    one = feed.request(FETCH, packages=("requests",), plan=plan(True), title="Convert the rows")
    scene.hear(feed.asked(one, feed.assessment(Level.HIGH)))
    tabs = scene.window.deciding.review.page.reading.tabs
    settle(0.3)
    tabs.setCurrentIndex(tabs.count() - 1)


SCENES: dict[str, Callable[[Scene], None]] = {
    "network-review": review_hosts,
    "network-registries": review_registries,
    "packages-review": review_plan,
    "packages-odd": lambda scene: review_plan(scene, odd=True),
    "packages-long": review_plan_long,
    "packages-code": review_plan_with_code,
}
