"""The official SDK, as threads use it: how it connects, what it raises, and how a call of it is broken off.

Importing it takes as long as starting an interpreter: only the threads that call it do so.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
import urllib.parse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import docker
import requests
import urllib3
from docker.constants import MINIMUM_DOCKER_API_VERSION
from docker.errors import DockerException
from docker.tls import TLSConfig
from docker.transport.basehttpadapter import BaseHTTPAdapter

from runner.sandbox.container.failures import Denied, gone, hanging
from runner.sandbox.docker import ssh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.sandbox.docker.endpoint import Endpoint

T = TypeVar("T")
CHUNK = 1 << 18
UNUSED = "unix:///var/run/docker.sock"
"""What the SDK is given as the address where the connections are ours."""
FAILURES = (requests.RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, EOFError)


class Call:
    """One call, under way on a thread; another thread may break it off."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._broken = False

    def connected(self, connection: socket.socket | None) -> None:
        """Take `connection` as the one to break off; None when there is none any more."""
        with self._lock:
            self._socket = connection
            if self._broken:
                _shut(connection)

    def break_off(self) -> None:
        """Have it fail at once, whatever it waits for."""
        with self._lock:
            self._broken = True
            _shut(self._socket)


def _shut(connection: socket.socket | None) -> None:
    if connection is not None:
        with contextlib.suppress(OSError):
            # Not the method of a TLS socket, which takes away what the thread in it is working with.
            socket.socket.shutdown(connection, socket.SHUT_RDWR)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A connection that has become a plain stream both ways."""

    connection: socket.socket
    first: bytes
    """What came along with the head of the answer."""
    response: requests.Response

    def close(self) -> None:
        """Close it. Blocks for a connection through ssh."""
        raw: Any = self.response.raw
        if raw.connection is not None:
            raw.connection.close()
        raw.close()
        self.connection.close()


class Api(docker.APIClient):
    """The SDK's client of one engine, for one thread. Each call has a connection of its own and a time limit."""

    def __init__(self, endpoint: Endpoint, version: str) -> None:
        """`version` is that of the engine's API. Raises KnownError."""
        self.call = Call()
        parts, port = endpoint.address()
        secured = bool(endpoint.certificates) or parts.scheme == "https"
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or "127.0.0.1"
        far = parts.scheme in ("tcp", "http", "https")
        url = f"tcp://{host}:{port or (2376 if endpoint.certificates else 2375)}" if far else UNUSED
        super().__init__(url, version, tls=_tls(endpoint) if far and secured else False)
        # Neither a proxy for the web nor other authorities from the environment.
        self.trust_env = False
        self.headers["Connection"] = "close"
        self.max_redirects = 0
        if far:
            adapter: requests.adapters.BaseAdapter = _Network(self)
            self.mount("http://", adapter)
            self.mount("https://", adapter)
        else:
            through = ssh.SshCommand(endpoint.url) if parts.scheme == "ssh" else None
            self.mount("http+docker://", _Here(self, parts.path, through))

    def done(self, function: Callable[[Api], T], call: Call, seconds: float) -> T:
        """Return what `function` does with this client; `call` breaks it off, `seconds` bound each wait of it."""
        self.call = call
        self.timeout = seconds  # type: ignore[assignment]
        return function(self)

    def request(self, *words: Any, **options: Any) -> requests.Response:
        """Send a call; `attach_socket` and `wait` give no time limit of their own."""
        if options.get("timeout") is None:
            options["timeout"] = self.timeout
        return super().request(*words, **options)

    def _raise_for_status(self, response: requests.Response) -> None:
        """Raise Denied where the engine does not carry out a call, in its own words."""
        if response.status_code < 400:
            return
        with contextlib.closing(response):
            data = response.content
        try:
            message = str(json.loads(data)["message"])
        except (ValueError, KeyError, TypeError):
            message = data.decode("utf-8", "replace") or f"status {response.status_code}"
        raise Denied(response.status_code, message.strip())

    def _get_raw_response_socket(self, response: requests.Response) -> Attachment:
        """Return the whole of the connection: the SDK's own drops what has come along with the head of the answer."""
        self._raise_for_status(response)
        raw: Any = response.raw
        if raw._fp.fp is None:
            response.close()
            raise EOFError
        stream = raw._fp.fp
        connection = stream.raw._sock
        connection.setblocking(False)
        try:
            first = stream.read1(CHUNK) or b""
        except ssl.SSLWantReadError:
            first = b""
        return Attachment(connection, first, response)


