"""Checks what works on this machine and what does not, each with a fix (spec O2)."""

from __future__ import annotations

import asyncio
import ctypes
import os
import shutil
import socket
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runner.audit.history.search import History
from runner.clients import managed
from runner.clients.connection import ClientConnections
from runner.clients.known import CLIENTS
from runner.commands import fixes, own_profiles
from runner.commands.agents import last_call
from runner.commands.check import Check, State
from runner.gateway import address_file
from runner.identity.agents import Agents
from runner.identity.secrets import Secrets, Vault
from runner.model.errors import KnownError
from runner.model.language_support import LANGUAGES
from runner.model.request import Isolation, Language
from runner.network.proxies import ProxySettings
from runner.network.registries import of_this_machine
from runner.policy.decide import COUNTS, counts_as
from runner.policy.rulefile import read
from runner.risk import user_rules
from runner.sandbox import available, image_stores
from runner.sandbox.choose import AUTO, named
from runner.sandbox.container.failures import Denied
from runner.sandbox.docker import endpoint
from runner.sandbox.images import build, recipe
from runner.sandbox.images.rootfs import Here
from runner.sandbox.remote.keys import VARIABLE
from runner.settings.declared import PREFIX
from runner.system import installed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from runner.clients.client import Client
    from runner.clients.connection import Connected
    from runner.sandbox.contract import Readiness
    from runner.settings.loading import Loaded, Settings
    from runner.system.places import Places

LITTLE_SPACE = 500_000_000
"""Free bytes that are too few. A run may write 1 GB by default; below half of that the history may fail, too."""
WINDOW_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
}
"""What Qt's window plugin loads -> the Debian package that has it."""


IMAGES_SECONDS = 4.0
"""Time limit for the list of the engine's images."""
UNUSED_KEY = f"{VARIABLE} is set and not used: nothing is sent there. To use it, choose E2B as the sandbox in Settings."
ELSEWHERE = (
    "Code, input and files leave this machine. Promised by E2B, and not to be found out from here: a machine of its "
    "own for each sandbox. Checked from inside: programs run as an ordinary user, the workspace is of a limited size, "
    "and no host and no server for names was reached."
)
PLUGIN = "Sandbox of a package"
UNCHECKED = (
    "What it protects is promised by its package, and none of it was checked by Assent. The package's own code runs in "
    "Assent itself, with all that your account may do; whether code is sent elsewhere is for the package to say."
)
NOT_USED = "Not used, as the settings have it."
WORTH_IT = "It is the one that is worth most; code runs in a weaker sandbox meanwhile."
GVISOR, DIRECT, DOCKER = Isolation.GVISOR, Isolation.GVISOR_DIRECT, Isolation.DOCKER
CONTAINERS = {GVISOR: "gVisor", DIRECT: "gVisor without Docker", DOCKER: "Docker"}
PLAIN = "Without bubblewrap, code runs as plain processes, which the settings call process: weaker than local."


async def examine(places: Places, loaded: Loaded, secrets: Secrets | None = None) -> tuple[Check, ...]:
    """Return every check, in the order in which one depends on the other. Changes nothing; takes a few seconds.

    A check that raises an unexpected error is reported as failed. `secrets` are those in use, where a console is open.
    """
    own: tuple[tuple[str, Callable[[], Check]], ...] = (
        ("Settings", lambda: _settings(loaded)),
        ("Rules", lambda: _rules(places, loaded)),
        ("Folders", lambda: _folders(places)),
        ("Disk space", lambda: _space(places.data)),
        ("History", lambda: _history(places)),
        ("Secrets", lambda: _secrets(secrets or Secrets(places, loaded.settings))),
        ("Console", lambda: _console(places, loaded)),
        ("Agents", lambda: _agents(places)),
        ("Network", lambda: _network(loaded.settings)),
        ("Display", _display),
    )
    found = [await asyncio.to_thread(_tried, name, check) for name, check in own]
    clients = await asyncio.to_thread(_clients, places)
    before_network = len(found) - 2
    return fixes.as_typed(
        *found[:3],
        *await _awaited("Sandboxes", sandboxes(places, loaded, secrets)),
        *await _awaited("Images", _images(loaded.settings)),
        *found[3:before_network],
        *clients,
        *found[before_network:],
    )


