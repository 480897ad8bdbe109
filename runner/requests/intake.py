"""Makes a request of a submission: checks the limits, fills in defaults, and names the sandbox."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from runner.model.errors import Refused
from runner.model.request import Isolation, Language, Limits, Request, Tool
from runner.model.tool_facts import FACTS
from runner.model.variables import NAMES, is_harmless
from runner.model.workspace import inside
from runner.requests.network import Offered, network, through_gate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runner.model.kept_sandbox import Kept
    from runner.model.submission import Submission
    from runner.settings.loading import Settings

TITLE_LENGTH = 120
MOST_FOR_TITLE = 10_000
"""Characters of a title or of code that are searched for words."""
UNNAMED_SANDBOX = "Create a sandbox"
"""Title of a request for a kept sandbox to which its agent gave none."""
MOST_READ = 4 << 20
"""Largest number of bytes that one call reads of a file; an agent calls again for more."""
LONGEST_VARIABLE = 130_000
"""Bytes of a variable for shell code. Linux takes 131,072 with the name, and starts no program with a longer one."""
UNINFORMATIVE = ("#", "//", "import ", "from ", '"""', "'use strict'", "set -")
"""Beginnings of lines that do not say what the code is for."""


def request(
    submission: Submission,
    settings: Settings,
    isolation: Isolation,
    image: str = "",
    kept: Kept | None = None,
    protections: tuple[str, ...] = (),
    offered: Offered = Offered(),  # noqa: B008 - frozen
) -> Request:
    """Return the request that `submission` makes; `image` is the id of the container image it would run in.

    `protections` are those of the sandbox, `offered` the hosts that it may reach without naming them. With `kept`,
    isolation, image and limits are those of that sandbox, whose protections stay what they are.

    Raises Refused, naming the argument, for a value out of bounds.
    """
    if submission.client is not None:
        return _of_client(submission, settings)
    asked = network(submission, settings, isolation, kept, offered)
    return Request(
        id=uuid.uuid4().hex,
        agent=submission.agent,
        tool=submission.tool,
        received_at=time.time(),
        language=_language(submission, settings),
        code=_code(submission, settings),
        context=_context(submission, settings),
        stdin=_bounded(submission.stdin, "stdin", settings),
        files=_files(submission),
        packages=submission.packages,
        network=asked.mode,
        domains=asked.domains,
        granted=asked.granted,
        limits=limits(submission, settings, isolation) if kept is None else _within_kept(submission, settings, kept),
        isolation=isolation if kept is None else kept.isolation,
        image=image if kept is None else kept.image,
        title=_title(submission),
        sandbox="" if kept is None else kept.id,
        executable=submission.executable,
        offset=_offset(submission),
        most_bytes=_most_bytes(submission, settings),
        protections=through_gate(protections, asked.mode) if FACTS[submission.tool].new_place and kept is None else (),
    )


def _of_client(submission: Submission, settings: Settings) -> Request:
    """Return the request about a tool of the agent's own program: it is run where nothing protects the machine."""
    assert submission.client is not None
    for path in submission.files:
        _bounded(path, "path", settings)
    for text in (submission.client.replaced, submission.client.more, submission.client.folder):
        _bounded(text, "input", settings)
    return Request(
        id=uuid.uuid4().hex,
        agent=submission.agent,
        tool=submission.tool,
        received_at=time.time(),
        language=submission.language,
        code=_bounded(submission.code, "input", settings),
        files=submission.files,
        domains=submission.allowed_domains,
        isolation=Isolation.PROCESS,
        title=_title(submission),
        client=submission.client,
    )


def edited(request: Request, code: str, settings: Settings) -> Request:
    """Return `request` with a person's version of its code. Raises Refused for code that an agent may not send."""
    return replace(request, code=_checked(code, request.tool, settings))


def limits(submission: Submission, settings: Settings, isolation: Isolation) -> Limits:
    """Return the limits asked for, by default those configured. Raises Refused for one that is out of bounds."""
    memory, cores = settings.memory_mb, settings.cpu_cores
    if isolation.is_container:
        memory, cores = settings.docker_memory_mb or memory, settings.docker_cpu_cores or cores
    memory = int(_within("max_memory_mb", submission.memory_mb, memory, settings.max_memory_mb))
    disk = int(_within("max_disk_mb", submission.disk_mb, settings.disk_mb, settings.max_disk_mb))
    return Limits(
        memory_mb=memory,
        cpu_cores=cores,
        disk_mb=min(disk, memory) if isolation.files_are_memory else disk,
        seconds=_within("timeout", submission.timeout, settings.timeout_seconds, settings.max_timeout_seconds),
        output_bytes=int(
            _within(
                "max_output_bytes",
                submission.max_output_bytes,
                settings.max_output_bytes,
                settings.max_output_limit_bytes,
            )
        ),
        processes=settings.processes,
    )


def _within_kept(submission: Submission, settings: Settings, kept: Kept) -> Limits:
    """Return the limits of a kept sandbox with the time and output of this call. Raises Refused."""
    if submission.memory_mb is not None or submission.disk_mb is not None:
        raise Refused(
            "Memory and disk of a sandbox are set when it is created.", "Leave max_memory_mb and max_disk_mb out."
        )
    own = limits(submission, settings, kept.isolation)
    return replace(kept.limits, seconds=own.seconds, output_bytes=own.output_bytes)


