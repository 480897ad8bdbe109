"""A small registry of packages on this machine, over HTTP or HTTPS, that can also answer as a hostile one would."""

from __future__ import annotations

import base64
import datetime
import gzip
import hashlib
import io
import ipaddress
import json
import ssl
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from pathlib import Path

JSON = "application/vnd.pypi.simple.v1+json"
OLD = "2020-01-02T03:04:05Z"
Respond = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class LoopbackRegistry:
    """What it has. `answers` by path come before everything else."""

    port: int = 0
    scheme: str = "http"
    html: bool = False
    files: dict[str, bytes] = field(default_factory=dict)
    projects: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    packuments: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: dict[str, Respond] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)

    @property
    def root(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.root}/simple/"

    def add(self, name: str, version: str, data: bytes | None = None, *, file: str = "", **more: Any) -> bytes:
        """Add a wheel, by default an empty package; `more` are fields of its entry, or of `wheel`."""
        fields = {key: more.pop(key) for key in list(more) if key in ("yanked", "upload_time", "requires_python")}
        data = wheel(name, version, **more) if data is None else data
        file = file or f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
        self.files[file] = data
        entry = {
            "filename": file,
            "url": f"{self.root}/files/{file}",
            "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
            "size": len(data),
            "upload-time": fields.pop("upload_time", OLD),
            **{key.replace("_", "-"): value for key, value in fields.items()},
        }
        self.projects.setdefault(name, []).append(entry)
        return data

    def add_source(self, name: str, version: str, files: Mapping[str, str] | None = None, **more: Any) -> bytes:
        """Add a source archive, and the backend that builds it; `more` are those of `sdist`."""
        if "tinybuild" not in self.projects:
            self.add("tinybuild", "1.0", files={"tinybuild.py": BACKEND})
        return self.add(name, version, sdist(name, version, files, **more), file=f"{name}-{version}.tar.gz")

    def add_npm(self, name: str, version: str, files: Mapping[str, str] | None = None, **more: Any) -> bytes:
        """Add a package of npm; `more` are fields of its package.json."""
        about = {"name": name, "version": version, **more}
        data = tarball({"package.json": json.dumps(about), "index.js": "", **(files or {})})
        file = f"{name.rpartition('/')[2]}-{version}.tgz"
        self.files[file] = data
        packument = self.packuments.setdefault(name, {"name": name, "dist-tags": {}, "versions": {}, "time": {}})
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
        dist = {"tarball": f"{self.root}/files/{file}", "integrity": integrity}
        packument["versions"][version] = {**about, "dist": dist}
        packument["dist-tags"]["latest"] = version
        packument["time"][version] = OLD
        return data

    def page(self, name: str) -> tuple[bytes, str]:
        entries = self.projects[name]
        if not self.html:
            return json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": entries}).encode(), JSON
        links = "".join(
            f'<a href="{one["url"]}#sha256={one["hashes"]["sha256"]}">{one["filename"]}</a>' for one in entries
        )
        return f"<!DOCTYPE html><html><body>{links}</body></html>".encode(), "text/html"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    registry: LoopbackRegistry

    def do_GET(self) -> None:
        registry, path = self.registry, unquote(self.path)
        registry.asked.append(path)
        registry.headers.append(dict(self.headers))
        name = path.strip("/").rpartition("/")[2]
        if (answer := registry.answers.get(path)) is not None:
            answer(self)
        elif path.startswith("/simple/") and name in registry.projects:
            send(self, *registry.page(name))
        elif path.startswith("/files/") and name in registry.files:
            send(self, registry.files[name], "application/octet-stream")
        elif path.strip("/") in registry.packuments:
            send(self, json.dumps(registry.packuments[path.strip("/")]).encode(), "application/json")
        else:
            send(self, b"", "text/plain", 404)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def send(handler: BaseHTTPRequestHandler, data: bytes, kind: str = JSON, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def redirect(to: str) -> Respond:
    return lambda handler: send(handler, b"", status=302, Location=to)


@contextmanager
def served(registry: LoopbackRegistry, context: ssl.SSLContext | None = None) -> Iterator[LoopbackRegistry]:
    handler = type("Handler", (_Handler,), {"registry": registry})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = False
    server.block_on_close = True
    if context is not None:
        registry.scheme = "https"
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    registry.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """Return the context of a server for 127.0.0.1, and the file with the certificate that vouches for it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "registry of a test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "ca.pem", folder / "key.pem"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return context, public


def wheel(
    name: str,
    version: str,
    files: Mapping[str, str | bytes] | None = None,
    *,
    needs: Sequence[str] = (),
    record: str | None = None,
    said: str = "",
    info: str = "",
    change: Callable[[zipfile.ZipInfo], None] = lambda _entry: None,
) -> bytes:
    """Return a wheel. `record` replaces its list of files, `said` its name in METADATA, `change` its entries."""
    stem = name.replace("-", "_")
    info = info or f"{stem}-{version}.dist-info"
    contents: dict[str, bytes] = {
        path: text.encode() if isinstance(text, str) else text
        for path, text in ({f"{stem}/__init__.py": f"VERSION = {version!r}\n"} if files is None else files).items()
    }
    lines = [f"Name: {said or name}", f"Version: {version}", "Summary: For a test."]
    lines += [f"Requires-Dist: {one}" for one in needs]
    contents[f"{info}/METADATA"] = ("Metadata-Version: 2.1\n" + "\n".join(lines) + "\n").encode()
    contents[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    if record is None:
        record = "".join(f"{path},{digest(data)},{len(data)}\n" for path, data in contents.items())
        record += f"{info}/RECORD,,\n"
    contents[f"{info}/RECORD"] = record.encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in contents.items():
            entry = zipfile.ZipInfo(path)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            change(entry)
            archive.writestr(entry, data)
    return out.getvalue()


BACKEND = """
import base64, hashlib, json, zipfile

def build_wheel(out, config_settings=None, metadata_directory=None):
    said = json.load(open("package.json"))
    stem = f"{said['name'].replace('-', '_')}-{said['version']}"
    files = dict(said["files"])
    lines = ["Metadata-Version: 2.1", f"Name: {said['name']}", f"Version: {said['version']}"]
    lines += [f"Requires-Dist: {one}" for one in said["needs"]]
    files[f"{stem}.dist-info/METADATA"] = "\\n".join([*lines, ""])
    files[f"{stem}.dist-info/WHEEL"] = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    record = ""
    for path, text in files.items():
        hashed = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={hashed},{len(text.encode())}\\n"
    files[f"{stem}.dist-info/RECORD"] = record + f"{stem}.dist-info/RECORD,,\\n"
    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(f"{out}/{name}", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name
"""
"""A small backend (PEP 517): what it puts into a wheel stands in `package.json` of the sources."""


def sdist(
    name: str,
    version: str,
    files: Mapping[str, str] | None = None,
    *,
    built: Mapping[str, Any] | None = None,
    needs: Sequence[str] = (),
    requires: Sequence[str] = ("tinybuild",),
    backend: str = "tinybuild",
    said: str = "",
) -> bytes:
    """Return a source archive. `built` are fields of `package.json`, which says what its backend makes of it."""
    stem = name.replace("-", "_")
    about = ["Metadata-Version: 2.1", f"Name: {said or name}", f"Version: {version}", "Summary: For a test."]
    about += [f"Requires-Dist: {one}" for one in needs]
    made = {"name": name, "version": version, "needs": list(needs), "files": {f"{stem}/__init__.py": "BUILT = True"}}
    contents = {
        "PKG-INFO": "\n".join(about) + "\n",
        "pyproject.toml": f"[build-system]\nrequires = {json.dumps(list(requires))}\nbuild-backend = {backend!r}\n",
        "package.json": json.dumps({**made, **(built or {})}),
        **(files or {}),
    }
    return tarball(contents)


def digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def tarball(files: Mapping[str, str], change: Callable[[tarfile.TarInfo], None] = lambda _entry: None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(text.encode())
            change(entry)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return gzip.compress(out.getvalue(), mtime=0)
