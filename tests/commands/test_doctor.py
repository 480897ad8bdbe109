"""What the doctor finds on a machine with something wrong."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.clients.connection import ClientConnections
from runner.clients.known import BY_ID
from runner.commands import doctor, fixes
from runner.commands.check import Check, State
from runner.commands.doctor import DIRECT, DOCKER, GVISOR, examine
from runner.gateway import address_file, own_command
from runner.identity.agents import Agents
from runner.model.errors import KnownError
from runner.model.request import BROUGHT, Isolation, Language
from runner.network.registries import Registries
from runner.sandbox import image_stores
from runner.sandbox.container.failures import gone as lost
from runner.sandbox.container.sandbox import UNREPORTED
from runner.sandbox.container.trial import TOO_OLD
from runner.sandbox.contract import Readiness
from runner.sandbox.docker.endpoint import STANDARD, Endpoint
from runner.sandbox.docker.image_store import Store
from runner.sandbox.gvisor import engine_feeds
from runner.sandbox.images.recipe import recipe
from runner.sandbox.local import sandbox, trusted
from runner.sandbox.local.control_groups import OWN_GROUP
from runner.sandbox.local.group import GROUPED
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.plugin import PluginSandbox
from runner.settings.declared import Settings
from runner.settings.loading import load
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def examined(places: Places, environment: Mapping[str, str] = {}) -> dict[str, Check]:
    checks = asyncio.run(examine(places, load(places, environment)))
    return {check.name: check for check in checks}


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.under(home)
    places.make()
    return places


def test_a_broken_settings_file_is_named_with_its_line(places: Places) -> None:
    places.settings.write_text("schema: 1\nsecurity:\n  sandbox:\n    timeout_seconds: never\n")
    check = examined(places)["Settings"]
    assert check.state is State.BAD
    assert "line 4" in check.what
    assert check.fix


def test_a_folder_that_others_can_look_into_is_reported(places: Places) -> None:
    places.data.chmod(0o755)
    check = examined(places)["Folders"]
    assert check.state is State.WARN
    assert str(places.data) in check.fix


def test_a_damaged_history_is_reported(places: Places) -> None:
    places.ledger.write_bytes(b"this is no database" * 100)
    assert examined(places)["History"].state is State.BAD


def test_an_unreadable_list_of_agents_is_reported(places: Places) -> None:
    places.agents.write_text("{")
    assert examined(places)["Agents"].state is State.BAD


def test_e2b_without_a_key_is_said_and_nothing_else_takes_its_place(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("E2B_API_KEY", raising=False)
    checks = examined(places, {"SANDBOX_TYPE": "e2b"})
    assert checks["E2B"].state is State.BAD and checks["E2B"].fix.endswith("assent e2b-key, or set E2B_API_KEY.")
    assert "There is no key for E2B. Requests to run code fail." in checks["E2B"].what
    for name in ("gVisor", "gVisor without Docker", "Docker", "Local sandbox"):
        assert checks[name].what.startswith("Not used, as the settings have it."), "nothing is active beside it"
        assert checks[name].state is State.UNUSED, "it was said to work beside why it does not"
    instead = examined(places, {"SANDBOX_TYPE": "e2b", "ASSENT_SANDBOX_FALLBACK": "true"})
    assert (instead["E2B"].state, "instead" in instead["E2B"].what) == (State.WARN, True)
    assert "Active" in instead["Local sandbox"].what


def test_a_packages_sandbox_is_said_to_be_unchecked(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = examined(places, {"SANDBOX_TYPE": "plugin:tiny"})
    assert checks["Sandbox of a package"].state is State.BAD
    assert "brings a sandbox with the name tiny" in checks["Sandbox of a package"].what
    assert "Requests to run code fail." in checks["Sandbox of a package"].what

    async def works(_self: PluginSandbox) -> Readiness:
        return Readiness(True, (f"{BROUGHT}tiny", "promised: all"), versions=dict.fromkeys(Language, "1"))

    monkeypatch.setattr(PluginSandbox, "check", works)
    check = examined(places, {"SANDBOX_TYPE": "plugin:tiny"})["Sandbox of a package"]
    assert check.state is State.OK and check.fix.endswith("assent self-test --sandbox tiny")
    assert "none of it was checked by Assent" in check.what and "counts as process (plugin.counts_as)" in check.what
    assert "Sandbox of a package" not in examined(places), "one that is not named is not there"


def test_a_key_for_e2b_alone_sends_nothing(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "E2B" not in examined(places)
    monkeypatch.setenv("E2B_API_KEY", "e2b_1")
    monkeypatch.setenv("E2B_API_URL", "http://127.0.0.1:1")
    assert examined(places)["E2B"].state is State.OK


def test_every_command_in_a_fix_is_one_that_there_is(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    named = re.findall(r"\bassent ([a-z-]+)", "\n".join(check.fix for check in examined(places).values()))
    assert "terminal" in named
    for command in named:
        helped = subprocess.run([sys.executable, "-m", "app", command, "--help"], capture_output=True, check=False)
        assert helped.returncode == 0, command


def test_a_taken_port_is_reported_with_who_has_it(places: Places) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = int(other.getsockname()[1])
        check = examined(places, {"ASSENT_PORT": str(port)})["Console"]
        assert check.state is State.WARN
        assert check.what.startswith("It is not open, so agents cannot reach it.") and "process" in check.what
        with socket.create_server(("127.0.0.1", 0)) as own:
            place = address_file.ConsoleAddress("127.0.0.1", int(own.getsockname()[1]), os.getpid(), 0.0)
            address_file.write(places, place)
            check = examined(places, {"ASSENT_PORT": str(port)})["Console"]
            assert check.state is State.WARN and check.what.startswith(
                f"Agents reach it at http://127.0.0.1:{place.port}/mcp. Port {port}"
            )
            assert "sends its token there" in check.what
            # That of a console that is gone, whose port somebody else has by now.
            address_file.write(places, address_file.ConsoleAddress(place.host, place.port, os.getppid(), 0.0))
            assert examined(places, {"ASSENT_PORT": str(place.port)})["Console"].what.startswith("It is not open")


def test_an_interpreter_that_is_not_there_costs_its_language_only(places: Places) -> None:
    checks = examined(places, {"ASSENT_NODE": "/nowhere/node"})
    assert checks["JavaScript"].state is State.WARN
    assert checks["Python"].state is State.OK
    assert checks["Rust"].state is State.UNUSED, "whether it is there at all was not looked at"


def test_a_machine_without_bubblewrap_is_reported_what_that_means(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = LocalSandbox(tmp_path / "runs", python="/usr/bin/python3", bubblewrap=False)
    monkeypatch.setattr(doctor.available, "local_sandbox", lambda *_: plain)
    check = examined(places)["Local sandbox"]
    assert check.state is State.WARN
    assert "which the settings call process: weaker than local." in check.what
    assert check.fix == "sudo apt-get install bubblewrap"


class Shelf:
    """An engine's store: the names of its images, and the recipes they were made from."""

    def __init__(self, recipes: Mapping[str, str]) -> None:
        self.recipes = recipes
        self.client = self

    async def call(self, _function: object, _seconds: float) -> dict[str, object]:
        return {"Runtimes": {"runsc": {"path": "runsc"}}}

    async def found(self, tag: str) -> dict[str, object] | None:
        if tag not in self.recipes:
            return None
        return {"Config": {"Labels": {"assent.recipe": self.recipes[tag]}}}


