"""Stores a run and what it produced as a JSON file, with credentials redacted (spec F3)."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from typing import TYPE_CHECKING, Any

from runner.audit.files.redact import SOURCE, redacted
from runner.model.codec import encode
from runner.model.request import Language
from runner.model.result import Outcome
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.assessment import Assessment
    from runner.model.decision import Decision
    from runner.model.request import Request
    from runner.model.result import Result
    from runner.system.places import Places

SCHEMA = 1
POLICIES = ("always", "on_error", "never")
"""Values of `SANDBOX_STORE_CODE` (spec E1)."""


def store(
    places: Places,
    policy: str,
    request: Request,
    assessment: Assessment | None,
    decision: Decision | None,
    result: Result,
    now: float | None = None,
) -> Path | None:
    """Store a run as `policy` says; return the new file, None where nothing is to be stored.

    The file is `<UTC time>_<begin of the request's digest>.json`, 0600, and appears whole or not at all. Looking for
    credentials takes about a second for each MiB, five at most: call this off the loop. `now` is in seconds since the
    epoch. Raises OSError where the file cannot be written and ValueError for an unknown policy.
    """
    if policy not in POLICIES:
        raise ValueError(f"{policy!r} is not one of {', '.join(POLICIES)}")
    if policy == "never" or (policy == "on_error" and result.outcome is Outcome.OK):
        return None
    stamp = _stamp(time.time() if now is None else now)
    text = json.dumps(_content(stamp, request, assessment, decision, result), indent=2, allow_nan=False)
    make_folder(places.artifacts)
    return _write(places.artifacts, f"{stamp}_{request.digest[:16]}", text)


def fingerprint(artifact: Path) -> str:
    """Return the SHA-256 (hex) of a stored artifact, for the history. Raises OSError."""
    with artifact.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _content(
    stamp: str, request: Request, assessment: Assessment | None, decision: Decision | None, result: Result
) -> dict[str, Any]:
    asked = encode(request)
    produced = encode(result)
    kept = redacted(
        {
            "code": asked.pop("code"),
            "request": asked,
            "assessment": assessment and encode(assessment),
            "decision": decision and encode(decision),
            "metadata": produced.pop("meta"),
            "result": produced,
        },
        # A shell assigns without quotes, so its code is searched like output.
        source=frozenset() if request.language is Language.SHELL else SOURCE,
    )
    return {
        "schema": SCHEMA,
        "timestamp": stamp,
        "digest": request.digest,
        "redacted": list(kept.kinds),
        "complete": kept.complete,
        **kept.data,
    }


def _stamp(now: float) -> str:
    """Return the UTC time to the microsecond, in a form for file names that sorts by time."""
    whole, micros = divmod(int(now * 1_000_000), 1_000_000)
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime(whole)) + f".{micros:06}Z"


def _write(folder: Path, name: str, text: str) -> Path:
    draft = folder / f".{name}.{secrets.token_hex(4)}"
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        return _publish(draft, folder, name)
    finally:
        draft.unlink(missing_ok=True)


def _publish(draft: Path, folder: Path, name: str) -> Path:
    """Rename the complete temporary file to `name`, or to the next free name: no artifact is replaced."""
    target, count = folder / f"{name}.json", 1
    while True:
        try:
            os.link(draft, target)
        except FileExistsError:
            count += 1
            target = folder / f"{name}-{count}.json"
        else:
            return target
