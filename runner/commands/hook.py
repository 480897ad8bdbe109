"""`assent hook CLIENT`: asks Assent before a client uses a tool of its own, and says no however it ends.

Clients run the tool where a hook crashes, is killed or is too slow, and some where it fails without a word. So every
path out of here that is not a complete yes ends with exit code 2 and a sentence on standard error, and a deadline of
its own comes well before the client's. Standard library only: it runs before each tool.
"""

from __future__ import annotations

import io
import json
import os
import pwd
import select
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from runner.clients import hook_protocol
from runner.clients.hook_protocol import BadHookInput
from runner.clients.hook_token import seconds_of, token_of
from runner.clients.hooks import HOOKS, unasked
from runner.clients.managed import is_held
from runner.clients.project_switches import found_in
from runner.gateway import catalog
from runner.gateway.bridge import LOST, StdioBridge
from runner.gateway.messages import MODERN, VERSION_KEY
from runner.gateway.stdio import StdioClient
from runner.system.places import Places

if TYPE_CHECKING:
    from types import FrameType

    from runner.clients.hook_protocol import ToolUse
    from runner.clients.hooks import Hook

DENIED = 2
"""Exit code by which every client takes a hook's no."""
DEADLINE = 570
"""Seconds at most; `connect` gives hooks 600 in the client."""
READ_SECONDS = 10
"""Seconds within which the client has to send what it is about."""
MOST_BYTES = 8 << 20
USAGE = f"Use: assent hook {{{','.join(HOOKS)}}} [--home FOLDER], as assent connect --hook writes it."
NO_TOKEN = "Assent's hook finds no token of this client. Nothing was run. A person has to run: assent connect {} --hook"
BROKEN = "The connection to Assent broke before the answer came. Nothing was run."
"""In place of `LOST`, which says that it may have been: a client runs its tool only after a yes."""
SWITCHED_OFF = "{}, so that a yes would not hold. Nothing was run. A person has to look at that file."
"""What is said while a file of the project is there that keeps the hook from being asked, or heeded."""