def _tried(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except Exception as error:
        return _failed(name, error)


async def _awaited(name: str, examined: Awaitable[Check | list[Check]]) -> list[Check]:
    try:
        return [found] if isinstance(found := await examined, Check) else found
    except Exception as error:
        return [_failed(name, error)]


def _failed(name: str, error: Exception) -> Check:
    if isinstance(error, KnownError):
        return Check(name, State.BAD, error.what, error.remedy)
    return Check(name, State.BAD, f"This could not be examined: {type(error).__name__}: {error}")


def _settings(loaded: Loaded) -> Check:
    if loaded.problems:
        return Check("Settings", State.BAD, " ".join(loaded.problems), "Correct it; until then everything is asked.")
    if loaded.remarks:
        return Check("Settings", State.WARN, " ".join(loaded.remarks))
    return Check("Settings", State.OK, "Everything in them is understood.")


def _rules(places: Places, loaded: Loaded) -> Check:
    rules = read(places, loaded.rules)
    problems = (*rules.problems, *user_rules.read(places.own_rules).problems)
    if problems:
        fix = "Correct it; until then everything is asked."
        return Check("Rules", State.BAD, " ".join(problems), fix)
    return Check("Rules", State.OK, "They can be read.")


def _folders(places: Places) -> Check:
    for folder in (places.config, places.data, places.state, places.runtime):
        there = next(path for path in (folder, *folder.parents) if path.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            fix = f'sudo chown -R "$USER" "{there}"'
            return Check("Folders", State.BAD, f"Assent cannot write below {there}.", fix)
        if folder.exists() and folder.stat().st_mode & 0o077:
            return Check("Folders", State.WARN, f"Other accounts can look into {folder}.", f'chmod 700 "{folder}"')
    return Check("Folders", State.OK, f"The history is in {places.data}, settings are in {places.config}.")


def _space(folder: Path) -> Check:
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < LITTLE_SPACE:
        fix = "Free some: without space for the history nothing can be approved."
        return Check("Disk space", State.WARN, f"Only {free / 1e6:,.0f} MB are free for the history.", fix)
    return Check("Disk space", State.OK, f"{free / 1e9:,.1f} GB are free.")


async def sandboxes(places: Places, loaded: Loaded, secrets: Secrets | None = None) -> list[Check]:
    """Return a check for each possible sandbox: its protections, those unavailable here, and what is missing."""
    settings = loaded.settings
    all_of_them = available.sandboxes(settings, places, secrets)
    checked = [(sandbox, await sandbox.check()) for sandbox in all_of_them]
    await asyncio.gather(*(sandbox.close() for sandbox in all_of_them))
    found = {sandbox.isolation: ready for sandbox, ready in checked}  # certain only after the check
    checks = [_container(one, found, settings) for one in (GVISOR, DIRECT, DOCKER)]
    protected = Isolation.LOCAL in found
    local = found[Isolation.LOCAL if protected else Isolation.PROCESS]
    for isolation, name, what in ((Isolation.E2B, "E2B", ELSEWHERE), (Isolation.PLUGIN, PLUGIN, UNCHECKED)):
        if (promised := found.get(isolation)) is not None:
            fix = f"assent self-test --sandbox {settings.sandbox_type.removeprefix(PREFIX)}"
            worth = f"{what} It counts as {counts_as(isolation, settings)} ({COUNTS[isolation]})."
            checks.insert(0, _promised(name, promised, settings, worth, fix if isolation is Isolation.PLUGIN else ""))
    if Isolation.E2B not in found and os.environ.get(VARIABLE):
        checks.append(Check("E2B", State.OK, UNUSED_KEY))
    own = await asyncio.to_thread(own_profiles.checks, settings, found)
    return [*checks, *_local(local, settings, protected=protected), *own]


def _promised(name: str, ready: Readiness, settings: Settings, worth: str, fix: str) -> Check:
    """Return the check of the sandbox that others promise; there is one only where the settings name it."""
    if ready.ready:
        check = _working(name, ready, settings.languages, "")
        return replace(check, what=f"{check.what} {worth}", fix=check.fix or fix)
    instead = settings.sandbox_fallback
    what = "Code runs in the strongest sandbox of this machine instead." if instead else "Requests to run code fail."
    return Check(name, State.WARN if instead else State.BAD, f"{ready.problem} {what}", ready.remedy)


def _may_be_used(isolation: Isolation, settings: Settings) -> bool:
    wanted = settings.sandbox_type
    return wanted == AUTO or settings.sandbox_fallback or isolation in named(wanted)


def _container(isolation: Isolation, found: Mapping[Isolation, Readiness], settings: Settings) -> Check:
    """Return the check of one of the sandboxes that start from images; `found` has them all."""
    name, ready = CONTAINERS[isolation], found[isolation]
    wanted = settings.sandbox_type
    if ready.ready:
        unused = NOT_USED if not _may_be_used(isolation, settings) else ""
        check = _working(name, ready, settings.languages, unused)
        where = "" if isolation is DIRECT else endpoint.elsewhere(settings.docker_context)
        return replace(check, what=f"{check.what}{where}")
    remedy = fixes.container(isolation, ready)
    fetches = isolation is DIRECT and fixes.can_fetch_gvisor()
    problem = f"{ready.problem} {fixes.fetched_gvisor() if isolation is DIRECT else ''}".rstrip()
    if wanted == isolation.value:
        return Check(name, State.BAD, problem, remedy, gvisor=fetches)
    if wanted != AUTO:
        return Check(name, State.UNUSED, f"{NOT_USED} {ready.problem}")
    if as_good := next((one for one in (GVISOR, DIRECT) if found[one].ready), None):
        return Check(name, State.UNUSED, f"Not needed, as {CONTAINERS[as_good]} works. {ready.problem}")
    worth = DIRECT if not fixes.lets_only_profiled() else GVISOR if found[DOCKER].ready else DOCKER
    if isolation is not worth:
        return Check(name, State.UNUSED, f"{problem} First see to {CONTAINERS[worth]}.", remedy, gvisor=fetches)
    return Check(name, State.WARN, f"{problem} {WORTH_IT}", remedy, gvisor=fetches)


def _working(name: str, ready: Readiness, wanted: tuple[str, ...], unused: str) -> Check:
    """Return the check of a sandbox that starts from images and works; `unused` says why it is not used, if so.

    `wanted` are the languages that may run.
    """
    if unused:
        return Check(name, State.OK, unused)
    every = [line for line in ready.missing if line.split(":")[0] in list(Language)]
    absent = [line for line in every if line.split(":")[0] in wanted]
    unbound = [line for line in ready.missing if line not in every]
    if absent:
        return Check(name, State.WARN, f"Works, but not for every language: {'; '.join(absent)}.", ready.remedy)
    what = f"Active: {'; '.join(ready.protections)}." + (f" Missing: {'; '.join(unbound)}." if unbound else "")
    return Check(name, State.OK, what, fixes.own_group(unbound) or fixes.reporting(unbound))


async def _images(settings: Settings) -> Check:
    """Return the check of Assent's own images: missing, or built from an earlier recipe."""
    used = [image for language, image in available.images(settings).items() if language in settings.languages]
    if settings.sandbox_type == "local" or not set(used) & {recipe.recipe(name).tag for name in recipe.names()}:
        return Check("Images", State.UNUSED, "None of Assent's own are used, as the settings have it.")
    try:
        async with asyncio.timeout(IMAGES_SECONDS):
            first, *others = await image_stores.stores(settings)
            builder = build.Builder(first, Here(), also=tuple(others))
            states = {each: await builder.state(each) for each in map(recipe.recipe, recipe.names())}
    except TimeoutError:
        return Check("Images", State.OK, "The container engine does not say which there are.")
    except (KnownError, Denied):
        return Check("Images", State.UNUSED, "Not needed without a container engine.")
    missing = [one.name for one, state in states.items() if state is build.ImageState.MISSING and one.tag in used]
    old = [one.name for one, state in states.items() if state is build.ImageState.OLD]
    if not missing and not old:
        return Check("Images", State.OK, "All there, made from the present recipes.")
    parts = [f"Missing: {', '.join(missing)}."] * bool(missing) + [f"Out of date: {', '.join(old)}."] * bool(old)
    return Check("Images", State.WARN, " ".join(parts), f"assent images {' '.join([*missing, *old])}", (*missing, *old))


def _local(ready: Readiness, settings: Settings, *, protected: bool) -> list[Check]:
    if not _may_be_used(Isolation.LOCAL, settings):
        return [Check("Local sandbox", State.UNUSED, NOT_USED)]
    # Installing what is there already does no harm; it is named where nothing else is seen to be wrong.
    fix = "" if protected and ready.ready else fixes.bubblewrap()
    if not ready.ready:
        return [Check("Local sandbox", State.BAD, ready.problem, fix or ready.remedy)]
    wanted = settings.languages
    absent = tuple(line for line in ready.missing if line.split(":")[0] not in list(Language))
    what = "" if protected else f"{PLAIN} "
    what += f"Active: {'; '.join(ready.protections)}." + (f" Missing: {'; '.join(absent)}." if absent else "")
    return [
        Check(
            "Local sandbox",
            State.OK if protected else State.WARN,
            what,
            fixes.own_group(absent) if protected else fix or fixes.install("bubblewrap"),
        ),
        *(_language(one, ready.versions, ready.missing, wanted) for one in Language),
    ]


def _language(language: Language, versions: dict[str, str], missing: tuple[str, ...], wanted: tuple[str, ...]) -> Check:
    name = "Shell" if language is Language.SHELL else LANGUAGES[language].title
    if language not in wanted:
        return Check(name, State.UNUSED, "Switched off in the settings.")
    if version := versions.get(language):
        return Check(name, State.OK, f"Version {version}.")
    why = next((line.partition(": ")[2] for line in missing if line.startswith(f"{language}:")), "It was not found.")
    return Check(name, State.WARN, f"{why} Or switch {language} off in Settings.", fixes.interpreter(language))


def _history(places: Places) -> Check:
    if not places.ledger.exists():
        return Check("History", State.OK, "There is none yet; it begins with the first start.")
    history = History(places.ledger)
    try:
        left = history.open_cases()
    finally:
        history.close()
    size = places.ledger.stat().st_size
    if left.unreadable:
        what = f"{len(left.unreadable)} of the requests that are not finished cannot be read: {left.unreadable[0].why}"
        return Check("History", State.BAD, what, "assent verify")
    kept = f"{size / 1e6:,.1f} MB, requests not finished: {len(left.cases)}"
    what = f"It can be read ({kept}). `assent verify` checks every entry."
    return Check("History", State.OK, what)


def _secrets(secrets: Secrets) -> Check:
    where = secrets.where
    state = State.OK if where.kind is Vault.KEYRING else State.WARN
    return Check("Secrets", state, where.explanation, where.remedy)


def _console(places: Places, loaded: Loaded) -> Check:
    # Not by asking the port alone: whoever has that of a console that is gone would pass for it.
    known, port = address_file.running(places), loaded.settings.port
    what = "It is not open, so agents cannot reach it."
    if known is not None:
        what = f"Agents reach it at http://{known.host}:{known.port}/mcp."
    elsewhere = port and (known is None or known.port != port)
    if elsewhere and _answers("127.0.0.1", port):
        other = address_file.named(port)
        what += f" Port {port}, the usual one, is taken by {other}; it takes another meanwhile."
        what += " A client that is configured with HTTP and that number sends its token there."
        return Check("Console", State.WARN, what, "End that program, or choose another port in Settings.")
    return Check("Console", State.WARN if known is None else State.OK, what, "assent" if known is None else "")


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def _agents(places: Places) -> Check:
    agents = Agents(places)
    if agents.problem:
        return Check("Agents", State.BAD, agents.problem, "Restore the file, or add the agents again.")
    names = [agent.name for agent in agents.all() if not agent.revoked]
    if not names:
        return Check("Agents", State.WARN, "None is registered yet.", "assent connect claude-code")
    return Check("Agents", State.OK, f"Registered: {', '.join(names)}.")


def _clients(places: Places) -> list[Check]:
    """Return a check for each client that is installed or connected, and one where there is none."""
    connections = ClientConnections(places, Agents(places), os.environ)
    setup = connections.setup()
    checks = []
    for client in CLIENTS:
        installed = bool(client.found(setup.home, os.environ))

        def examined(client: Client = client, installed: bool = installed) -> Check:
            connected = connections.connected(client, setup)
            if connected is None:
                what = "It is installed and not connected."
                return Check(client.name, State.OK, what if installed else "", f"assent connect {client.id}")
            return _connected(client, connected, installed=installed)

        checks.append(_tried(client.name, examined))
    if found := [check for check in checks if check.what]:
        return found
    names = ", ".join(client.name for client in CLIENTS)
    return [Check("Agent programs", State.OK, f"None of {names} is on the PATH; others that speak MCP work as well.")]


def _connected(client: Client, connected: Connected, *, installed: bool) -> Check:
    """Return the check of a client whose configuration names Assent."""
    again = f"assent connect {client.id}"
    if connected.agent is None:
        return Check(client.name, State.BAD, f"Its token, in {connected.file}, is not valid any more.", again)
    what = f"Connected as {connected.agent.name} by {connected.file}; {last_call(connected.agent)}."
    what += "" if installed else " Its program is not on the PATH."
    if client.hook is None:
        return Check(client.name, State.OK, what)
    if not connected.hooked:
        return Check(client.name, State.OK, f"{what} Its own shell and edits are not asked for.", f"{again} --hook")
    if connected.outdated:
        return Check(client.name, State.WARN, f"{what} {connected.outdated}", f"{again} --hook")
    if found := managed.here(client.hook, Path.cwd(), Path.home()):
        return Check(client.name, State.BAD, f"{what} In the present folder it is not to be relied on: {found}.")
    state = State.OK if managed.is_held(client.hook) else State.WARN
    what = f"{what} Its own tools are asked for. {managed.standing(client.hook)}"
    return Check(client.name, state, what, managed.remedy(client.hook))


def _network(settings: Settings) -> Check:
    proxies = ProxySettings.of()
    if proxies.problem:
        fix = "Correct the variable in the environment that Assent is started in."
        return Check("Network", State.BAD, proxies.sentence, fix)
    registries = of_this_machine(settings.pypi_registries, settings.npm_registries)
    hosts = ", ".join(map(str, registries.destinations))
    what = f"Package registries: {hosts}." if hosts else "There is no package registry."
    words = " ".join(filter(None, (what, *registries.problems, proxies.sentence)))
    state = State.WARN if registries.problems or proxies.sentence else State.OK
    return Check("Network", state, words, fixes.registries(registries.absent))


def _display() -> Check:
    missing = [library for library in WINDOW_LIBRARIES if not _loads(library)]
    if missing:
        what = f"Libraries that the window needs are missing: {', '.join(missing)}."
        return Check("Display", State.BAD, what, fixes.debian([WINDOW_LIBRARIES[library] for library in missing]))
    if not any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        fix = "Start Assent in a desktop session, or answer on the terminal: assent terminal"
        return Check("Display", State.WARN, "There is none here, so no window can be opened.", fix)
    return Check("Display", State.OK, "A window can be opened.")


def _loads(library: str) -> bool:
    if (carried := installed.libraries()) is not None and (carried / library).is_file():
        return True
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
