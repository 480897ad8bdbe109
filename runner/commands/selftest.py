"""Tests this installation in a temporary home, as `assent self-test`: what it carries, and the whole path of a
request (spec O4).

Each step prints a line. What this machine lacks is skipped, with the reason; everything else has to work.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.assembly import open_engine
from runner.audit.files.redact import kinds, redacted
from runner.audit.files.samples import samples
from runner.audit.ledger.verify import verify
from runner.gateway import catalog
from runner.gateway.own_command import own_program
from runner.identity.agents import Agents
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.events import QuestionAsked, RequestDecided
from runner.model.language_support import LANGUAGES, OWN
from runner.model.request import Isolation, Language, Request, Tool
from runner.model.submission import Submission
from runner.sandbox import available
from runner.sandbox.seccomp.own import STOPPED, check
from runner.sandbox.self_check import self_check
from runner.settings.declared import PREFIX
from runner.settings.loading import load
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from runner.engine.engine import Engine
    from runner.model.events import Event
    from runner.sandbox.contract import Readiness, Sandbox
    from runner.sandbox.self_check import PromiseCheck
    from runner.settings.loading import Settings

KEYRINGS = ("keyring.backends.SecretService", "keyring.backends.kwallet", "keyring.backends.libsecret")
ASK_ALWAYS = {"ASSENT_AUTO_APPROVE_LOW": "false", "ASSENT_PORT": "0"}
NAMED = {Isolation.PROCESS: "local"}
"""What settings call a sandbox, where that is not its own name."""
BRIDGE_SECONDS = 30.0
CLOSING = "The self-test is over."
AGENT = "self-test"
E2B_SETTING = re.compile(r"E2B_[A-Z_]{1,40}\Z|ASSENT_E2B_[A-Z_]{1,40}\Z")


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """The outcome of one step."""

    name: str
    problem: str = ""
    """What is wrong; '' where it works or was skipped."""
    words: str = ""
    """What was found, or why it was skipped."""
    skipped: bool = False

    @property
    def line(self) -> str:
        sign = "BAD " if self.problem else "skip" if self.skipped else "ok  "
        return f"{sign}  {self.name}: {self.problem or self.words}"


Step = tuple[str, "Callable[[], SelfCheck]"]
"""The name of a step, and what tries it."""


def main(more: tuple[Step, ...] = ()) -> int:
    """Run the self-test, printing each step; return 0 when everything that can be tried here works.

    `more` are steps of packages above this one.
    """
    found = []
    with tempfile.TemporaryDirectory(prefix="assent-self-test-") as home:
        for step in _steps((*CARRIED, *more), Path(home)):
            found.append(step)
            print(step.line, flush=True)
    return 1 if any(step.problem for step in found) else 0


def of_sandbox(name: str) -> int:
    """Try each promise of one sandbox and print it, then whole requests in it; return 0 when all of that works."""
    with tempfile.TemporaryDirectory(prefix="assent-self-test-") as home:
        try:
            sandbox = available.by_name(name, Places.under(Path(home, "first")))
            found, ready = asyncio.run(_promises(sandbox))
        except KnownError as error:
            print(error)
            return 1
        if not found:
            print(f"{ready.problem} {ready.remedy}".strip())
            return 1
        steps = asyncio.run(_played(Path(home, "path"), sandbox.isolation, ready, _chosen(name, sandbox.isolation)))
        for step in steps:
            print(step.line, flush=True)
    broken = [one for one in found if one.problem]
    tried = sum(one.holds for one in found)
    print(f"{tried} of {len(found)} promises hold, {len(broken)} do not, {len(found) - tried - len(broken)} not tried.")
    return 1 if broken or any(step.problem for step in steps) else 0


async def _promises(sandbox: Sandbox) -> tuple[tuple[PromiseCheck, ...], Readiness]:
    """Return what came of each trial, and what the sandbox says of itself; no trials where it does not work."""
    ready = await sandbox.check()
    if not ready.ready:
        await sandbox.close()
        return (), ready
    return await self_check(sandbox, lambda one: print(one.line, flush=True)), ready


def _chosen(name: str, isolation: Isolation) -> dict[str, str]:
    """Return the settings that have requests run in the sandbox of that name, whatever its promises are worth."""
    if isolation is Isolation.PLUGIN:
        return {"SANDBOX_TYPE": f"{PREFIX}{name}", "ASSENT_PLUGIN_COUNTS_AS": "local"}
    chosen = {"SANDBOX_TYPE": name}
    return _named({**os.environ, **chosen}) | chosen


def _steps(carried: tuple[Step, ...], home: Path) -> Iterator[SelfCheck]:
    """Yield every step, in the order in which one depends on the other; what is raised in one is its problem."""
    for name, step in carried:
        try:
            yield step()
        except Exception as error:
            yield SelfCheck(name, _raised(error))
    try:
        yield from _path(home)
    except Exception as error:
        yield SelfCheck("sandboxes", _raised(error))
    try:
        yield from _profiles(load(Places.standard(), os.environ).settings)
    except Exception as error:
        yield SelfCheck("profiles", _raised(error))


def _profiles(settings: Settings) -> Iterator[SelfCheck]:
    """Yield whether the profiles that this account's settings name count. The steps above run without them."""
    if path := settings.seccomp_profile:
        name = "seccomp profile of the settings"
        try:
            checked = check(Path(os.path.expanduser(path)), settings.seccomp_allows)
        except KnownError as error:
            yield SelfCheck(name, f"{error.what} {STOPPED}")
        else:
            words = f"{checked.name} counts, in the local sandbox and in Docker. It says nothing in gVisor."
            yield SelfCheck(name, words=words)
    if profile := settings.apparmor_profile:
        words = f"{profile}, in Docker alone. `assent doctor` says whether the engine has AppArmor."
        yield SelfCheck("AppArmor profile of the settings", words=words, skipped=True)