class HookClient(StdioClient):
    """The receiver of the console's messages: keeps the answer."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO())
        self.answer: dict[str, Any] = {}

    def send(self, message: str) -> None:
        data = json.loads(message)
        if "result" in data or "error" in data:
            self.answer = data


def main(argv: list[str]) -> NoReturn:
    """End the process: with 0 and an answer for the client, else with 2 and a reason."""
    deny = HookDenial()
    try:
        _guard(deny)
        client, home = _arguments(argv)
        deny.hook = HOOKS[client]
        _end(_answer(client, home, deny))
    except BadHookInput as error:
        deny(f"{error} Nothing was run.")
    except BaseException as error:
        # Whatever it is, the answer is no.
        deny(f"Assent's hook failed ({type(error).__name__}). Nothing was run.")


class HookDenial:
    """Ends the process at once with a no that every client takes."""

    def __init__(self) -> None:
        self.hook: Hook | None = None
        """That of the client, once it is known."""

    def __call__(self, why: str) -> NoReturn:
        try:
            if self.hook is not None and self.hook.reads_output:
                os.write(1, self.hook.form("", False, why, {}).encode())
            os.write(2, f"{why}\n".encode("utf-8", "replace"))
        finally:
            os._exit(DENIED)


def _guard(deny: HookDenial) -> None:
    """Turn signals and the deadline into a no, and end where nobody would read the answer."""

    def stopped(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGALRM:
            deny("Assent has not answered in time. Nothing was run.")
        deny("Assent's hook was stopped before there was an answer. Nothing was run.")

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, stopped)
    signal.setitimer(signal.ITIMER_REAL, READ_SECONDS)


def _answer(client: str, home: str, deny: HookDenial) -> str:
    """Return what the client reads; '' for a tool that it decides about as it would without Assent."""
    hook = HOOKS[client]
    asked = hook_protocol.parse(hook.members, _input())
    if hook.is_of_assent(asked):
        # It asks for itself. A client that asks for permission as well gets a yes.
        return hook.form(asked.event, True, "", asked.given) if asked.event == hook_protocol.PERMISSION else ""
    if asked.tool in unasked(client):
        return ""
    if why := hook.ambiguous(asked) or _switched_off(hook, asked):
        return hook.form(asked.event, False, why, asked.given)
    deadline = within(seconds_of(client, os.environ, Path.home(), asked.folder))
    signal.setitimer(signal.ITIMER_REAL, deadline)
    threading.Thread(target=_end_with_reader, args=(deny,), name="reader", daemon=True).start()
    allow, reason = _decision(client, home, asked, hold(deadline))
    return hook.form(asked.event, allow, reason, asked.given)


def _switched_off(hook: Hook, asked: ToolUse) -> str:
    """Return what a file of the project does to the hook; '' where there is none."""
    if is_held(hook):
        return ""
    found = (found for found in found_in(hook, asked.folder, Path.home()) if found.switch.refused)
    return next((SWITCHED_OFF.format(one.sentence) for one in found), "")


def within(limit: float) -> float:
    """Return the seconds after which the answer is no, for a client that waits `limit` and then runs its tool."""
    return max(0.5, min(DEADLINE, limit - max(3.0, limit / 20)))


def hold(deadline: float) -> float:
    """Return the seconds for which the console may hold a question of a hook that ends after `deadline`."""
    return deadline - min(20.0, deadline / 4)


def _arguments(argv: list[str]) -> tuple[str, str]:
    match argv:
        case [client] if client in HOOKS:
            return client, ""
        case [client, "--home", home] if client in HOOKS and home.startswith("/"):
            return client, home
    raise BadHookInput(USAGE)


def _input() -> bytes:
    data = b""
    while chunk := os.read(0, 1 << 16):
        data += chunk
        if len(data) > MOST_BYTES:
            raise BadHookInput(f"What the client sent has more than {MOST_BYTES:,} bytes.")
    return data


def _decision(client: str, home: str, asked: ToolUse, held: float) -> tuple[bool, str]:
    """Return whether the tool may be used, and why not, by the console's answer."""
    token = token_of(client, os.environ, Path.home(), asked.folder)
    if not token:
        return False, NO_TOKEN.format(client)
    receiver = HookClient()
    bridge = StdioBridge(_places(home), token, f"{held:g}", receiver)
    arguments: dict[str, object] = {
        "tool_name": HOOKS[client].renamed.get(asked.tool, asked.tool),
        "input": asked.given,
        "folder": asked.folder,
        "tool_use_id": asked.use_id,
    }
    waiting = threading.Thread(target=bridge.carry, args=(_call(client, arguments),), name="asking", daemon=True)
    waiting.start()
    while waiting.is_alive():
        # In short turns: a thread that waits for ever would not see a signal.
        waiting.join(0.2)
    return _verdict(receiver.answer)


def _places(home: str) -> Places:
    """Return where the console is found. The environment does not decide: a file in a project can set it."""
    if home:
        return Places.under(Path(home))
    for name in ("ASSENT_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        os.environ.pop(name, None)
    os.environ["HOME"] = pwd.getpwuid(os.getuid()).pw_dir
    return Places.standard()


def _call(client: str, arguments: dict[str, object]) -> dict[str, Any]:
    meta = {
        VERSION_KEY: MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": f"assent hook {client}", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": catalog.APPROVE, "arguments": arguments, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def _verdict(message: dict[str, Any]) -> tuple[bool, str]:
    """Return what an answer of `approve` says; everything else is a no."""
    if error := message.get("error"):
        return False, str(error.get("message"))
    content = message.get("result", {}).get("content") or [{}]
    text = str(content[0].get("text", "Assent did not answer. Nothing was run."))
    try:
        data = json.loads(text)
        behavior = data["behavior"]
    except (ValueError, TypeError, KeyError):
        return False, BROKEN if text == LOST else text
    return behavior == "allow", str(data.get("message", ""))


def _end_with_reader(deny: HookDenial) -> None:
    """End the process when the client has gone, so that nobody is asked on its behalf."""
    poll = select.poll()
    poll.register(1, 0)
    if any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll()):
        deny("The client has gone. Nothing was run.")


def _end(text: str) -> NoReturn:
    """Write the whole answer and end. Raises OSError."""
    signal.setitimer(signal.ITIMER_REAL, READ_SECONDS)
    data = (text + "\n").encode() if text else b""
    while data:
        data = data[os.write(1, data) :]
    sys.stderr.flush()
    os._exit(0)
