"""A developer's session of 25 calls over a small repository, by one client: plainly, and with `assent work`.

What the model is answered is compared call by call. What only `assent work` has is counted: the questions. Then all is
applied, and the folder is compared with that of the plain run.

Two calls want the network: pip, and curl, each until it gets what it wants. In the plain run a proxy of the machine
has it; in the rings each is refused, which asks, and a person opens the host: the test, as a console does.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import threading
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.work import CommandSeen, HostSeen
from runner.work.control import order
from runner.work.log import WorkReading
from runner.workspace.working_copy import all_below
from tests.path.at_work import Account
from tests.path.mock_model import serving
from tests.path.programs import end_those_at
from tests.workspace.trees import look

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.path.at_work import Client
    from tests.path.mock_model import Call
    from tests.workspace.trees import Thing

DOCS, PACKAGES = "docs.example", "packages.example"
"""The hosts of the two calls, at port 80."""
ADDRESS = "93.184.215.14"
"""A public address, to which nothing is sent: what is to go there goes to the test's server."""
WHEELS = Path("/usr/share/python-wheels")
"""Where Debian has pip as one file, with which it makes virtual environments."""
CALLS = 25
WHEN = "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z"
FILES = {
    "README.md": "# Calc\nAdds.\n",
    "src/__init__.py": "",
    "src/calc.py": "def add(a, b):\n    return a - b\n",
    "tests/__init__.py": "",
    "tests/test_calc.py": (
        "import unittest\nfrom src import calc\n\n\nclass T(unittest.TestCase):\n    def test(self):\n"
        "        self.assertEqual(calc.add(2, 2), 4)\n"
    ),
    "package.json": '{"name": "calc", "version": "1.0.0", "scripts": {"test": "node -e \\"console.log(42)\\""}}\n',
    "pip.conf": f"[global]\nno-cache-dir = true\nindex-url = http://{PACKAGES}/simple/\ntrusted-host = {PACKAGES}\n",
    ".gitignore": "build\nwheels\n__pycache__\n",
    "build/old.o": "x",
}
TEST = (
    "import unittest\nfrom src import calc\n\n\nclass T(unittest.TestCase):\n    def test(self):\n"
    "        self.assertEqual(calc.add(1, 1), 2)\n"
)
LINKS = re.compile(r"([-dlps][-rwxsStT]{9}[.+]?) +\d+ ")
"""How many names a file has, as `ls -l` says it: the kernel counts a folder of an overlay as one."""
TOTAL = re.compile(r"\btotal \d+")
"""Blocks of the folder, as `ls -l` says it: folders of an overlay have others."""
DRIVER = f"""
import asyncio, functools, sys
from runner.commands import at_work
from runner.network.dialing import DirectDialer, addresses_of

def resolve(host, port):
    return ["{ADDRESS}"] if host in ("{DOCS}", "{PACKAGES}") else addresses_of(host, port)

async def connect(address, port):
    return await asyncio.open_connection(*(("127.0.0.1", SERVER) if address == "{ADDRESS}" else (address, port)))

at_work.WorkRun = functools.partial(at_work.WorkRun, dialer=DirectDialer(resolve, connect))
from app.__main__ import main
sys.exit(main())
"""
"""Starts Assent so that the two hosts are the test's server; the gate decides and checks as ever."""


@dataclass(frozen=True, slots=True)
class WholeSession:
    """What came out of the two runs."""

    calls: tuple[str, ...]
    """What was called, in words."""
    plain: tuple[str, ...]
    """What the model was answered, without what differs between any two runs."""
    contained: tuple[str, ...]
    held: tuple[str, ...]
    """Commands that waited for a person, or were refused."""
    asked: tuple[str, ...]
    """Hosts that a person was asked about."""
    touched: dict[bytes, tuple[Thing | None, Thing | None]]
    """What of the project was another while the program was at work, before and after."""
    applied: dict[bytes, tuple[Thing | None, Thing | None]]
    """What differs between the plain run's folder and the one to which everything was applied."""
    undone: dict[bytes, tuple[Thing | None, Thing | None]]
    """What differs from the folder at the beginning after an Undo."""

    @property
    def differences(self) -> dict[str, tuple[str, str]]:
        """Call -> the answer of the plain run and the contained one, where they differ."""
        both = zip(self.calls, self.plain, self.contained, strict=True)
        return {call: (one, other) for call, one, other in both if one != other}


