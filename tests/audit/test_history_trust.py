"""The console at its start, `assent verify` and the window about a history that was changed behind their back."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from app.history.checking import verdict_words
from app.parts.notice import Tone
from runner.audit.ledger.verify import verify
from runner.commands.cli import main
from runner.identity import signer
from runner.identity.secrets import Secrets
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.events import EngineTroubled, TroubleCleared
from runner.model.lifecycle import Phase
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.settings.loading import load
from runner.system.places import Places
from tests.patience import HANGS
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from runner.model.events import Event

pytestmark = pytest.mark.asyncio


class Console(Stage):
    """An engine whose secrets are in a file that was agreed to, and what it said about the history."""

    def __init__(self, places: Places) -> None:
        super().__init__(places, settings={"SANDBOX_STORE_CODE": "always"})
        self.trouble = ""

    def _hear(self, event: Event) -> None:
        match event:
            case EngineTroubled(area="ledger"):
                self.trouble = event.what
            case TroubleCleared(area="ledger"):
                self.trouble = ""
            case _:
                pass
        super()._hear(event)

    async def open(self) -> Console:
        """Started, and with the key at hand."""
        await self.engine.start(gateway=False)
        await self.sealed()
        return self

    async def sealed(self) -> None:
        """The key was used, or it is said why not."""
        async with asyncio.timeout(HANGS):
            while self.engine.parts.ledger._anchors is None and self.engine.parts.ledger.doubt is None:
                await asyncio.sleep(0)

    async def run(self, code: str) -> None:
        await self.works(replace(HELLO, code=code))

    async def close(self) -> None:
        await self.engine.close("the test is over")


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.under(home)
    places.make()
    places.settings.write_text("secrets: {file: true}\nclassifier: {auto_approve_low: false}\n")
    return places


@pytest_asyncio.fixture
async def opened(places: Places) -> AsyncIterator[list[Console]]:
    """Consoles to be closed at the end."""
    consoles: list[Console] = []
    yield consoles
    for console in consoles:
        await console.close()


async def session(places: Places, *codes: str) -> None:
    console = await Console(places).open()
    assert console.trouble == ""
    for code in codes:
        await console.run(code)
    await console.close()


def verified(capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(["verify"])
    said = capsys.readouterr()
    return code, said.out + said.err


async def test_sessions_after_each_other_are_good(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    await session(places, "print(1)")
    await session(places, "print(2)")
    known = signer.anchor(Secrets(places, load(places, {}).settings))
    verdict = verify(places.ledger)
    assert known is not None and known.seq == verdict.entries
    code, said = verified(capsys)
    assert (code, "as they were written" in said) == (0, True)


async def rolled_back(places: Places) -> None:
    old = places.ledger.with_name("old")
    shutil.copy(places.ledger, old)
    await session(places, "print(2)")
    old.replace(places.ledger)


async def removed(places: Places) -> None:
    places.ledger.unlink()


async def replaced_by_another(places: Places) -> None:
    secrets = Secrets(places, load(places, {}).settings)
    known = signer.anchor(secrets)
    assert known is not None
    places.ledger.unlink()
    signer.forget_anchor(secrets)
    await session(places, *["print(3)"] * 3)
    signer.set_anchor(secrets, known)


@pytest.mark.parametrize("change", [rolled_back, removed, replaced_by_another])
async def test_a_changed_history_is_reported_at_the_start_and_a_new_one_can_be_begun(
    places: Places, opened: list[Console], capsys: pytest.CaptureFixture[str], change: Callable[[Places], object]
) -> None:
    await session(places, "print(1)")
    await change(places)  # type: ignore[misc]
    if change is removed:
        assert verified(capsys)[0] == 1
    console = Console(places)
    opened.append(console)
    await console.open()
    await console.until(lambda: console.trouble)
    # Writing an entry does not make it good.
    await console.engine.membership.add("codex")
    ticket = await console.engine.submit(Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, "print(4)"))
    await console.until(lambda: ticket.case.phase is Phase.ASKED)
    assert console.trouble
    refused = console.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")
    assert refused.startswith("Not approved: ")
    console.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.DENIED, "")
    await ticket.answered(None)
    assert verified(capsys)[0] == 1

    await console.engine.history.renew()
    await console.sealed()
    assert console.trouble == ""
    with closing(sqlite3.connect(places.ledger)) as connection:
        ((body,),) = connection.execute("SELECT data FROM entries JOIN bodies USING (seq) WHERE kind = 'renewed'")
    assert json.loads(body)["why"] and json.loads(body)["signed"]["seq"]
    await console.close()
    await session(places, "print(5)")
    assert verified(capsys)[0] == 0


async def test_a_console_that_is_killed_before_it_notes_its_last_head_is_no_alarm(places: Places) -> None:
    await session(places, "print(1)")
    secrets = Secrets(places, load(places, {}).settings)
    known = signer.anchor(secrets)
    await session(places, "print(2)")
    assert known is not None
    signer.set_anchor(secrets, known)
    await session(places)


async def test_a_history_of_an_earlier_version_is_taken_over(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has no note beside the key; that is made at the next start."""
    await session(places, "print(1)")
    secrets = Secrets(places, load(places, {}).settings)
    signer.forget_anchor(secrets)
    assert verified(capsys)[0] == 0
    await session(places)
    assert signer.anchor(secrets) is not None
    assert verified(capsys)[0] == 0