def test_images_that_are_missing_or_old_are_named(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"assent-python:1": recipe("python").digest, "assent-shell:1": "earlier"}
    monkeypatch.setattr(image_stores, "store", lambda _context: Shelf(there))
    check = examined(places)["Images"]
    assert (check.state, check.images) == (State.WARN, ("javascript", "shell"))
    assert check.what == "Missing: javascript. Out of date: shell."
    there |= {f"assent-{name}:1": recipe(name).digest for name in ("javascript", "shell")}
    assert examined(places)["Images"].state is State.OK
    chosen = {"ASSENT_PYTHON_IMAGE": "assent-python-data:1"}
    assert examined(places, chosen)["Images"].images == ("python-data",)


def test_the_registries_and_the_proxy_of_this_machine_are_said(
    places: Places, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy") or name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:secret@index.example/simple")
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "https://npm.example/")
    check = examined(places)["Network"]
    assert (check.state, check.what) == (State.OK, "Package registries: index.example, npm.example.")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@proxy.example:3128")
    check = examined(places)["Network"]
    assert check.state is State.WARN
    assert "Connections go through proxy.example:3128" in check.what and "secret" not in check.what
    monkeypatch.setenv("HTTPS_PROXY", "socks5://proxy.example")
    check = examined(places)["Network"]
    assert (check.state, bool(check.fix)) == (State.BAD, True)


