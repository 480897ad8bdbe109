"""Program that removes sandboxes of a service once the process that made them has been killed.

It runs by itself with the standard library alone (`removal_after_kill.py` starts it). Its standard input has one line
of JSON, then `done` where nothing is to be removed; without that word its end says that the other process is gone.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

WAITS = (0, 2, 10, 40)
"""Seconds before each look: a sandbox that was being made may be listed a little later."""
CALL_SECONDS = 10
MOST_BYTES = 4 << 20
"""Of one answer."""


class Stay(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: the key is for this host alone."""

    def redirect_request(self, *_: Any) -> None:
        return None


def main() -> None:
    """Wait for the end of the other process, and remove what it has left."""
    said = json.loads(sys.stdin.readline())
    if sys.stdin.readline():
        return
    opener = urllib.request.build_opener(Stay)
    for wait in WAITS:
        time.sleep(wait)
        try:
            remove(opener, **said)
        except (OSError, ValueError):  # urllib.error.URLError is an OSError
            continue


def remove(opener: urllib.request.OpenerDirector, api: str, key: str, label: list[str], run: list[str]) -> None:
    """Remove the sandboxes whose data `label[0]` is `label[1]`, and `run[0]` begins with `run[1]`.

    Raises OSError and ValueError.
    """

    def ask(method: str, path: str) -> Any:
        request = urllib.request.Request(api + path, method=method, headers={"X-API-Key": key})
        with opener.open(request, timeout=CALL_SECONDS) as answer:
            raw = answer.read(MOST_BYTES)
        return json.loads(raw) if raw else None

    # Encoded twice, as the service decodes it twice.
    data = urllib.parse.urlencode({urllib.parse.quote(label[0]): urllib.parse.quote(label[1])})
    query = urllib.parse.urlencode({"metadata": data, "state": "running,paused", "limit": "100"})
    for one in ask("GET", f"/v2/sandboxes?{query}"):
        if str(one["metadata"].get(run[0], "")).startswith(run[1]):
            try:
                ask("DELETE", f"/sandboxes/{urllib.parse.quote(str(one['sandboxID']), safe='')}")
            except urllib.error.HTTPError:
                continue  # gone meanwhile


if __name__ == "__main__":
    main()