async def test_without_its_key_nobody_vouches(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    await session(places, "print(1)")
    places.secrets.unlink()
    code, said = verified(capsys)
    assert (code, "signing key is not available" in said) == (2, True)
    tone, words = verdict_words(verify(places.ledger))
    assert tone == Tone.WARN
    assert words.startswith("Not vouched for: ")


async def test_a_key_that_is_no_key_is_reported(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    await session(places)
    secrets = Secrets(places, load(places, {}).settings)
    secrets.set(signer.NAME, "not hex")
    with pytest.raises(KnownError, match="damaged where secrets are kept"):
        signer.signing_key(secrets)
    code, said = verified(capsys)
    assert (code, "damaged where secrets are kept" in said) == (2, True)
    console = Console(places)
    await console.engine.start(gateway=False)
    await console.until(lambda: console.engine._bulletin.standing("secrets"))
    await console.close()


@pytest.mark.parametrize("content", [b"{}", None])
async def test_an_altered_artifact_is_named(
    places: Places, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    await session(places, "print(1)")
    (artifact,) = places.artifacts.glob("*.json")
    good = artifact.read_bytes()
    if content is None:
        # A pipe in its place must not hold the check for ever.
        import os

        artifact.unlink()
        os.mkfifo(artifact)
    else:
        artifact.write_bytes(content)
    code, said = verified(capsys)
    assert (code, artifact.name in said) == (1, True)
    tone, words = verdict_words(signer.check_ledger(places, signer.vouching(places)))
    assert (tone, artifact.name in words) == (Tone.BAD, True)
    artifact.unlink()
    assert verified(capsys)[0] == 0, "what the settings do not keep is no fault"
    artifact.write_bytes(good)
    assert verified(capsys)[0] == 0


async def test_another_ledger_says_what_could_be_checked(
    places: Places, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await session(places, "print(1)")
    copy = shutil.copy(places.ledger, tmp_path / "copy.sqlite3")
    assert main(["verify", str(copy)]) == 2
    said = capsys.readouterr().out
    assert "the signatures by the key of this installation" in said
    assert "Not checked: whether it is the whole one" in said
    places.secrets.unlink()
    assert main(["verify", str(copy)]) == 2
    assert "the signatures by the keys that it names itself" in capsys.readouterr().out
    assert main(["verify", str(places.ledger)]) == 2
    assert "This is not the history in use" not in capsys.readouterr().out