def _files(submission: Submission) -> tuple[str, ...]:
    """Return the file of a file tool, else nothing. Raises Refused for a path that leads out of the workspace."""
    if not FACTS[submission.tool].files:
        return ()
    path = inside(submission.file_path)
    if path == "." and submission.tool is not Tool.CODE_LIST_FILES:
        raise Refused("file_path names the workspace itself.", "Name a file below it.")
    return (path,)


def _offset(submission: Submission) -> int:
    if submission.offset < 0:
        raise Refused(f"offset is {submission.offset}; it must not be below 0.", "Change it and call again.")
    return submission.offset


def _most_bytes(submission: Submission, settings: Settings) -> int:
    if submission.tool is not Tool.CODE_READ_FILE:
        return 0
    return int(_within("max_bytes", submission.max_bytes, settings.max_output_kb * 1024, MOST_READ))


def _title(submission: Submission) -> str:
    """Return the agent's title, else the first informative line of the code."""
    lines = (line.strip() for line in submission.code[:MOST_FOR_TITLE].splitlines())
    telling = next((line for line in lines if line and not line.startswith(UNINFORMATIVE)), "")
    title = submission.title[:MOST_FOR_TITLE].strip() or telling or _doing(submission)
    return " ".join(title.split())[:TITLE_LENGTH]


def _doing(submission: Submission) -> str:
    """Return the action of a tool without code, in words."""
    match submission.tool:
        case Tool.CODE_WRITE_FILE:
            return f"Write {submission.file_path}"
        case Tool.CODE_READ_FILE:
            return f"Read {submission.file_path}"
        case Tool.CODE_LIST_FILES:
            return f"List {submission.file_path}"
        case Tool.CODE_CREATE_SANDBOX:
            return UNNAMED_SANDBOX
        case Tool.CODE_DESTROY_SANDBOX:
            return f"Remove sandbox {submission.sandbox_id}"
        case Tool.CODE_INSTALL_PACKAGE:
            return f"Install {', '.join(submission.packages)}"
        case Tool.CLIENT_SHELL | Tool.CLIENT_EDIT | Tool.CLIENT_FETCH | Tool.CLIENT_TOOL:
            return submission.tool.value if submission.client is None else submission.client.name
        case Tool.CODE_EXECUTE | Tool.CODE_SANDBOX_INFO:
            return submission.tool.value
        case _:
            assert_never(submission.tool)


def _within(name: str, asked: float | None, default: float, highest: float) -> float:
    if asked is None:
        return default
    # Written so that NaN fails as well.
    if not 0 < asked <= highest:
        what = f"{name} is {_figure(asked)}; it must be above 0 and at most {_figure(highest)}."
        raise Refused(what, "Change it and call again.")
    return asked


def _figure(value: float) -> str:
    """Return a number as a person reads it: whole ones with all their digits."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"


def _language(submission: Submission, settings: Settings) -> Language | None:
    if not FACTS[submission.tool].new_place:
        return None
    known = ", ".join(settings.languages)
    if submission.language is None:
        raise Refused("language is missing.", f"Use one of {known}.")
    if submission.language not in settings.languages:
        raise Refused(f"{submission.language} is switched off in the settings of Assent.", f"Use one of {known}.")
    return submission.language


def _code(submission: Submission, settings: Settings) -> str:
    """Return the code, or the content of a file to be written."""
    text = submission.content if submission.tool is Tool.CODE_WRITE_FILE else submission.code
    return _checked(text, submission.tool, settings)


def _checked(code: str, tool: Tool, settings: Settings) -> str:
    if tool is Tool.CODE_EXECUTE and not code.strip():
        raise Refused("code is empty.", "Send the code to run.")
    return _bounded(code, _named(tool), settings)


def _named(tool: Tool) -> str:
    """Return the name of the argument that holds the text."""
    return "content" if tool is Tool.CODE_WRITE_FILE else "code"


def _bounded(text: str, name: str, settings: Settings) -> str:
    """Return a text that is clean and not too long. Raises Refused.

    Code, input and variables have the same bound: a person looks through each of them, and the history has them all.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > settings.max_code_kb * 1024:
        raise Refused(
            f"{name} has {size:,} bytes; at most {settings.max_code_kb * 1024:,} are taken.",
            "Send less, or read the bulk from a file.",
        )
    return _clean(text, name)


def _clean(text: str, name: str) -> str:
    if "\0" in text:
        raise Refused(f"{name} contains a NUL character.", "Remove it; no interpreter takes it.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused(f"{name} is not valid Unicode at character {error.start}.", "Send valid UTF-8.") from None
    return text


def _context(submission: Submission, settings: Settings) -> str:
    try:
        text = json.dumps(dict(submission.context or {}), ensure_ascii=False, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused(f"context is not JSON data: {error}.", "Send numbers, texts, lists and objects.") from None
    steering = [name for name in submission.context or {} if not is_harmless(name)]
    if submission.language is Language.SHELL and steering:
        raise Refused(f"{steering[0][:64]!a} of context cannot be an environment variable.", NAMES)
    if submission.language is Language.SHELL and (long := next(_too_long(submission.context or {}), "")):
        what = f"{long!a} of context is longer than an environment variable may be."
        raise Refused(what, f"Send at most {LONGEST_VARIABLE:,} bytes in one, or send it as stdin.")
    return _bounded(text, "context", settings)


def _too_long(context: Mapping[str, object]) -> Iterator[str]:
    """Yield the names of variables that are too long for the environment of a program."""
    for name, value in context.items():
        text = value if isinstance(value, str) else json.dumps(value)
        if len(text.encode("utf-8", "surrogatepass")) > LONGEST_VARIABLE:
            yield name