def pip() -> str:
    """Return the file of pip, '' where there is none."""
    return str(next(iter(sorted(WHEELS.glob("pip-*.whl"))), ""))


def require_pip() -> None:
    """Skip this test where there is no pip of the system, or fail it where everything is required."""
    if not pip():
        why = f"pip: nothing in {WHEELS}; it comes with python3-venv"
        if os.environ.get("ASSENT_REQUIRE_ALL"):
            pytest.fail(why)
        pytest.skip(why)


def compared(client: Client, place: Path, uid: int) -> WholeSession:
    """Run the session twice, at the same path, in `place`, which the account has to be able to enter."""
    with _served() as server:
        home = place / "home"
        plain = _made(place, uid)
        calls = _calls(client, plain.project)
        at_first = _look(plain.project)
        answers = _plainly(client, plain, calls, server)
        home.rename(place / "plain")
        expected = _look(place / "plain" / plain.project.relative_to(home))

        account = _made(place, uid)
        assert _differences(at_first, _look(account.project), moved=True) == {}
        before = look(account.project)
        contained, seen, asked = _contained(client, account, calls, server)
        touched = _differences(before, look(account.project))
        name = account.newest()
        done = account.assent("work", "apply", name, "--marked", "--folders")
        assert done.returncode == 0, done.stdout + done.stderr
        applied = _differences(expected, _look(account.project), moved=True)
        done = account.assent("work", "undo", name)
        assert done.returncode == 0, done.stdout + done.stderr
        undone = _differences(before, look(account.project))
    held = tuple(one.text for one in seen if one.held or one.refused)
    said = tuple(f"{tool} {json.dumps(arguments)}" for tool, arguments in calls)
    return WholeSession(
        said, _masked(client, answers), _masked(client, contained), held, asked, touched, applied, undone
    )


def _made(place: Path, uid: int) -> Account:
    """Make the repository in a home of its own."""
    account = Account(place, uid)
    for name, text in FILES.items():
        file = account.project / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    git = f"""git init -qb main; git config user.name a; git config user.email a@b; git config core.hooksPath /dev/null
git add -A; {WHEN} git commit -qm first"""
    subprocess.run(["sh", "-ec", git], cwd=account.project, check=True, env=account.environment())
    return account


def _calls(client: Client, project: Path) -> list[Call]:
    shell = client.shell
    calc = project / "src/calc.py"
    download = f"PIP_CONFIG_FILE=pip.conf PYTHONPATH={pip()} python3 -m pip download -q --no-deps -d wheels helper"
    until = "until {}; do sleep 0.2; done"
    calls = [
        shell("ls -la | sed 's/ [A-Z][a-z][a-z] .*:.. / /'"),
        shell("cat README.md"),
        shell("grep -rn 'def ' src"),
        shell("git status --short && git log --oneline | cat"),
        client.reads(calc),
        client.edits(calc, "return a - b", "return a + b"),
        shell("cat src/calc.py"),
        shell("python3 -m unittest -q 2>&1 | sed 's/ in .*s$//'"),
        shell("pytest -q"),
        shell("git diff"),
        shell("npm test --silent"),
        shell("sed -i 's/1.0.0/1.1.0/' package.json && cat package.json"),
        shell(f"{until.format(f'{download} 2>/dev/null')}; ls wheels"),
        shell("ruff format . || black ."),
        client.writes(project / "tests/test_new.py", TEST),
        shell("python3 -m unittest discover -q -s tests -t . 2>&1 | sed 's/ in .*s$//'"),
        shell("rm -rf build"),
        shell("mkdir -p build && cp src/*.py build/ && ls build"),
        shell(until.format(f"curl -sf -m 5 http://{DOCS}/docs")),
        shell("find . -name '*.py' -not -path './.git/*' | sort"),
        shell("wc -l src/*.py"),
        shell(f"git add -A && {WHEN} git commit -qm 'fix add' && git log --oneline | cat"),
        shell("node -e 'console.log(6*7)'"),
        shell("cd src && ls"),
        shell("pwd; ln -s README.md READ && chmod 750 src; echo done; exit 4"),
    ]
    assert len(calls) == CALLS
    return calls


