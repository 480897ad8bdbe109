"""GitHub Copilot CLI, opencode, Cline, Goose and Qwen Code: connected by `assent connect`, with HOME and PATH alone.

Each calls a tool that a person approves, and one that is denied, and brings both answers to its model.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from runner.assembly import open_engine
from runner.model.decision import Verdict
from runner.model.events import QuestionAsked
from runner.system.places import Places
from tests.components import CLINE, COPILOT, GOOSE, NODE_22, OPENCODE, QWEN, require
from tests.path.mock_model import SAID, serving
from tests.path.programs import end_those_at, kill
from tests.patience import HANGS
from tests.recorded import records

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from runner.engine.engine import Engine
    from runner.model.events import Event
    from tests.path.mock_model import Answering

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(300)]
PROMPT = "Do it."
DENIED = "print('denied')"
Prepared = tuple[list[str], dict[str, str]]
"""A command, and what its environment has besides HOME and PATH: where its model is."""


def _copilot(_home: Path, model: Answering) -> Prepared:
    more = {"COPILOT_PROVIDER_BASE_URL": f"{model.address}/v1", "COPILOT_MODEL": "mock", "COPILOT_OFFLINE": "true"}
    return [COPILOT, "-p", PROMPT, "--allow-tool", "assent"], more


def _opencode(home: Path, model: Answering) -> Prepared:
    options = {"baseURL": f"{model.address}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"mock": {}}}
    file = home / ".config/opencode/opencode.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"provider": {"mock": provider}, "model": "mock/mock", "autoupdate": False}))
    return [OPENCODE, "run", PROMPT], {"OPENCODE_DISABLE_MODELS_FETCH": "1"}


def _cline(home: Path, model: Answering) -> Prepared:
    words = ["auth", "-p", "openai", "-k", "none", "-b", f"{model.address}/v1", "-m", "mock"]
    subprocess.run([CLINE, *words], env=environment_of(home), check=True, capture_output=True)
    return [CLINE, PROMPT], {}


def _goose(_home: Path, model: Answering) -> Prepared:
    more = {"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "mock", "OPENAI_HOST": model.address, "OPENAI_API_KEY": "none"}
    return [GOOSE, "run", "--no-session", "--text", PROMPT], {"GOOSE_DISABLE_KEYRING": "1", **more}


def _qwen(home: Path, model: Answering) -> Prepared:
    (home / ".qwen").mkdir()
    (home / ".qwen/settings.json").write_text(json.dumps({"security": {"auth": {"selectedType": "openai"}}}))
    more = {"OPENAI_BASE_URL": f"{model.address}/v1", "OPENAI_MODEL": "mock", "OPENAI_API_KEY": "none"}
    return [QWEN, "--prompt", PROMPT], {"PATH": f"{NODE_22}:{os.environ['PATH']}", **more}


PROGRAMS: dict[str, Callable[[Path, Answering], Prepared]] = {
    "copilot-cli": _copilot,
    "opencode": _opencode,
    "cline": _cline,
    "goose": _goose,
    "qwen-code": _qwen,
}


def environment_of(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home)}


@asynccontextmanager
async def started(command: list[str], environment: dict[str, str], folder: Path) -> AsyncIterator[Process]:
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, cwd=folder, stdin=nothing, stdout=pipe, stderr=pipe, start_new_session=True
    )
    try:
        yield process
    finally:
        kill(process)
        await process.communicate()
        end_those_at(environment["HOME"])


def _answer_for(engine: Engine, agent: str) -> None:
    """Be the person: deny what says so, approve all else."""

    def hear(event: Event) -> None:
        if isinstance(event, QuestionAsked):
            question = engine.desk.question(event.request_id)
            ticket = engine.ticket(agent, event.request_id)
            assert question is not None and ticket is not None
            denied = ticket.case.request.code == DENIED
            verdict, reason = (Verdict.DENIED, "Not this one") if denied else (Verdict.APPROVED, "")
            assert engine.answer(event.request_id, question.digest, verdict, reason) == ""

    engine.listen(hear)


@pytest.mark.parametrize("client", PROGRAMS)
async def test_a_connected_client_calls_and_brings_both_answers_to_its_model(tmp_path: Path, client: str) -> None:
    require(client)
    require("bubblewrap")
    tmp_path.chmod(0o755)
    home, folder = tmp_path / "home", tmp_path / "home" / "wo rk"
    folder.mkdir(parents=True)
    state = home / ".local/state/assent"
    places = Places(home / ".config/assent", home / ".local/share/assent", state, state, home=home)
    engine = open_engine(places, {"ASSENT_PORT": "0"})
    await engine.start()
    try:
        _answer_for(engine, client)
        run = ("code_execute", {"language": "python", "code": "print(6 * 7)"})
        denied = ("code_execute", {"language": "python", "code": DENIED})
        with serving(run, denied) as model:
            command, more = PROGRAMS[client](home, model)
            words = [sys.executable, "-m", "app", "connect", client, "--yes", "--no-wait"]
            connected = await asyncio.to_thread(
                subprocess.run, words, env=environment_of(home), capture_output=True, text=True, check=False
            )
            assert connected.returncode == 0, connected.stderr
            async with started(command, {**environment_of(home), **more}, folder) as process:
                async with asyncio.timeout(HANGS):
                    out, err = await process.communicate()
            said = (out + err).decode()
            ran, refused = model.answers or ("", said)
    finally:
        await engine.close("the test is over")
    assert "42" in ran, (ran, said)
    assert "Not this one" in refused and "Nothing was run" in refused, refused
    assert SAID in said
    assert [one.request.code for one in reversed(records(places.ledger))] == ["print(6 * 7)", DENIED]