def connected(endpoint: Endpoint, version: str, call: Call, seconds: float) -> Api:
    """Return a client for the calling thread; without a `version` the engine is asked for its own."""
    if not version:
        with Api(endpoint, MINIMUM_DOCKER_API_VERSION) as asking:
            answer = asking.done(lambda api: api.version(api_version=False), call, seconds)
            version = str(answer["ApiVersion"])
    return Api(endpoint, version)


def translated(error: BaseException, url: str) -> BaseException:
    """Return what to raise instead of what the SDK has raised; `error` itself where it says nothing of the engine."""
    if isinstance(error, DockerException):
        return gone(EOFError(str(error)), url)
    if not isinstance(error, FAILURES):
        return error
    causes = list(_causes(error))
    if said := next((one for one in causes if isinstance(one, ssh.SshComplaint)), None):
        return gone(said, url)
    if any(isinstance(one, (TimeoutError, requests.Timeout)) for one in causes):
        return hanging()
    plain = [one for one in causes if isinstance(one, OSError) and not isinstance(one, requests.RequestException)]
    return gone(plain[-1] if plain else EOFError(), url)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield `error` and what it comes from, the innermost last."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if any(one is other for other in seen):
            continue
        seen.append(one)
        yield one
        inner = (*one.args, getattr(one, "reason", None), one.__cause__, one.__context__)
        waiting += [each for each in inner if isinstance(each, BaseException)]


def _tls(endpoint: Endpoint) -> TLSConfig:
    """Return the certificates as the SDK takes them; without an own authority those that this machine trusts."""
    authority, certificate, key = (endpoint.certificate(name) for name in ("ca.pem", "cert.pem", "key.pem"))
    machine = ssl.get_default_verify_paths()
    trusted = authority or machine.cafile or machine.capath
    own = (certificate, key) if certificate and key else None
    if not endpoint.verify:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        return TLSConfig(client_cert=own, verify=False)
    config = TLSConfig(client_cert=own, verify=True)
    config.ca_cert = trusted  # its own check refuses a folder
    return config


# ---- connections ----


class _Here(BaseHTTPAdapter):
    """To an engine on this machine, or through ssh.

    The SDK's own leaves a socket open that could not be connected, and its way through ssh needs paramiko even to
    start the ssh program, waits for ever, and gives no socket to read from.
    """

    def __init__(self, api: Api, path: str, through: ssh.SshCommand | None) -> None:
        super().__init__()
        self._pool = _Pool(lambda seconds: ssh.connect(through, seconds) if through else _unix(path, seconds), api)

    def get_connection(self, url: Any, proxies: Any = None) -> Any:
        return self._pool

    def request_url(self, request: requests.PreparedRequest, proxies: Any) -> str:
        return str(request.path_url)

    def close(self) -> None:
        super().close()
        self._pool.close()


class _Pool(urllib3.HTTPConnectionPool):
    def __init__(self, open: Callable[[float], socket.socket], api: Api) -> None:
        super().__init__("localhost")
        self._open = open
        self._api = api

    def _new_conn(self) -> Any:
        return _Connection(self._open, self._api)


class _Connection(urllib3.connection.HTTPConnection):
    def __init__(self, open: Callable[[float], socket.socket], api: Api) -> None:
        super().__init__("localhost")
        self._open = open
        self._api = api

    def connect(self) -> None:
        self.sock = self._open(float(self.timeout or 0))
        self._api.call.connected(self.sock)

    def getresponse(self) -> Any:
        connection = self.sock
        response = super().getresponse()
        if isinstance(connection, ssh.SshConnection):
            connection.answered = True
        return response


def _unix(path: str, seconds: float) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(urllib.parse.unquote(path))
    except BaseException:
        connection.close()
        raise
    return connection


class _Network(requests.adapters.HTTPAdapter):
    """To an engine at a network address, with TLS or without."""

    def __init__(self, api: Api) -> None:
        self._api = api
        super().__init__()

    def init_poolmanager(self, *words: Any, **options: Any) -> None:
        super().init_poolmanager(*words, **options)
        api = self._api

        class Plain(urllib3.connection.HTTPConnection):
            def connect(self) -> None:
                super().connect()
                api.call.connected(self.sock)

        class Secured(urllib3.connection.HTTPSConnection):
            def connect(self) -> None:
                super().connect()
                api.call.connected(self.sock)

        plain = type("PlainPool", (urllib3.HTTPConnectionPool,), {"ConnectionCls": Plain})
        secured = type("SecuredPool", (urllib3.HTTPSConnectionPool,), {"ConnectionCls": Secured})
        self.poolmanager.pool_classes_by_scheme = {"http": plain, "https": secured}
