"""Short calls to what runs in a sandbox, made on a thread: a program of ours run to its end, a process killed."""

from __future__ import annotations

import base64
import binascii
import json
import time
from http import HTTPStatus
from typing import TYPE_CHECKING

from runner.sandbox.container.failures import Denied
from runner.sandbox.remote.answers import PLAIN, whole
from runner.sandbox.remote.client import decoded, trusted
from runner.sandbox.remote.failures import rubbish, silent, unreachable
from runner.sandbox.remote.processes import LAST, ROOT, START, Messages, enveloped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.sandbox.remote.processes import SandboxAddress

SIGNAL = "/process.Process/SendSignal"
SIGNAL_SECONDS = 4.0
MOST_OUTPUT = 64 << 10


def run(address: SandboxAddress, words: Sequence[str], environment: Mapping[str, str], seconds: float) -> str:
    """Return what it prints. Raises EngineGone and Denied."""
    import httpx2

    wanted = {"cmd": words[0], "args": list(words[1:]), "envs": dict(environment), "cwd": "/"}
    headers = {**address.headers, **ROOT, **PLAIN, "Content-Type": "application/connect+json"}
    headers["Connect-Timeout-Ms"] = str(int(seconds * 1000))
    content = enveloped({"process": wanted, "stdin": False})
    messages, said, until = Messages(), bytearray(), time.monotonic() + seconds
    try:
        with httpx2.stream(
            "POST", address.url + START, headers=headers, content=content, timeout=seconds, verify=trusted()
        ) as answer:
            if answer.status_code != HTTPStatus.OK:
                decoded(address.host, answer.status_code, whole(address.host, answer, seconds), answer.headers)
                raise rubbish(address.host, f"it answers {answer.status_code} to the start of a process")
            for data in answer.iter_raw():
                if time.monotonic() > until:
                    raise silent(address.host)
                for flags, message in messages.feed(data):
                    if flags & LAST and (error := message.get("error")):
                        raise Denied(HTTPStatus.INTERNAL_SERVER_ERROR, str(error.get("message", "it failed")))
                    text = (message.get("event") or {}).get("data", {}).get("stdout", "")
                    said += base64.b64decode(text)[: MOST_OUTPUT - len(said)]
    except httpx2.TimeoutException as error:
        raise silent(address.host) from error
    except httpx2.HTTPError as error:
        raise unreachable(address.host, str(error)) from error
    except (ValueError, TypeError, AttributeError, binascii.Error) as error:
        raise rubbish(address.host, f"the output of a process is not what it should be, {error}") from error
    return said.decode("utf-8", "replace")


def kill(address: SandboxAddress, pid: int) -> None:
    """End a process, where it is still there. Raises EngineGone and Denied."""
    import httpx2

    headers = {**address.headers, **PLAIN, "Content-Type": "application/json"}
    content = json.dumps({"process": {"pid": pid}, "signal": "SIGNAL_SIGKILL"}).encode()
    try:
        with httpx2.stream(
            "POST", address.url + SIGNAL, headers=headers, content=content, timeout=SIGNAL_SECONDS, verify=trusted()
        ) as answer:
            raw = whole(address.host, answer, SIGNAL_SECONDS)
    except httpx2.HTTPError as error:
        raise unreachable(address.host, str(error)) from error
    decoded(address.host, answer.status_code, raw, answer.headers)