def test_where_pip_and_npm_are_absent_a_command_brings_what_names_their_registries(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "of_this_machine", lambda *_: Registries(absent=("pip", "npm"), problems=("None.",)))
    monkeypatch.setattr(fixes.shutil, "which", lambda name: f"/usr/bin/{name}" if name == "apt-get" else None)
    check = doctor._network(load(places, {}).settings)
    assert (check.state, check.what.startswith("There is no package registry. None.")) == (State.WARN, True)
    assert check.fix == "sudo apt-get install python3-pip-whl npm  # or name the addresses in Settings"
    monkeypatch.setattr(fixes.shutil, "which", lambda name: f"/usr/bin/{name}" if name == "pacman" else None)
    assert fixes.registries(("pip",)).startswith("sudo pacman -S python-pip  #")
    assert fixes.registries(("npm",)).startswith("sudo pacman -S npm  #")
    assert fixes.registries(()) == ""


def test_a_check_that_fails_by_itself_does_not_hide_the_others(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Check:
        raise ZeroDivisionError("surprise")

    monkeypatch.setattr(doctor, "_display", broken)
    checks = examined(places)
    assert checks["Display"].state is State.BAD
    assert "surprise" in checks["Display"].what
    assert checks["Settings"].state is State.OK


def test_sandboxes_that_cannot_be_examined_do_not_hide_the_others(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_words: object) -> list[Check]:
        raise OSError("no space")

    monkeypatch.setattr(doctor, "sandboxes", broken)
    monkeypatch.setattr(doctor, "_images", broken)
    checks = examined(places)
    for name in ("Sandboxes", "Images"):
        assert (checks[name].state, "no space" in checks[name].what) == (State.BAD, True)
    assert checks["Settings"].state is State.OK


def machine(monkeypatch: pytest.MonkeyPatch, folder: Path, *programs: str) -> Path:
    """A PATH that has these programs alone, and the switches of the kernel in files of `folder`."""
    path = folder / "bin"
    path.mkdir()
    for name in programs:
        (path / name).write_text("#!/bin/sh\n")
        (path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(path))
    restricted, cloned = folder / "restrict", folder / "clone"
    monkeypatch.setattr(fixes, "RESTRICTED", restricted)
    monkeypatch.setattr(fixes, "SWITCHES", {cloned: "sudo sysctl -w it=1"})
    return folder


def test_each_reason_why_bubblewrap_does_not_work_has_its_own_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = machine(monkeypatch, tmp_path, "apt-get")
    assert fixes.bubblewrap() == "sudo apt-get install bubblewrap"
    (folder / "bin/apt-get").rename(folder / "bin/dnf")
    assert fixes.bubblewrap() == "sudo dnf install bubblewrap"
    (folder / "bin/dnf").rename(folder / "bin/bwrap")
    assert fixes.bubblewrap() == ""
    (folder / "clone").write_text("0\n")
    assert fixes.bubblewrap() == "sudo sysctl -w it=1"
    (folder / "restrict").write_text("1\n")
    assert "apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict" in fixes.bubblewrap(), "Ubuntu 24.04"


def test_bubblewrap_is_the_fault_that_is_named_first(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine without bubblewrap and Python nothing runs; 'Python was not found' alone would lead astray."""
    machine(monkeypatch, tmp_path, "apt-get")
    broken = LocalSandbox(tmp_path / "runs", python="/nowhere/python3")
    monkeypatch.setattr(doctor.available, "local_sandbox", lambda *_: broken)
    monkeypatch.setattr(trusted, "FOLDERS", ())
    monkeypatch.setattr(sandbox.os, "geteuid", lambda: 1000)
    check = examined(places)["Local sandbox"]
    assert check.state is State.BAD
    assert check.what.startswith("Bubblewrap is not installed. Without it")
    assert check.what.index("ubblewrap") < check.what.index("Python was not found at /nowhere/python3.")
    assert check.fix == "sudo apt-get install bubblewrap"


def test_an_engine_is_started_before_a_weaker_sandbox_is_named(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing.sock")
    for wanted in ("auto", "docker"):
        check = examined(places, {"SANDBOX_TYPE": wanted})["Docker"]
        assert check.what.startswith("Docker daemon not available.")
        assert check.fix == fixes.engine()
        assert "SANDBOX_TYPE=local" not in check.fix


def test_an_interpreter_is_installed_by_the_system_where_that_one_is_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = machine(monkeypatch, tmp_path, "apt-get", "apt-cache")
    for version, fix in (
        ("20.19.2", "sudo apt-get install nodejs"),
        ("18.20.4", "sudo apt-get install npm && sudo npm install -g node@22"),
        ("1:22.1", "sudo apt-get install nodejs"),
    ):
        (folder / "bin/apt-cache").write_text(f"#!/bin/sh\necho 'nodejs:'\necho '  Candidate: {version}+dfsg'\n")
        assert fixes.interpreter(Language.JAVASCRIPT) == fix
    assert fixes.interpreter(Language.PYTHON) == "sudo apt-get install python3"


def test_a_language_that_is_not_there_has_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixes, "interpreter", lambda _language: "sudo it")
    missing = ("javascript: Node.js was not found.",)
    check = doctor._language(Language.JAVASCRIPT, {}, missing, ("javascript",))
    assert check.what == "Node.js was not found. Or switch javascript off in Settings."
    assert check.fix == "sudo it"


@pytest.mark.parametrize(
    ("restricted", "there", "worth"),
    [(False, (), DIRECT), (False, (DOCKER,), DIRECT), (True, (), DOCKER), (True, (DOCKER,), GVISOR)],
)
def test_of_the_sandboxes_that_are_missing_one_is_worth_the_trouble(
    monkeypatch: pytest.MonkeyPatch, restricted: bool, there: tuple[Isolation, ...], worth: Isolation
) -> None:
    monkeypatch.setattr(fixes, "lets_only_profiled", lambda: restricted)
    gone = Readiness(False, problem="It is not there.", remedy="Get it.")
    found = {one: Readiness(True) if one in there else gone for one in (GVISOR, DIRECT, DOCKER)}
    checks = {one: doctor._container(one, found, Settings()) for one in found}
    assert [one for one, check in checks.items() if check.state is State.WARN] == [worth]
    assert checks[worth].what == f"It is not there. {doctor.WORTH_IT}" and checks[worth].fix
    for one in {*found} - {worth, *there}:
        assert checks[one].what == f"It is not there. First see to {doctor.CONTAINERS[worth]}."


def test_a_group_of_its_own_is_offered_where_memory_is_not_limited_and_systemd_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(monkeypatch, tmp_path, "systemd-run")
    monkeypatch.setattr(fixes, "SYSTEMD", str(tmp_path))
    assert fixes.own_group((f"{GROUPED}: it may not be divided",)) == OWN_GROUP
    assert fixes.own_group(("share of the processor: only containers can bind it",)) == ""
    monkeypatch.setattr(fixes, "SYSTEMD", str(tmp_path / "none"))
    assert fixes.own_group((f"{GROUPED}: it may not be divided",)) == ""


def test_runtimes_that_report_are_offered_where_docker_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fixes, "located", lambda: "/usr/bin/runsc")
    monkeypatch.setattr(fixes, "SYSTEMD", str(tmp_path))
    monkeypatch.setattr(fixes.endpoint, "find", lambda: Endpoint(STANDARD))
    missing = UNREPORTED.format(engine_feeds.NO_RUNTIME)
    command = fixes.reporting((missing,))
    folder = Places.standard().state / "feed"
    assert command.startswith("for n in 1 2; do sudo /usr/bin/runsc install --runtime=runsc-")
    assert f" -- --network=none --pod-init-config={folder}/$n/trace.json; done && sudo systemctl reload" in command
    assert fixes.reporting((UNREPORTED.format(engine_feeds.NONE_FREE),)) == ""
    monkeypatch.setattr(fixes.endpoint, "find", lambda: Endpoint("unix:///elsewhere/docker.sock"))
    assert fixes.reporting((missing,)) == ""


def test_a_library_that_the_archive_carries_is_not_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "WINDOW_LIBRARIES", {"libcarried.so.1": "libcarried1", "libnone.so.1": "libnone1"})
    monkeypatch.setattr(doctor.installed, "libraries", lambda: tmp_path)
    (tmp_path / "libcarried.so.1").touch()
    machine(monkeypatch, tmp_path, "apt-get")
    check = doctor._display()
    assert check.what == "Libraries that the window needs are missing: libnone.so.1."
    assert check.fix == "sudo apt-get install libnone1"


def test_names_of_debian_are_no_command_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, tmp_path, "dnf")
    assert fixes.debian(["libegl1"]) == "Install the packages of this distribution that hold them."


def test_each_client_is_said_to_be_connected_as_whom_and_seen_when(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "person"
    (home / ".local/bin").mkdir(parents=True)
    for program in ("codex", "gemini"):
        (home / ".local/bin" / program).write_text("#!/bin/sh\n")
        (home / ".local/bin" / program).chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    agents = Agents(places)
    connections = ClientConnections(places, agents, os.environ, home)
    for client, hook in (("codex", True), ("cursor", False)):
        connections.connect(connections.plan(BY_ID[client], connections.setup(hook=hook)), agents.add)
    found = {check.name: check for check in doctor._clients(places)}
    assert set(found) == {"Codex", "Gemini CLI", "Cursor"}
    assert (found["Gemini CLI"].what, found["Gemini CLI"].fix) == (
        "It is installed and not connected.",
        "assent connect gemini-cli",
    )
    assert "Connected as codex" in found["Codex"].what and "no call yet" in found["Codex"].what
    assert found["Codex"].state is State.WARN and "features.hooks" in found["Codex"].what
    assert "not on the PATH" in found["Cursor"].what
    file = home / ".codex/config.toml"
    for old, new, said in (
        ("env -i", "env", "not as this version"),
        ("timeout = 600", "timeout = 60", "60 s in place of 600"),
    ):
        file.write_text(file.read_text().replace(old, new))
        worse = {check.name: check for check in doctor._clients(places)}["Codex"]
        assert worse.state is State.WARN and said in worse.what and worse.fix == "assent connect codex --hook"
    connections.connect(connections.plan(BY_ID["codex"], connections.setup(hook=True)), agents.add)
    renewed = {check.name: check for check in doctor._clients(places)}["Codex"]
    assert "features.hooks" in renewed.what
    agents.revoke("codex")
    revoked = {check.name: check for check in doctor._clients(places)}["Codex"]
    assert revoked.state is State.BAD and "not valid" in revoked.what
    (home / ".cursor/mcp.json").write_text("{")
    broken = {check.name: check for check in doctor._clients(places)}["Cursor"]
    assert broken.state is State.BAD and "mcp.json" in broken.what


def test_one_gvisor_is_enough_and_its_missing_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixes, "own_group", lambda missing: f"for {len(missing)}")
    gone = Readiness(False, problem="Docker daemon not available.")
    memory = "memory limited by a control group: there is none"
    direct = Readiness(True, ("kernel of its own",), (memory,))
    found = {Isolation.GVISOR: gone, Isolation.GVISOR_DIRECT: direct, Isolation.DOCKER: gone}
    checks = [doctor._container(one, found, Settings()) for one in found]
    assert [check.state for check in checks] == [State.UNUSED, State.OK, State.UNUSED]
    assert checks[0].what == "Not needed, as gVisor without Docker works. Docker daemon not available."
    assert checks[1].what == f"Active: kernel of its own. Missing: {memory}."
    assert checks[1].fix == "for 1"
    absent = replace(direct, missing=("python: no image assent-python:1", memory), remedy="assent images")
    found[Isolation.GVISOR_DIRECT] = absent
    half = doctor._container(Isolation.GVISOR_DIRECT, found, Settings())
    assert (half.state, half.fix) == (State.WARN, "assent images")
    assert memory not in half.what


OLD, RECENT = "0.0~20221219.0-2+b3", "0.0~20240729.0-4"
FETCH = "assent images --gvisor && sudo install -m 755 {} /usr/local/bin/runsc"


@pytest.mark.parametrize(
    ("there", "offered", "fix"),
    [
        ((), RECENT, "sudo apt-get install runsc mmdebstrap uidmap && assent images"),
        (("docker",), RECENT, "sudo apt-get install runsc && assent images"),
        (("runsc", "mmdebstrap"), RECENT, "assent images"),
        (("runsc", "docker"), RECENT, "assent images"),
        (("runsc",), "", "sudo apt-get install mmdebstrap uidmap && assent images"),
        ((), OLD, f"sudo apt-get install mmdebstrap uidmap && {FETCH} && assent images"),
        (("mmdebstrap",), OLD, f"{FETCH} && assent images"),
        (("mmdebstrap", "an old runsc"), OLD, f"{FETCH} && assent images"),
        (("docker",), "", f"sudo apt-get install mmdebstrap uidmap && {FETCH} && assent images"),
    ],
)
def test_gvisor_without_an_engine_is_installed_by_one_command(
    monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], offered: str, fix: str
) -> None:
    monkeypatch.setattr(fixes.shutil, "which", lambda name: name if name in (*there, "apt-get") else None)
    monkeypatch.setattr(fixes, "located", lambda: "/usr/bin/runsc" if {"runsc", "an old runsc"} & {*there} else "")
    monkeypatch.setattr(fixes, "is_recent", lambda path: bool(path) and path == "/usr/bin/runsc" and "runsc" in there)
    monkeypatch.setattr(fixes, "_candidate", lambda _package: offered)
    monkeypatch.setattr(fixes, "_read", lambda _path: "")
    monkeypatch.setattr(fixes.os, "geteuid", lambda: 1000)
    gone = Readiness(False, problem="It is not there.", remedy="assent images")
    found = dict.fromkeys((Isolation.GVISOR, Isolation.GVISOR_DIRECT, Isolation.DOCKER), gone)
    check = doctor._container(Isolation.GVISOR_DIRECT, found, Settings())
    assert (check.state, check.fix) == (State.WARN, fix.format(Places.standard().runsc))


@pytest.mark.parametrize(
    ("there", "offered", "root", "can"),
    [
        (("mmdebstrap", "newuidmap"), OLD, False, True),
        (("mmdebstrap",), OLD, False, False),
        (("newuidmap",), OLD, True, False),
        (("mmdebstrap",), RECENT, True, True),
        # The package is put in place by the one command that is needed anyway, and updated with the others.
        (("mmdebstrap", "newuidmap"), RECENT, False, False),
        (("mmdebstrap", "newuidmap", "runsc"), OLD, False, False),
        (("mmdebstrap", "newuidmap", "fetched"), OLD, False, False),
    ],
)
def test_gvisor_is_fetched_by_assent_where_that_takes_no_rights_it_has_not(
    monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], offered: str, root: bool, can: bool
) -> None:
    kept = str(Places.standard().runsc)
    recent = {"runsc": "/usr/bin/runsc", "fetched": kept}
    monkeypatch.setattr(fixes.shutil, "which", lambda name: name if name in (*there, "apt-get") else None)
    monkeypatch.setattr(fixes, "located", lambda: "/usr/bin/runsc" if "runsc" in there else "")
    monkeypatch.setattr(fixes, "is_recent", lambda path: path in {recent.get(name) for name in there})
    monkeypatch.setattr(fixes, "_candidate", lambda _package: offered)
    monkeypatch.setattr(fixes, "_read", lambda _path: "")
    monkeypatch.setattr(fixes.os, "geteuid", lambda: 0 if root else 1000)
    gone = Readiness(False, problem="It is not there.", remedy="assent images")
    found = dict.fromkeys((Isolation.GVISOR, Isolation.GVISOR_DIRECT, Isolation.DOCKER), gone)
    check = doctor._container(Isolation.GVISOR_DIRECT, found, Settings())
    assert check.gvisor is can
    assert ("It is fetched" in check.what) is ("fetched" in there)
    assert not doctor._container(Isolation.DOCKER, found, Settings()).gvisor
    monkeypatch.setattr(fixes, "_read", lambda _path: "1")
    assert not root or fixes.can_fetch_gvisor() is can, "root needs no profile"
    assert root or not fixes.can_fetch_gvisor(), "it could not be used here"


def test_an_old_gvisor_of_docker_is_replaced_by_a_recent_one(monkeypatch: pytest.MonkeyPatch) -> None:
    recent: set[str] = set()
    monkeypatch.setattr(fixes, "located", lambda: "/usr/bin/runsc")
    monkeypatch.setattr(fixes, "is_recent", lambda path: path in recent)
    monkeypatch.setattr(fixes, "_candidate", lambda _package: OLD)
    monkeypatch.setattr(fixes.shutil, "which", lambda name: name)
    monkeypatch.setattr(fixes.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(fixes, "SYSTEMD", "/")
    monkeypatch.setattr(fixes.endpoint, "find", lambda: Endpoint(STANDARD))
    old = Readiness(False, problem=f"The gVisor that is here {TOO_OLD}.", remedy="Something else.")
    kept = Places.standard().runsc
    again = "sudo {} install && sudo systemctl reload docker"
    fetched = f"{FETCH.format(kept)} && {again.format('/usr/local/bin/runsc')}"
    assert fixes.container(Isolation.GVISOR, old) == fetched
    recent.add(str(kept))
    assert fixes.container(Isolation.GVISOR, old) == fetched.removeprefix("assent images --gvisor && ")
    recent.add("/usr/bin/runsc")
    assert fixes.container(Isolation.GVISOR, old) == again.format("/usr/bin/runsc")
    monkeypatch.setattr(fixes.endpoint, "find", lambda: Endpoint("ssh://elsewhere"))
    assert fixes.container(Isolation.GVISOR, old) == "Something else."


@pytest.mark.parametrize(
    ("fix", "typed"),
    [
        ("assent images", "/a/assent images"),
        ("sudo apt-get install runsc && assent images", "sudo apt-get install runsc && /a/assent images"),
        ("Answer on the terminal: assent terminal", "Answer on the terminal: /a/assent terminal"),
        ("Then start Assent again.", "Then start Assent again."),
    ],
)
def test_a_fix_names_assent_as_a_shell_finds_it(monkeypatch: pytest.MonkeyPatch, fix: str, typed: str) -> None:
    monkeypatch.setattr(own_command, "own_program", lambda: "/a/assent")
    check = Check("It", State.WARN, "", fix)
    for found, expected in ((None, typed), ("/another/assent", typed), ("/a/assent", fix)):
        monkeypatch.setattr(fixes.shutil, "which", lambda _name, found=found: found)
        assert fixes.as_typed(check)[0].fix == expected


@pytest.mark.parametrize(
    ("wanted", "installed", "engine", "expected"),
    [
        ("auto", True, {"runsc": {"path": "/usr/bin/runsc"}}, ["Store"]),
        ("auto", True, {"runc": {"path": "runc"}}, ["Store", "FolderStore"]),
        ("auto", True, None, ["FolderStore"]),
        ("auto", False, {"runc": {}}, ["Store"]),
        ("docker", True, None, ["Store"]),
        ("gvisor-direct", False, {"runsc": {}}, ["FolderStore"]),
    ],
)
def test_images_belong_where_something_starts_from_them(
    monkeypatch: pytest.MonkeyPatch, wanted: str, installed: bool, engine: dict[str, object] | None, expected: list[str]
) -> None:
    class Client:
        async def call(self, _function: object, _seconds: float) -> dict[str, object]:
            if engine is None:
                raise lost(OSError())
            return {"Runtimes": engine}

    monkeypatch.setattr(image_stores, "located", lambda: "/usr/bin/runsc" if installed else "")
    monkeypatch.setattr(image_stores, "store", lambda _context: Store(Client()))  # type: ignore[arg-type]
    assert [
        type(one).__name__ for one in asyncio.run(image_stores.stores(replace(Settings(), sandbox_type=wanted)))
    ] == expected


def test_without_an_engine_and_gvisor_it_is_said_how_to_get_either(monkeypatch: pytest.MonkeyPatch) -> None:
    class Client:
        async def call(self, _function: object, _seconds: float) -> object:
            raise lost(OSError())

    monkeypatch.setattr(image_stores, "located", lambda: "")
    monkeypatch.setattr(image_stores, "store", lambda _context: Store(Client()))  # type: ignore[arg-type]
    with pytest.raises(KnownError, match=r"runsc.*assent images --gvisor"):
        asyncio.run(image_stores.stores(Settings()))