def _title(kind: Isolation) -> str:
    return f"{kind.label.removesuffix(' sandbox')} sandbox"


def _raised(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _path(home: Path) -> Iterator[SelfCheck]:
    """Yield the steps of the path of requests. Each kind of sandbox has a home of its own."""
    there = asyncio.run(_sandboxes(Places.under(home / "first")))
    if not any(ready.ready for _, ready in there):
        yield SelfCheck("sandboxes", "there is none in which code can run; `assent doctor` says what to do")
    for kind, ready in there:
        if not ready.ready:
            yield SelfCheck(f"{_title(kind)}", words=ready.problem, skipped=True)
            continue
        chosen = {**_named(os.environ), "SANDBOX_TYPE": NAMED.get(kind, kind.value)}
        yield from asyncio.run(_played(home / kind, kind, ready, chosen))


async def _sandboxes(places: Places) -> list[tuple[Isolation, Readiness]]:
    """Return what each kind of sandbox says of itself; without bubblewrap there are plain processes in its place."""
    given = _named(os.environ)
    # All that are there are tried, those as well that are off until somebody adds them.
    settings = load(places, {**given, "SANDBOX_SUPPORTED_LANGUAGES": ",".join(OWN)}).settings
    there = available.sandboxes(settings, places)
    checked = [(sandbox, await sandbox.check()) for sandbox in there]
    found = [(sandbox.isolation, ready) for sandbox, ready in checked]  # certain only after the check
    await asyncio.gather(*(sandbox.close() for sandbox in there))
    return found


def _named(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what the environment says of E2B, where it names that: nothing else of this account counts here."""
    if environment.get("SANDBOX_TYPE", "").lower() not in ("e2b", "cloud"):
        return {}
    return {name: text for name, text in environment.items() if name == "SANDBOX_TYPE" or E2B_SETTING.match(name)}


async def _played(home: Path, kind: Isolation, ready: Readiness, chosen: Mapping[str, str]) -> list[SelfCheck]:
    return [step async for step in _play(home, kind, ready, chosen)]


async def _play(home: Path, kind: Isolation, ready: Readiness, chosen: Mapping[str, str]) -> AsyncIterator[SelfCheck]:
    """Yield the steps of one kind of sandbox: every language, the gateway and the bridge, the history.

    `chosen` are the settings that have it taken.
    """
    settings = {**chosen, **ASK_ALWAYS}
    settings |= {"ASSENT_WEAKEST_ISOLATION_HIGH": "process", "SANDBOX_SUPPORTED_LANGUAGES": ",".join(OWN)}
    places = Places.under(home)
    token = Agents(places).add(AGENT)
    engine = open_engine(places, settings)
    asked: asyncio.Queue[QuestionAsked | RequestDecided] = asyncio.Queue()

    def hear(event: Event) -> None:
        if isinstance(event, QuestionAsked | RequestDecided):
            asked.put_nowait(event)

    engine.listen(hear)
    await engine.start()
    try:
        for language in OWN:
            name = f"{_title(kind)}, {language}"
            if language in (ready.images or ready.versions):
                yield await _run(engine, asked, name, language)
            else:
                said = next((line for line in ready.missing if line.startswith(f"{language}:")), "it is not there")
                yield SelfCheck(name, words=said.removeprefix(f"{language}: "), skipped=True)
        yield await asyncio.to_thread(_bridge, home, token)
    except KnownError as error:
        yield SelfCheck(f"{_title(kind)}", str(error))
    finally:
        await engine.close(CLOSING)
    verdict = verify(places.ledger)
    yield SelfCheck("history", "" if verdict.ok else verdict.what, verdict.what)


async def _run(
    engine: Engine, asked: asyncio.Queue[QuestionAsked | RequestDecided], name: str, language: Language
) -> SelfCheck:
    """Ask for one program, approve it and compare what it prints."""
    code, wanted = LANGUAGES[language].sample
    ticket = await engine.submit(Submission(AGENT, Tool.CODE_EXECUTE, language, code))
    while (event := await asked.get()).request_id != ticket.request_id:
        pass
    if isinstance(event, RequestDecided):
        return SelfCheck(name, f"decided before anybody was asked: {event.decision.reason}")
    if refused := engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, ""):
        return SelfCheck(name, refused)
    answer = await ticket.answered(None)
    if answer is None or answer.result is None or answer.result.stdout.strip() != wanted:
        return SelfCheck(name, "no answer" if answer is None else answer.text())
    return SelfCheck(name, words=f"asked, approved, ran in {answer.result.duration * 1e3:.0f} ms")


def _bridge(home: Path, token: str) -> SelfCheck:
    """Ask for the list of tools as an agent's client does: by a process of `assent mcp`."""
    name = "gateway, through assent mcp"
    asked: tuple[dict[str, object], ...] = (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": AGENT, "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    )  # fmt: skip
    command = [own_program(), "mcp"]
    environment = {**os.environ, "ASSENT_HOME": str(home), "ASSENT_TOKEN": token}
    pipe = subprocess.PIPE
    try:
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
            timer = threading.Timer(BRIDGE_SECONDS, process.kill)
            timer.start()
            try:
                tools = _tools(process, asked)
            finally:
                timer.cancel()
                process.kill()
    except (OSError, ValueError, KeyError) as error:
        # Also where it has ended: what was not written yet cannot be written at the end either.
        return SelfCheck(name, _raised(error))
    missing = sorted({tool["name"] for tool in catalog.offered(AGENT)} - tools)
    return SelfCheck(name, f"it did not name {', '.join(missing)}" if missing else "", f"{len(tools)} tools")


def _tools(process: subprocess.Popen[str], asked: tuple[dict[str, object], ...]) -> set[str]:
    """Send `asked` and return the names of the tools in the answer to the last; none where there is no answer."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("".join(json.dumps(one) + "\n" for one in asked))
    process.stdin.flush()
    for line in process.stdout:
        answer = json.loads(line)
        if answer.get("id") == asked[-1]["id"]:
            return {tool["name"] for tool in answer["result"]["tools"]}
    return set()


# ---- what the installation carries ----


def _rules() -> SelfCheck:
    settings = load(Places.under(Path("/nonexistent")), {})
    from runner.risk import user_rules
    from runner.risk.assess import assess

    found = user_rules.read(Path("/nonexistent"))
    problem = " ".join((*settings.problems, *found.problems))
    if not assess(Request("", AGENT, Tool.CODE_EXECUTE, 0.0, Language.SHELL, "rm -rf /")).findings:
        problem = "nothing is found in the worst of commands"
    return SelfCheck("rules and settings", problem, "all bundled rules load")


def _redaction() -> SelfCheck:
    """Every detector takes its own sample out; one that is missing would leave credentials in the history."""
    known, there = samples(), kinds()
    wrong = [f"{kind} has no sample" for kind in sorted(there - known.keys())]
    wrong += [f"{kind} is not looked for" for kind in sorted(known.keys() - there)]
    for kind, sample in known.items():
        if sample.secret in str(redacted({"output": sample.text}).data["output"]):
            wrong.append(f"{kind} stays readable")
    return SelfCheck("redaction", "; ".join(wrong), f"{len(known)} kinds of credentials are taken out")


def _keyrings() -> SelfCheck:
    for name in KEYRINGS:
        importlib.import_module(name)
    return SelfCheck("keyring", words=f"{len(KEYRINGS)} backends load")


CARRIED: tuple[Step, ...] = (("rules and settings", _rules), ("redaction", _redaction), ("keyring", _keyrings))

if __name__ == "__main__":
    sys.exit(main())