def _plainly(client: Client, account: Account, calls: list[Call], server: int) -> list[str]:
    """Run the client as it is, with what lets it work unasked."""
    with serving(*calls) as model:
        account.variables = client.configure(account.home, model.address)
        account.own()
        program, *given = client.words
        proxy = {"http_proxy": f"http://127.0.0.1:{server}", "no_proxy": "127.0.0.1,localhost"}
        done = subprocess.run(
            account.command(program, *client.facts.started(given)),
            cwd=account.project,
            env=account.environment(**client.facts.variables, **proxy),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        end_those_at(str(account.home))
        assert len(model.answers) == len(calls), (len(model.answers), done.stdout, done.stderr, model.offered)
        return model.answers


def _contained(
    client: Client, account: Account, calls: list[Call], server: int
) -> tuple[list[str], list[CommandSeen], tuple[str, ...]]:
    """Run it with `assent work`, and open each host that is asked for. Return answers, commands and hosts."""
    commands: list[CommandSeen] = []
    asked: list[str] = []
    over = threading.Event()

    def tell(name: str, do: str, **arguments: object) -> None:
        with contextlib.suppress(KnownError):  # it has ended
            order(account.places.runtime, name, do, **arguments)

    def person() -> None:
        reading: WorkReading | None = None
        while not over.wait(0.05) or reading is not None:
            with contextlib.suppress(KnownError):
                copies = all_below(account.work)
                reading = reading or (WorkReading(copies[0].folder) if copies else None)
            for event in reading.new() if reading else ():
                if isinstance(event, CommandSeen):
                    commands.append(event)
                    if event.held:
                        tell(copies[0].name, "answer", number=event.number, run=True)
                elif isinstance(event, HostSeen) and event.contact.allowed is False and not event.quiet:
                    host = f"{event.contact.host}:{event.contact.port}"
                    if host not in asked:
                        asked.append(host)
                        tell(copies[0].name, "open", host=event.contact.host, port=event.contact.port)
            if over.is_set():
                return

    with serving(*calls) as model:
        account.variables = client.configure(account.home, model.address)
        account.own()
        thread = threading.Thread(target=person, name="person")
        thread.start()
        try:
            done = account.assent("work", "--keep", *client.words, driver=DRIVER.replace("SERVER", str(server)))
        finally:
            over.set()
            thread.join()
        assert len(model.answers) == len(calls), (len(model.answers), done.stdout, done.stderr)
        return model.answers, commands, tuple(asked)


def _masked(client: Client, answers: list[str]) -> tuple[str, ...]:
    """Return the answers without what differs between any two runs."""
    masked = (re.sub(client.varies, "", one) if client.varies else one for one in answers)
    return tuple(TOTAL.sub("total", LINKS.sub(r"\1 ", one)) for one in masked)


def _look(project: Path) -> dict[bytes, Thing]:
    """Return a tree without what notes times of files: git's index, for which its entries stand, and compiled code."""
    found = {}
    for path, thing in look(project).items():
        body = thing.body
        if path == b".git/index":
            git = ["git", "-c", f"safe.directory={project}", "ls-files", "-s"]
            body = subprocess.run(git, cwd=project, check=True, capture_output=True).stdout
        elif path.endswith(b".pyc"):
            body = b""
        found[path] = thing._replace(body=body)
    return found


def _differences(
    one: dict[bytes, Thing], other: dict[bytes, Thing], *, moved: bool = False
) -> dict[bytes, tuple[Thing | None, Thing | None]]:
    """Return what differs; of two runs (`moved`) the times are not compared, which are their own."""

    def alike(thing: Thing | None) -> Thing | None:
        return thing._replace(modified=0) if thing and moved else thing

    return {
        path: (one.get(path), other.get(path))
        for path in one.keys() | other.keys()
        if alike(one.get(path)) != alike(other.get(path))
    }


@contextmanager
def _served() -> Iterator[int]:
    """A server of both hosts, by itself and as a proxy; gives its port."""
    wheel = io.BytesIO()
    about = "helper-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: helper\nVersion: 1.0\n")
        packed.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{about}/RECORD", "")
    file = "helper-1.0-py3-none-any.whl"
    pages = {
        "/docs": ("text/plain", b"It adds.\n"),
        "/simple/helper/": ("text/html", f'<!DOCTYPE html><a href="/files/{file}">{file}</a>'.encode()),
        f"/files/{file}": ("application/octet-stream", wheel.getvalue()),
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = re.sub(r"^http://[^/]*", "", self.path)
            kind, body = pages.get(path, ("", b""))
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind or "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="hosts of the session")
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
