"""The engine without a window: questions are asked on the terminal (`assent terminal`, `python -m runner`)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import termios
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from runner.approval.deliberate import ApproveBy, new_word
from runner.approval.editing import included_files
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.events import (
    EngineTroubled,
    GatewayOpened,
    HostContacted,
    QuestionAsked,
    RehearsalMoved,
    RequestArrived,
    RequestAssessed,
    RequestClosed,
    RequestDecided,
    RunFinished,
    SandboxChosen,
)
from runner.model.request import CODE, NetworkMode
from runner.model.shown import in_one_line, visible
from runner.system.log import logged
from runner.system.places import Places
from runner.system.private import keep_private
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.approval.draft import Draft
    from runner.engine.engine import Engine
    from runner.model.assessment import Assessment
    from runner.model.events import Event
    from runner.model.rehearsal import Rehearsal
    from runner.model.request import Request

CLOSING = "The console was closed. Ask again when it is back."

NOBODY = "Nobody is at the terminal any more."
INPUT_ENDED = "The input has ended: nobody can answer here, and what would be asked is denied. Start it in a terminal."

HAND_OVER = "hand over"
APPROVE = "approve"
INCLUDE, LEAVE = "include", "leave"
MOUSE_ONLY = "Only the mouse approves (setting window.approve_by), and a terminal has none."


IN_HEADING = ("agent", "tool", "language")


def _decides(request: Request) -> Iterator[str]:
    """Yield all that the digest covers except the heading: texts with numbered lines, then other values."""
    parts = request.parts
    for part in parts:
        if part.name != CODE:
            yield f"{part.name}:"
        for number, line in enumerate(part.text.split("\n"), 1):
            yield f"{number:>5}  {line}"
    texts = ("code", "context", "stdin", "known", "sends")
    for name, value in request.deciding().items():
        if value and name not in (*IN_HEADING, *texts):
            yield f"  {name.replace('_', ' ')}: {json.dumps(value, ensure_ascii=False)}"


def _outside(request: Request) -> Iterator[str]:
    """Yield what may leave by the network of a request, and where to."""
    if request.network is NetworkMode.NONE:
        return
    hosts = ", ".join(f"{one} (by your grant)" if one in request.granted else one for one in request.domains)
    read = f" and what the kept sandbox {request.sandbox} holds" if request.sandbox else ""
    if request.work is not None:
        read = f" and what {request.work.project} holds"
    yield f"  May be reached, and nothing else: {hosts or 'nothing'}."
    yield f"  Each of these may receive whatever the code was given, has read or made{read}."
    if any(one.startswith("*.") for one in request.domains):
        yield "  A host that begins with *. stands for every name below it; the names themselves can carry data."


def _invitation(approval: str, acceptance: str = "") -> str:
    if not approval:
        return f"{MOUSE_ONLY} Type 'deny' and a reason."
    usual = f" Type '{acceptance}' to take this weaker sandbox for the usual one from now on." if acceptance else ""
    return f"Type '{approval}' to run it, or 'deny' and a reason.{usual}"


def _approves(approval: str, answer: str) -> bool:
    """Return whether `answer` begins with the word that approves."""
    return bool(approval) and answer.strip().partition(" ")[0] == approval


class Terminal:
    """A terminal that shows one question at a time and reads the answer, a line each; end of input denies."""

    def __init__(self, engine: Engine, source: TextIO, sink: TextIO) -> None:
        self._engine = engine
        self._source = source
        self._sink = sink
        self._requests: dict[str, Request] = {}
        self._assessments: dict[str, Assessment] = {}
        self._questions: asyncio.Queue[QuestionAsked] = asyncio.Queue()
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._over = False
        """Whether the input has ended."""
        self._rehearsals: dict[str, Rehearsal] = {}
        self._present = self._approval_word = self._outcome = ""
        """The request that is asked about, what approves it, and the digest of its outcome, where that was printed."""
        self._version: Draft | None = None
        """The present request with further files of its project, once the person has included some."""

    def hear(self, event: Event) -> None:
        match event:
            case RequestArrived(request):
                self._requests[request.id] = request
            case RequestAssessed(request_id, assessment):
                self._assessments[request_id] = assessment
            case RequestClosed(request_id):
                self._requests.pop(request_id, None)
                self._assessments.pop(request_id, None)
                self._rehearsals.pop(request_id, None)
            case QuestionAsked():
                self._questions.put_nowait(event)
            case RehearsalMoved():
                self._tell_rehearsal(event)
            case RequestDecided(request_id, decision):
                self._say(f"{request_id[:8]} {decision.verdict}: {decision.reason}")
            case HostContacted(request_id, contact) if contact.allowed is False and contact.times == 1:
                self._say(f"{request_id[:8]} refused {contact.name}: it {contact.why}")
            case RunFinished(request_id, result):
                self._say(f"{request_id[:8]} {result.outcome} after {result.duration:.1f} s {result.error}")
            case GatewayOpened(address):
                self._say(f"Agents reach Assent at {address}. Ctrl+C ends it.")
            case SandboxChosen(_, words):
                self._say(words)
            case EngineTroubled(_, what, remedy):
                self._say(f"{what} {remedy}")
            case _:
                pass

    def _tell_rehearsal(self, moved: RehearsalMoved) -> None:
        """Note an outcome, and print it where its question is the one on the terminal."""
        self._rehearsals.pop(moved.request_id, None)
        self._outcome = "" if self._present == moved.request_id else self._outcome
        if moved.rehearsal is not None:
            self._rehearsals[moved.request_id] = moved.rehearsal
        if self._present == moved.request_id:
            if moved.why:
                self._say(f"No outcome: {moved.why}")
            self._show_outcome()

    def _show_outcome(self) -> None:
        """Print all that would be handed over in answer to the present question; only that can be."""
        if (rehearsal := self._rehearsals.get(self._present)) is not None:
            self._say("It ran without network:", *rehearsal.text.split("\n"))
            if self._approval_word:
                how = f"Type '{self._handing_over}' to give the agent exactly this; nothing runs again."
                self._say(f"{how} '{self._approval_word}' runs it for real.")
            self._outcome = rehearsal.digest

    @property
    def _handing_over(self) -> str:
        """What hands over the outcome on the terminal: with the word that approves, where one is to be copied."""
        return HAND_OVER if self._approval_word == APPROVE else f"{HAND_OVER} {self._approval_word}"

    async def attend(self) -> None:
        """Ask the questions, until cancelled."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), name="terminal", daemon=True).start()
        while True:
            question = await self._questions.get()
            if not self._engine.desk.position(question.request_id):
                continue
            if self._over:
                request = self._requests[question.request_id]
                self._engine.answer(request.id, request.digest, Verdict.DENIED, NOBODY)
            else:
                await self._put(question)

    async def _put(self, question: QuestionAsked) -> None:
        request, assessment = self._requests[question.request_id], self._assessments[question.request_id]
        approval = self._approval(request.agent, assessment.level)
        acceptance = self._acceptance(request) if approval else ""
        self._show(request, assessment, question, approval, acceptance)
        self._present, self._approval_word, self._outcome, self._version = request.id, approval, "", None
        self._show_outcome()
        self._forget_typed()
        while self._engine.desk.position(request.id):
            answer = await self._line(request.id)
            if answer is None:
                break
            accepting = bool(acceptance) and answer.strip() == acceptance
            word, _, name = answer.strip().partition(" ")
            if word in {INCLUDE, LEAVE} and request.sends is not None:
                said = await self._choose_file(request, question, acceptance, word, name.strip())
            else:
                shown = assessment if self._version is None else self._version.assessment
                # Other sandboxes let code run unasked again, whatever its level.
                level = None if accepting else shown.level
                said = await self._act(request, answer, level, accepting=accepting)
            if said:
                self._say(said)

    async def _choose_file(
        self, request: Request, question: QuestionAsked, acceptance: str, word: str, name: str
    ) -> str:
        """Include a file that stays behind, or no longer, and ask about that version; return what to say instead."""
        before = set() if self._version is None else set(included_files(self._version.request))
        included = before | {name} if word == INCLUDE else before - {name}
        if included == before:
            return f"{name} is {'already' if word == INCLUDE else 'not'} included."
        try:
            version = await self._engine.editing.draft(request.id, request.code, included=sorted(included))
        except KnownError as error:
            return f"Not changed: {error}"
        self._version = version
        self._approval_word = self._approval(request.agent, version.assessment.level)
        asked = replace(question, blocked=version.blocked)
        self._show(version.request, version.assessment, asked, self._approval_word, acceptance)
        return ""

    async def _act(self, request: Request, answer: str, level: Level | None, *, accepting: bool) -> str:
        """Do what was typed, after the PIN where that is asked for; return what to say."""
        approval = self._approval_word
        try:
            giving = accepting or _approves(approval, answer) or self._hands_over(answer)
            proven = giving and await self._prove(request.id, level)
        except KnownError as error:
            return f"Not approved: {error}"
        if accepting:
            return await self._accept(request, proven=proven)
        if self._version is not None and _approves(approval, answer):
            digest, included = self._version.request.digest, included_files(self._version.request)
            approve = self._engine.editing.approve
            return await approve(request.id, request.digest, request.code, digest, included=included, proven=proven)
        return self._take(request, approval, answer, proven=proven)

    async def _prove(self, request_id: str, level: Level | None) -> bool:
        """Return whether the person typed their PIN; without a question where none is asked for. Raises KnownError."""
        if not ApproveBy.of(self._engine.parts.configuration.settings).asks_pin(level):
            return False
        self._say("Type your PIN. It is not shown.")
        with self._unseen():
            line = await self._line(request_id)
        return await self._engine.proven((line or "").strip())

    @contextlib.contextmanager
    def _unseen(self) -> Iterator[None]:
        """Show nothing of what is typed, as far as the source is a terminal."""
        if not self._source.isatty():
            yield
            return
        before = termios.tcgetattr(self._source.fileno())
        hidden = [*before]
        hidden[3] = (before[3] & ~termios.ECHO) | termios.ECHONL
        # What was typed too early was visible: it is no PIN.
        termios.tcsetattr(self._source.fileno(), termios.TCSAFLUSH, hidden)
        try:
            yield
        finally:
            termios.tcsetattr(self._source.fileno(), termios.TCSADRAIN, before)

    def _approval(self, agent: str, level: Level) -> str:
        """Return the word that approves; none where only the mouse may."""
        by = ApproveBy.of(self._engine.parts.configuration.settings)
        if by is ApproveBy.MOUSE:
            return ""
        return new_word() if by.asks_word(level) else agent if level is Level.CRITICAL else APPROVE

    def _acceptance(self, request: Request) -> str:
        """Return what accepts the sandbox of `request`; empty where it is as strong as last time."""
        weaker = self._engine.parts.configuration.policy.weaker(request)
        return f"accept {request.isolation.label}" if weaker else ""

    async def _accept(self, request: Request, *, proven: bool = False) -> str:
        """Accept the weaker sandbox of `request`; return what to say. The question stays open."""
        try:
            await self._engine.accept_sandbox(request.isolation, proven=proven)
        except KnownError as error:
            return f"Not accepted: {error}"
        return f"{request.isolation.label} is the usual sandbox now. This question still waits for its answer."

    def _take(self, request: Request, approval: str, answer: str, *, proven: bool = False) -> str:
        word, _, reason = answer.strip().partition(" ")
        if _approves(approval, answer):
            return self._engine.answer(request.id, request.digest, Verdict.APPROVED, "", proven=proven)
        if self._hands_over(answer):
            return self._engine.hand_over(request.id, request.digest, self._outcome, proven=proven)
        if word == "deny":
            return self._engine.answer(request.id, request.digest, Verdict.DENIED, reason or "Denied by a person.")
        return _invitation(approval)

    def _hands_over(self, answer: str) -> bool:
        """Return whether `answer` hands over an outcome that was printed."""
        return bool(self._outcome and self._approval_word) and answer.strip() == self._handing_over

    async def _line(self, request_id: str) -> str | None:
        """Return the next line typed; None when the question has ended meanwhile."""
        while self._engine.desk.position(request_id):
            with contextlib.suppress(TimeoutError):
                return await asyncio.wait_for(self._lines.get(), 0.5)
        return None

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        for line in self._source:
            loop.call_soon_threadsafe(self._lines.put_nowait, line)
        with contextlib.suppress(RuntimeError):  # the loop may be closed already
            loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        self._over = True
        self._say(INPUT_ENDED)
        self._engine.stop_all(NOBODY)

    def _forget_typed(self) -> None:
        """Drop input that was typed before the question was visible: it is no answer to it."""
        while not self._lines.empty():
            self._lines.get_nowait()
        if self._source.isatty():
            termios.tcflush(self._source.fileno(), termios.TCIFLUSH)

    def _show(
        self, request: Request, assessment: Assessment, question: QuestionAsked, approval: str, acceptance: str = ""
    ) -> None:
        said = {found.reason for found in assessment.findings}
        files = visible(request.files_sent) or "files"
        sent = f" at {request.sent_to}, so its code, input and {files} leave this machine" if request.sent_to else ""
        if request.brought_by:
            sent = f" {request.brought_by}, which Assent has not checked and which may leave this machine"
        limits = f"{request.limits.seconds:g} s, {request.limits.memory_mb} MB"
        where = f"in the {request.isolation} sandbox{sent}, {limits}"
        if request.client is not None:
            where = f"on this machine itself, by the program of {request.agent}, in no sandbox"
        lines = [
            f"{assessment.level.name}  {request.agent} asks for {request.tool} ({request.language})",
            f"Runs {where}. Digest {request.digest[:16]}. {question.window:.0f} s to answer.",
            *_decides(request),
            *_outside(request),
            *(f"  {': '.join(filter(None, (f.span.place, f.reason)))}" for f in assessment.findings),
            *(f"  {reason}" for reason in assessment.reasons if reason not in said),
            *(f"  Not read whole: {one}" for one in assessment.unread or ()),
        ]
        if question.blocked:
            lines.append(f"Cannot be approved: {question.blocked}")
        if request.sends is not None and request.sends.held:
            lines.append(f"Type '{INCLUDE}' and a name to send a file that stays as well, or '{LEAVE}' and a name.")
        lines.append(_invitation(approval, acceptance))
        self._say("", *lines)

    def _say(self, *lines: str) -> None:
        print("\n".join(map(in_one_line, lines)), file=self._sink, flush=True)


def main() -> int:
    """Open the engine of this account and ask on this terminal until a signal ends it; the exit code."""
    from runner.assembly import open_engine

    async def attended() -> None:
        await attend(open_engine())

    keep_private()
    with logged(Places.standard()):
        asyncio.run(attended())
    return 0


async def attend(engine: Engine) -> None:
    """Run `engine` until SIGINT or SIGTERM, asking on this terminal."""
    terminal = Terminal(engine, sys.stdin, sys.stdout)
    engine.listen(terminal.hear)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await engine.start()
    asking = spawn("terminal", terminal.attend())
    await stop.wait()
    asking.cancel()
    await engine.close(CLOSING)
