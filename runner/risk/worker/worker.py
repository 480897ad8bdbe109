"""The process in which agents' code is read: one call at a time, and killed where it takes too long.

`runner.risk.worker.assessor` starts it, with nothing open but a socket on descriptor 0. It takes no decisions and
holds no secrets; what it says is read strictly at the other end.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from runner.model.errors import KnownError
from runner.model.request import Language, Request, Tool, look_for_languages
from runner.risk import user_rules
from runner.risk.model.held import forget
from runner.risk.on_demand import ON_DEMAND
from runner.risk.rules.knowledge import RulesUnreadable, bundled
from runner.risk.worker.calls import (
    HEADER,
    MOST_CALL,
    MOST_IMPORTS,
    PATIENCE,
    Answer,
    Assess,
    Assessed,
    CallFailed,
    Compare,
    Compared,
    Erase,
    Erased,
    FindImports,
    FindPictures,
    FindUsed,
    Imported,
    Outline,
    Outlined,
    Pictured,
    Ready,
    Used,
    pack,
    unpack_call,
)
from runner.system.computing import bind
from runner.system.sources import digest

if TYPE_CHECKING:
    from runner.risk.user_rules import Own
    from runner.risk.worker.calls import Call

MEMORY = 2 << 30
"""Bytes of address space. Code of 1 MB takes a tenth of that."""
GRACE_SECONDS = 2
"""After the last moment of a call; by then the other end has killed this process, if there still is one."""
IDLE_SECONDS = 0.05
"""Without a call after the start, before whatever no call has needed is loaded as well."""
LATER = (
    "runner.model.bundle",
    "runner.model.difference",
    "runner.model.embedded_picture",
    "runner.model.plan",
    "runner.risk.tools.client_tools",
    "runner.risk.executing.executing",
    "runner.risk.inputs.imported",
    "runner.risk.javascript.erased",
    "runner.risk.inputs.kept_files",
    "runner.risk.recipes.run_files",
    "runner.risk.verdict.code",
    "runner.risk.verdict.naming",
    "runner.risk.tools.writes",
    *ON_DEMAND,
)
"""Modules that are only imported where a call needs them, so that a process is ready early."""
TRIAL = Assess(Request("", "", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "print(1)"))
LONGEST_TRACEBACK = 4000
"""Characters of a traceback that are reported."""


def main(folder: str, parent: int, seconds: float) -> None:
    """Answer calls until the other end closes.

    `folder` holds the person's own rules, `parent` is the console's process, `seconds` the deadline of a call.
    """
    bind(parent, MEMORY)
    with socket.socket(fileno=os.dup(0)) as line:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        look_for_languages(_brought)
        rules = user_rules.read(Path(folder))
        with contextlib.suppress(RulesUnreadable):  # then the answer to each call says so
            bundled()
        gc.freeze()
        gc.enable()
        sources = digest()
        line.sendall(pack(Ready(rules.problems, sources)))
        complete = not select.select([line], [], [], IDLE_SECONDS)[0]
        if complete and not _completed(rules, sources):
            return
        while (body := _received(line)) is not None:
            # The system ends this process even where the interpreter is inside one long match.
            signal.setitimer(signal.ITIMER_REAL, seconds * PATIENCE + GRACE_SECONDS)
            answer = _answered(body, rules)
            if not complete and digest() != sources:
                return
            line.sendall(answer)
            signal.setitimer(signal.ITIMER_REAL, 0)
            if not complete and not _completed(rules, sources):
                return
            complete = True


def _completed(rules: Own, sources: str) -> bool:
    """Load what the first call of each kind would; return whether it is still of the version of all else."""
    for name in LATER:
        importlib.import_module(name)
    # What the classifier makes at its first use is made for a program of no effect.
    _answered(pack(TRIAL)[HEADER.size :], rules)
    gc.freeze()
    return digest() == sources


def _brought(name: str) -> Language | None:
    """Return the language of a package that the console has loaded as well; None where it cannot be loaded here."""
    from runner.system.language_packages import load

    with contextlib.suppress(KnownError):
        return load(name)
    return None


def _received(line: socket.socket) -> bytes | None:
    """Return the next call; None at the end."""
    header = _exactly(line, HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    if length > MOST_CALL:
        return None
    body = _exactly(line, length)
    return body if len(body) == length else None


def _exactly(line: socket.socket, length: int) -> bytes:
    """Fewer bytes only where the other end has closed."""
    got = bytearray()
    while len(got) < length and (part := line.recv(min(length - len(got), 1 << 20))):
        got += part
    return bytes(got)


def _answered(body: bytes, rules: Own) -> bytes:
    try:
        return pack(answer(unpack_call(body), rules))
    except (MemoryError, RecursionError) as error:
        return pack(CallFailed(type(error).__name__))
    except Exception:
        return pack(CallFailed(traceback.format_exc()[-LONGEST_TRACEBACK:]))
    finally:
        forget()


def answer(call: Call, rules: Own) -> Answer:
    """Return what is to be said to `call`."""
    match call:
        case Assess(request):
            return Assessed(rules.assess(request))
        case Outline(language, code):
            from runner.risk.literals.outline import outline

            return Outlined(outline(language, code))
        case FindImports(code):
            from runner.risk.inputs.imported import imported

            found = imported(code)
            if len(found) > MOST_IMPORTS:
                raise MemoryError
            return Imported(found)
        case FindUsed(language, code, files):
            from runner.risk.inputs.known_files import used

            return Used(tuple(file.path for file in used(language, code, files).files))
        case Compare(old, new):
            from runner.model.difference import compare

            return Compared(compare(old, new))
        case Erase(code):
            from runner.risk.javascript.erased import without_types

            return Erased(without_types(code))
        case FindPictures(language, code):
            from runner.risk.literals.pictures import pictures

            return Pictured(pictures(language, code))
        case _:
            assert_never(call)
