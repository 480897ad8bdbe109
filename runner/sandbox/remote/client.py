"""E2B's control plane: sandboxes are made, listed, kept alive and ended. Calls block.

Written after the API as the SDK `e2b` 2.63.0 speaks it. The SDK itself is not used: with it come 23 MB and 620 modules,
0.6 s of every start, and it takes HTTP out of our sight, where this has to be able to say what leaves the machine.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import ssl
import threading
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from runner.sandbox.remote.answers import PLAIN, parsed, whole
from runner.sandbox.remote.failures import refused, rubbish, silent, unreachable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

    from runner.sandbox.remote.service import Service

CALL_SECONDS = 9.0
CREATE_SECONDS = 55.0
MOST_PAGES = 50
SANDBOX_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
JSON = {"Content-Type": "application/json"}


@functools.cache
def trusted() -> ssl.SSLContext:
    """Return the authorities of this machine; made once, as that takes some 20 ms."""
    return ssl.create_default_context()


class ControlPlane:
    """May be used on any thread. The key goes to the service's own host alone: no redirect is followed."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._lock = threading.Lock()
        self._http: httpx2.Client | None = None
        self._key = ""

    def open(self) -> None:
        """Find the key again: another may have been stored. Raises KnownError."""
        self._key = self.service.opening()

    def templates(self) -> list[dict[str, Any]]:
        """Return those of the account. Raises EngineGone and Denied, as every call here."""
        return self._objects(self._call("GET", "/templates"))

    def create(self, body: Mapping[str, Any]) -> dict[str, Any]:
        answer = self._call("POST", "/v2/sandboxes", body, CREATE_SECONDS)
        answer = answer if isinstance(answer, dict) else {}
        id = answer.get("sandboxID")
        if not isinstance(id, str) or SANDBOX_ID.fullmatch(id) is None:
            # It becomes a part of the address that code is sent to.
            raise rubbish(self.service.host, "it has made a sandbox and does not say which")
        return answer

    def sandboxes(self, metadata: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return all that have these data, in all states."""
        found: list[dict[str, Any]] = []
        # Encoded twice, as the service decodes them twice.
        once = {quote(name): quote(text) for name, text in metadata.items()}
        query = {"metadata": urlencode(once), "state": "running,paused", "limit": "100"}
        for _ in range(MOST_PAGES):
            headers: dict[str, str] = {}
            found += self._objects(self._call("GET", f"/v2/sandboxes?{urlencode(query)}", headers=headers))
            if not (more := headers.get("x-next-token", "")):
                break
            query["nextToken"] = more
        return found

    def is_there(self, id: str) -> None:
        """Raise Denied where the service does not know this sandbox."""
        self._call("GET", _path(id))

    def prolong(self, id: str, seconds: int) -> None:
        """Have a sandbox end in so many seconds, unless it is prolonged again."""
        self._call("POST", f"{_path(id)}/timeout", {"timeout": seconds})

    def remove(self, id: str) -> None:
        self._call("DELETE", _path(id))

    def close(self) -> None:
        with self._lock:
            http, self._http = self._http, None
        if http is not None:
            http.close()

    def _client(self) -> httpx2.Client:
        import httpx2

        with self._lock:
            if self._http is None:
                self._http = httpx2.Client(verify=trusted(), follow_redirects=False)
            return self._http

    def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        seconds: float = CALL_SECONDS,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """Return the answer, decoded; `headers` takes those of the answer."""
        import httpx2

        host = self.service.host
        if not self._key:
            self.open()
        given = {"X-API-Key": self._key, **PLAIN, **(JSON if body is not None else {})}
        content = None if body is None else json.dumps(body).encode()
        try:
            url = self.service.api + path
            with self._client().stream(method, url, headers=given, content=content, timeout=seconds) as answer:
                raw = whole(host, answer, seconds)
        except httpx2.TimeoutException as error:
            raise silent(host) from error
        except httpx2.HTTPError as error:
            raise unreachable(host, str(error)) from error
        if headers is not None:
            headers.update({name.lower(): value for name, value in answer.headers.items()})
        return decoded(host, answer.status_code, raw, answer.headers)

    def _objects(self, answer: object) -> list[dict[str, Any]]:
        if not isinstance(answer, list) or not all(isinstance(one, dict) for one in answer):
            raise rubbish(self.service.host, "what should be a list is none")
        return answer


def decoded(host: str, status: int, raw: bytes, headers: Mapping[str, str]) -> Any:
    """Return the answer that is in `raw`; None where there is none. Raises EngineGone and Denied."""
    answer: Any = None
    if raw:
        try:
            answer = parsed(raw)
        except ValueError as error:
            if status < HTTPStatus.BAD_REQUEST:
                raise rubbish(host, "it answers with something that is no JSON") from error
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return answer
    message = ""
    with contextlib.suppress(AttributeError):
        message = str(answer.get("message", ""))
    raise refused(host, status, message, headers)


def _path(id: str) -> str:
    return f"/sandboxes/{quote(id, safe='')}"
