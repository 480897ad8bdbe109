"""Runs Python code with stand-ins for what is not there, among decoys, and records what it asks for.

It runs as the code of a job in the sandbox of every run, before a person has decided. Each record is a line of JSON
after the mark, written at once to what was the standard error at the start, so that none is lost with the process.
The code shares this interpreter and can do what it likes to the records: they prove what was asked for, never that
nothing was.
"""

import builtins
import importlib.machinery
import inspect
import io
import json
import opcode
import os
import re
import shlex
import shutil
import socket
import ssl
import sys
import time
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MOST_RECORDS = 300
MOST_COMPARED = 100
"""Records beyond those that tell what became of the decoys: many harmless ones before do not hide that."""
MOST_TARGET, MOST_DATA = 400, 4_000
"""Characters of a record: of what is named on screen, and of what is searched for decoys."""
MOST_DEPTH = 24
"""Attributes and calls in a row after which a stand-in has nothing in it any more: loops over it end."""
UNPACKS = opcode.opmap["UNPACK_SEQUENCE"]
MOST_HANDLERS = 20
"""Functions that were handed to a stand-in, and are called after the code has ended."""
NETWORK = "198.18."
"""Beginning of the addresses that names stand for: reserved for measurements (RFC 2544)."""
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
SPOKEN = frozenset({21, 25, 465, 587})
"""Ports of servers that greet, and answer each line: mail and files."""
ANSWERS = {
    b"EHLO": b"250-ok\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n",
    b"DATA": b"354 go on\r\n",
    b"AUTH": b"235 ok\r\n",
    b"STAR": b"220 go on\r\n",
    b"USER": b"331 go on\r\n",
}
"""What such a server answers to a line that begins so; to others that all is well."""
QUIET = ("/usr/", "/lib", "/proc/", "/dev/", "/etc/localtime", "/etc/ssl", "/etc/mime", "/etc/host", "/etc/nsswitch")
SECRET = re.compile(
    r"\b(?:[A-Z][A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS|DSN|HOOK_URL)|"
    r"(?:[A-Z][A-Z0-9_]{0,60}_)?(?:DATABASE|DB|SQL|PG|POSTGRES|MYSQL|MONGO|MONGODB|REDIS|AMQP|BROKER)_UR[IL])\b"
)
REQUIRED = re.compile(r"environ\[\s*['\"]([A-Za-z_][A-Za-z0-9_]{0,60})['\"]\s*\]")
NUMBER = re.compile(r"PORT|COUNT|LIMIT|SIZE|TIMEOUT|DAYS|NUM")
FILE = re.compile(
    r"['\"]([~\w./ -]{0,120}\.(?:json|csv|txt|md|env|ya?ml|toml|ini|cfg|log|sql|db|sqlite3?|py|js|ts|html|xml|pem|key|"
    r"jsonl|tsv|png|jpe?g|pdf|zip|bak|lock|sh))['\"]"
)
FOLDER = re.compile(r"(?:listdir|scandir|walk|Path|rmtree|chdir)\(\s*['\"]([~\w./ -]{1,120})['\"]")
IN_HOME = re.compile(r"(?:Path\.home\(\)|expanduser\(['\"]~['\"]\)\))((?:\s?/\s?['\"][^'\"\n]{1,80}['\"]){1,6})")
PATTERN = re.compile(r"glob\(\s*[rf]?['\"]([\w./ *-]{0,80}\*[\w./ *-]{0,80})['\"]")
CONTENT = {
    "json": '{"id": 1, "name": "one", "items": [{"id": 1, "name": "one", "email": "one@example.com"}]}\n',
    "jsonl": '{"id": 1, "name": "one"}\n',
    "csv": "id,name,email,path,amount\n1,one,one@example.com,one.txt,1\n2,two,two@example.com,two.txt,2\n",
    "yaml": "name: one\n",
    "yml": "name: one\n",
    "toml": 'name = "one"\n',
    "ini": "[one]\nname = one\n",
    "cfg": "[one]\nname = one\n",
    "xml": "<one/>\n",
    "db": "",
    "sqlite": "",
    "sqlite3": "",
}
_CLIENTS = """
aiohttp anthropic azure boto3 botocore dns docker github gitlab google googleapiclient httpx kubernetes mysql
moto
openai paramiko pika psycopg psycopg2 pymongo pymysql redis requests sendgrid slack_sdk stripe telegram twilio
web3
"""
CLIENTS = frozenset(_CLIENTS.split())
"""Packages that talk to other machines; installed or not, they have stand-ins, which say more than their sockets."""
_ACTING = """
aws az crontab curl docker gcloud gh git helm kubectl mail mongosh mysql npm npx pip pip3 podman psql redis-cli
rsync scp sendmail sftp ssh sudo systemctl terraform wget
"""
ACTING = _ACTING.split()
"""Programs that act on something else than files; those that do nothing stand before them."""
_IN_TESTS = "fakeredis mongomock mockredis fake_gcs pytest_httpserver"
IN_TESTS = frozenset(_IN_TESTS.split())
"""Packages that are a service for tests, in the memory of the program itself."""
FURTHER = re.compile(
    r"(?i)next_?(?:page|token|cursor|marker|continuation|link|url|offset)\w{0,20}|has_?(?:more|next)\w{0,10}|is_?truncated|"
    r"last_?evaluated_?key|end_?cursor"
)
"""What says that there is another page: every service here has one."""
MOST_TRUE = 20
"""How often a stand-in is true at one line: loops over it end."""
MEMORY = (":memory:", "sqlite://", "sqlite:///:memory:", "sqlite+pysqlite:///:memory:", "sqlite+aiosqlite:///:memory:")
"""Addresses of databases in memory."""
OPENING = re.compile(r"[A-Z]\w*|connect|from_url|create_client|create_engine")
"""What a function is called that makes a client of an address."""
_OF_AMAZON = "boto3 botocore aioboto3 aiobotocore"
OF_AMAZON = frozenset(_OF_AMAZON.split())
"""Packages in place of whose service another, `moto`, puts one for tests."""
SECRET_FILES = (".ssh/id_rsa", ".ssh/id_ed25519", ".aws/credentials", ".netrc", ".npmrc", ".docker/config.json")
OTHER_FILES = (".bashrc", ".profile", ".gitconfig", "Documents/letter.txt", "Pictures/one.jpg", "Desktop/notes.txt")
STANDARD = ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY")


class Notebook:
    """What was asked for; written as it happens."""

    def __init__(self, mark: str, secret: "Callable[[str], str]") -> None:
        self._stream = os.dup(2)
        self._mark = mark
        self.secret = secret
        self.main = ""
        self.moved: set[str] = set()
        """Paths that were moved."""
        self._seen: set[tuple[str, str]] = set()
        self.most = MOST_RECORDS
        self.over = False
        self.busy = False
        self.mocking = 0
        """How many stand-ins for Amazon's services of a test are in place."""

    def note(self, kind: str, target: object = "", data: object = "", **more: object) -> None:
        if self.over or self.busy:
            return
        self.busy = True
        try:
            one = {"kind": kind, "target": _text(target)[:MOST_TARGET], "data": _text(data)[:MOST_DATA], **more}
            key = (kind, f"{one['target']}{one['data']}")
            if key in self._seen:
                return
            if len(self._seen) >= self.most:
                one, self.over = {"kind": "more"}, True
            self._seen.add(key)
            line = f"\n{self._mark} {json.dumps({**one, 'line': self.line()})}\n"
            os.write(self._stream, line.encode("utf-8", "replace"))
        finally:
            self.busy = False

    def line(self) -> int:
        """Return the line of the code that is at work; 0 for none."""
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.main:
            frame = frame.f_back
        return 0 if frame is None else int(frame.f_lineno)


def _text(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return bytes(value[:MOST_DATA]).decode("utf-8", "replace")
    return value if isinstance(value, str) else _shown(value)


def _shown(value: object) -> str:
    if isinstance(value, Stand):
        return str(value.__dict__["_name"])
    if isinstance(value, types.FunctionType | type):
        return str(value.__name__)
    try:
        return repr(value)[:MOST_DATA]
    except Exception:
        return "?"


_BINARY = "add sub mul truediv and or mod"
_OPERATORS = [*_BINARY.split(), *(f"r{name}" for name in _BINARY.split()), "neg", "invert"]


class Stand:
    """Stands for whatever a package that is not there has; takes every call and notes it."""

    record: "Notebook"
    handed: "list[Callable[..., Any]]"
    true: "dict[int, int]" = {}

    def __init__(self, name: str, depth: int = 0, *, mocked: bool = False) -> None:
        mocked = mocked or name.partition(".")[0] in IN_TESTS
        self.__dict__.update(_name=name, _depth=depth, _mocked=mocked)

    def _next(self, more: str, *, mocked: bool = False) -> "Stand":
        name, mocked = str(self.__dict__["_name"]), mocked or self.__dict__["_mocked"]
        shorter = name if len(name) < 160 else "..." + name[-120:]
        return Stand(shorter + more, self.__dict__["_depth"] + 1, mocked=mocked)

    def __getattr__(self, name: str) -> "Any":
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if self.__dict__["_depth"] and FURTHER.fullmatch(name):
            return None
        return self._next(f".{name}")

    def __setattr__(self, name: str, value: object) -> None:
        self.record.note("set", f"{self.__dict__['_name']}.{name}", value)
        self.__dict__[name] = value

    def __call__(self, *given: "Any", **named: "Any") -> "Any":
        shown = [*map(_shown, given), *(f"{name}={_shown(value)}" for name, value in named.items())]
        name = str(self.__dict__["_name"])
        mocked = self.__dict__["_mocked"] or (self.record.mocking > 0 and name.partition(".")[0] in OF_AMAZON)
        if OPENING.fullmatch(name.rpartition(".")[2]):  # a client of what is in the memory of the program
            mocked = mocked or any(map(_in_memory, (*given, *named.values())))
        self.record.note("call", f"mocked {name}" if mocked else name, ", ".join(shown))
        if name.endswith(".get") and given and isinstance(given[0], str) and FURTHER.fullmatch(given[0]):
            return None
        for one in (*given, *named.values()):
            if isinstance(one, types.FunctionType) and len(self.handed) < MOST_HANDLERS:
                self.handed.append(one)
        if len(given) == 1 and not named and _decorated(given[0], sys._getframe(1)):
            return given[0]
        short = ", ".join(shown)
        # A decoy in its name would look as if that was handed on wherever the name goes.
        return self._next(f"({short})" if len(short) <= 40 and "sk-" not in short else "(...)", mocked=mocked)

    def __getitem__(self, key: object) -> "Any":
        if isinstance(key, str) and FURTHER.fullmatch(key):
            return None
        return self._next(f"[{_shown(key)[:60]}]")

    def __setitem__(self, key: object, value: object) -> None:
        self.record.note("set", f"{self.__dict__['_name']}[{_shown(key)[:60]}]", value)

    def __iter__(self) -> "Iterator[Any]":
        frame = sys._getframe(1)
        at, text = frame.f_lasti, frame.f_code.co_code
        if 0 <= at < len(text) - 1 and text[at] == UNPACKS:  # as many as there are names for
            return iter([self._next(f"[{number}]") for number in range(text[at + 1])])
        return iter([self._next("[0]")] if self.__dict__["_depth"] < MOST_DEPTH else [])

    def __aiter__(self) -> "Any":
        async def each() -> "Any":
            for one in self:
                yield one

        return each()

    def __await__(self) -> "Any":
        yield from ()
        return self

    def __enter__(self) -> "Stand":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    async def __aenter__(self) -> "Stand":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    def __len__(self) -> int:
        return 1

    def __bool__(self) -> bool:
        line = self.record.line()
        self.true[line] = self.true.get(line, 0) + 1
        return self.true[line] <= MOST_TRUE

    def __str__(self) -> str:
        return f"<{self.__dict__['_name'][-60:]}>"

    def __repr__(self) -> str:
        return repr(str(self))

    def __format__(self, _spec: str) -> str:
        return str(self)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __mro_entries__(self, _bases: object) -> "tuple[type, ...]":
        return (StandBase,)

    def __int__(self) -> int:
        return 1

    __index__ = __int__

    def __float__(self) -> float:
        return 1.0

    def __lt__(self, _other: object) -> bool:
        return True

    __gt__ = __le__ = __ge__ = __lt__

    def __contains__(self, _key: object) -> bool:
        return False

    def _mixed(self, *_: object) -> "Stand":
        return self._next("")

    for _each in _OPERATORS:
        locals()[f"__{_each}__"] = _mixed


class StandType(type):
    """Type of the classes of the code that are derived from a stand-in: what they do not have themselves is one."""

    def __getattr__(cls, name: str) -> "Any":
        if name.startswith("__"):
            raise AttributeError(name)
        return Stand(f"{cls.__name__}.{name}")


class StandBase(metaclass=StandType):
    """What a class of the code has that is derived from a stand-in."""

    def __init__(self, *given: object, **named: object) -> None:
        shown = [*map(_shown, given), *(f"{name}={_shown(value)}" for name, value in named.items())]
        Stand.record.note("call", type(self).__name__, ", ".join(shown))
        self.__dict__.update(named)

    def __getattr__(self, name: str) -> "Any":
        if name.startswith("__"):
            raise AttributeError(name)
        return Stand(f"{type(self).__name__}(...).{name}")


def _is_defined(value: object) -> bool:
    return isinstance(value, types.FunctionType | type)


def _decorated(value: object, frame: "Any") -> bool:
    """Return whether it is what a decorator is called with: its name refers to nothing yet."""
    return _is_defined(value) and frame.f_locals.get(getattr(value, "__name__", "")) is not value


def _in_memory(value: object) -> bool:
    """Return whether what is given to a client stands for a service in the program's own memory."""
    return (
        bool(value.__dict__["_mocked"])
        if isinstance(value, Stand)
        else value in MEMORY
        if isinstance(value, str)
        else False
    )


class MockedAmazon:
    """Stands for what `moto` puts in place of Amazon's services, as a decorator, a context, or by `start`."""

    def __init__(self, *given: object, **named: object) -> None:
        self._decorates = given[0] if given and not named and _is_defined(given[0]) else None
        self._whole = not named and (not given or self._decorates is not None)
        """Whether nothing passes by it, which its `config` may let."""

    def __call__(self, *given: "Any", **named: "Any") -> "Any":
        work: Any = self._decorates
        if work is None:
            return MockedAmazon(*given, **named) if given and _is_defined(given[0]) else self
        if isinstance(work, type):
            return work(*given, **named)
        with self:
            return work(*given, **named)

    def start(self, *_: object, **__: object) -> "MockedAmazon":
        Stand.record.mocking += self._whole
        return self

    def stop(self, *_: object) -> None:
        Stand.record.mocking = max(0, Stand.record.mocking - self._whole)

    __enter__ = start
    __exit__ = stop

    def __getattr__(self, name: str) -> "Any":
        if self._decorates is None or name == "__wrapped__":
            raise AttributeError(name)
        return getattr(self._decorates, name)


class StandModule(types.ModuleType):
    """A package that is not there."""

    def __getattr__(self, name: str) -> "Any":
        if name == "__path__":
            return []
        if name in ("__file__", "__version__", "__code__"):
            Stand.record.note("looked", f"{self.__name__}.{name}")
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__ == "moto" and name.startswith("mock_"):
            return MockedAmazon
        return Stand(f"{self.__name__}.{name}")


class StandFinder:
    """Finds clients of other machines before anybody else, and last whatever the code imports and nobody has found."""

    def __init__(self, record: Notebook, folder: str, *, last: bool) -> None:
        self._record = record
        self._folder = folder
        self._last = last

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top.startswith("_") or self._last is (top in CLIENTS):
            return None
        if self._last and not self._is_wanted():
            return None
        loader: Any = self
        return importlib.machinery.ModuleSpec(name, loader, is_package=True)

    def _is_wanted(self) -> bool:
        """Return whether the code itself imports it: what a library looks for may well be missing."""
        frame: Any = sys._getframe(2)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        return frame is None or frame.f_code.co_filename.startswith((self._folder, "<"))

    def create_module(self, spec: "Any") -> types.ModuleType:
        return StandModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


# ---- decoys ----


def lay_out(code: str, home: str, record: Notebook) -> None:
    """Make a home and a folder to work in with decoys, shaped like what the code names."""
    names = [*STANDARD, *dict.fromkeys(SECRET.findall(code))][:40]
    for name in names:
        os.environ[name] = record.secret(name)
        record.note("decoy", name)
    for name in dict.fromkeys(REQUIRED.findall(code)):
        os.environ.setdefault(name, "7" if NUMBER.search(name) else "decoy")
    for place in SECRET_FILES:
        _put(os.path.join(home, place), f"{record.secret('~/' + place)}\n")
    for place in OTHER_FILES:
        _put(os.path.join(home, place), "decoy\n")
    _put(".env", "".join(f"{name}={record.secret(name)}\n" for name in names))
    for place in list(dict.fromkeys(FILE.findall(code)))[:60]:
        text = CONTENT.get(place.rpartition(".")[2], "decoy\n")
        _put(os.path.expanduser(place), text)
        if "/" not in place:
            _put(os.path.join(home, "Documents", place), text)
    parts = (re.findall(r"['\"]([^'\"]+)['\"]", one) for one in IN_HOME.findall(code))
    folders = list(dict.fromkeys([*FOLDER.findall(code), *(os.path.join("~", *each) for each in parts)]))[:20]
    patterns = [one.replace("**", "one").replace("*", "one") for one in PATTERN.findall(code)][:10]
    for place in folders:
        named = CONTENT.get(place.rpartition(".")[2], "decoy\n") if "." in place.rpartition("/")[2][1:] else ""
        if named:
            _put(os.path.expanduser(place), named)
        for name in ("one.txt", "two.jpg", *patterns) if not named else ():
            _put(os.path.join(os.path.expanduser(place), name), CONTENT.get(name.rpartition(".")[2], "decoy\n"))
    for name in patterns:
        _put(os.path.expanduser(name), CONTENT.get(name.rpartition(".")[2], "decoy\n"))


LAID: "dict[str, str]" = {}
OPEN = open
"""As it is without stand-ins, which put another file where one is gone."""
"""Decoys outside of the folder to work in, and what they held."""


def compare(record: Notebook) -> None:
    """Note what became of the decoys in the home: what is not recorded otherwise is seen by that."""
    record.over, record.most = False, MOST_RECORDS + MOST_COMPARED
    for path, text in LAID.items():
        record.busy = True  # this look is none of the code's
        found = _content(path)
        record.busy = False
        if found is None and not any(f"{path}/".startswith(f"{one}/") for one in record.moved):
            record.note("delete", path)
        elif found is not None and found != text:
            record.note("overwrite", path)


def _content(path: str) -> "str | None":
    """Return what is in a file; None where it is gone."""
    try:
        with OPEN(path) as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return ""


def _put(path: str, text: str) -> None:
    """Write a file, where there is none and one may be made."""
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if not os.path.lexists(path):
            with open(path, "w") as file:
                file.write(text)
            if os.environ["HOME"] in path:
                LAID[path] = text
    except (OSError, ValueError):
        pass


# ---- what is built in ----


class AuditWatch:
    """Notes what the interpreter itself says is done, by its audit events."""

    def __init__(self, record: Notebook, ours: "tuple[str, ...]", programs: str) -> None:
        self._record = record
        self._ours = ours
        self._programs = programs
        self._quiet = (*QUIET, sys.prefix + "/", sys.base_prefix + "/", programs)
        self._heard: dict[str, Callable[..., None]] = {
            "open": self._opened,
            "os.remove": self._removed,
            "os.rmdir": self._removed,
            "shutil.rmtree": self._noted("delete folder"),
            "os.rename": self._moved,
            "shutil.move": self._moved,
            "os.chmod": self._changed,
            "os.chown": self._changed,
            "os.symlink": self._linked,
            "os.link": self._linked,
            "os.truncate": self._noted("write"),
            "sqlite3.connect": self._noted("read"),
            "subprocess.Popen": lambda program, words, folder, *_: self._started(words, program, folder),
            "os.exec": lambda program, words, *_: self._started(words, program),
            "os.posix_spawn": lambda program, words, *_: self._started(words, program),
            "os.system": lambda words: self._started(words, ""),
            "ctypes.dlopen": lambda name: record.note("native", name) if name else None,
            "ctypes.dlsym": lambda _library, name: record.note("native", name),
            "os.kill": lambda process, *_: record.note("kill", process),
            "os.killpg": lambda group, *_: record.note("kill", group),
            "webbrowser.open": lambda address: record.note("connect", address),
        }

    def __call__(self, event: str, given: "tuple[Any, ...]") -> None:
        heard = self._heard.get(event)
        if heard is None or self._record.over or self._record.busy:
            return
        try:
            heard(*given)
        except Exception:
            self._record.note("more")

    def _noted(self, kind: str) -> "Callable[..., None]":
        return lambda path, *_: self._record.note(kind, _path(path))

    def _opened(self, path: object, mode: object, flags: object) -> None:
        if not isinstance(path, str | bytes):
            return
        name = os.path.abspath(os.fsdecode(path))
        if name.startswith(self._quiet) or name in self._ours:
            return
        number = flags if isinstance(flags, int) else 0
        writes = bool(number & (os.O_WRONLY | os.O_RDWR))
        loses = writes and number & os.O_TRUNC and os.path.isfile(name) and os.path.getsize(name)
        self._record.note("overwrite" if loses else "write" if writes else "read", name)

    def _removed(self, path: object, *_: object) -> None:
        if not _is_below_rmtree():
            self._record.note("delete", _path(path))

    def _moved(self, old: object, new: object, *_: object) -> None:
        self._record.moved.add(str(_path(old)))
        self._record.note("move", _path(old), _path(new))

    def _changed(self, path: object, mode: object, *_: object) -> None:
        self._record.note("rights", _path(path), oct(mode) if isinstance(mode, int) and mode >= 0 else "")

    def _linked(self, old: object, new: object, *_: object) -> None:
        self._record.note("link", _path(new), _path(old))

    def _started(self, words: object, program: object, folder: object = None) -> None:
        if isinstance(words, str | bytes):
            text = os.fsdecode(words)
        elif isinstance(words, list | tuple):
            given = [os.fsdecode(one) if isinstance(one, str | bytes | os.PathLike) else _text(one) for one in words]
            shell = len(given) == 3 and given[1] == "-c" and given[0].endswith("sh")
            text = given[2] if shell else shlex.join(given)
        else:
            text = _text(program)
        self._record.note("run", text, _path("." if folder is None else folder))
        name = text.split(None, 1)[0] if text.strip() else ""
        if name and "/" not in name and not shutil.which(name):
            _stand_in(self._programs, name)


def _path(value: object) -> object:
    if isinstance(value, int):
        try:
            return os.readlink(f"/proc/self/fd/{value}")
        except OSError:
            return value
    text = os.fsdecode(value) if isinstance(value, str | bytes | os.PathLike) else _text(value)
    return os.path.abspath(text)


def _is_below_rmtree() -> bool:
    """Return whether this is a part of a deletion that was noted as a whole."""
    frame: Any = sys._getframe(2)
    for _ in range(12):
        if frame is None:
            return False
        if frame.f_code.co_filename.endswith("shutil.py") and frame.f_code.co_name.startswith("_rmtree"):
            return True
        frame = frame.f_back
    return False


def _stand_in(programs: str, name: str) -> None:
    """Put a program that does nothing before those of its name."""
    try:
        descriptor = os.open(os.path.join(programs, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755)
        os.write(descriptor, b"#!/bin/sh\nexit 0\n")
        os.close(descriptor)
    except OSError:
        pass


class Elsewhere:
    """Other machines: names have addresses, and what is behind those is remembered."""

    def __init__(self, record: Notebook) -> None:
        self._record = record
        self._names: dict[str, str] = {}

    def address(self, host: object) -> str:
        text = _text(host)
        if text in ("", "None", "localhost") or text.startswith("127."):
            return "127.0.0.1"
        if text in self._names:
            return text
        self._record.note("look up", text)
        number = len(self._names)
        found = f"{NETWORK}{number // 250 % 250}.{number % 250 + 1}"
        self._names[found] = text
        return found

    def addresses(self, host: object, port: object, *_: object, **__: object) -> "list[Any]":
        number = port if isinstance(port, int) else 443 if port == "https" else 80
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (self.address(host), number))]

    def place(self, address: "tuple[Any, ...]") -> str:
        host, port = address[:2]
        return f"{self._names.get(host, host)}:{port}"


class StandConnection(socket.socket):
    """A connection that leads nowhere: what is sent is noted, and a little is answered."""

    record: Notebook
    elsewhere: Elsewhere
    place = ""
    answer = b""
    speaks = False

    def connect(self, address: "Any") -> None:
        if not self._is_internet():
            self.record.note("connect", address)
            super().connect(address)
            return
        self.place = self.elsewhere.place(address)
        self.speaks = address[1] in SPOKEN
        self.answer = b"220 ready\r\n" if self.speaks else HTTP
        self.record.note("connect", self.place)

    def connect_ex(self, address: "Any") -> int:
        self.connect(address)
        return 0

    def send(self, data: "Any", *_: "Any") -> int:
        said = bytes(data)
        self.record.note("send", self.place, said)
        if self.speaks:
            self.answer += ANSWERS.get(said[:4].upper(), b"250 ok\r\n")
        return len(said)

    def sendall(self, data: "Any", *_: "Any") -> None:
        self.send(data)

    def sendto(self, data: "Any", *given: "Any") -> int:
        self.record.note("send", self.elsewhere.place(given[-1]), bytes(data))
        return len(data)

    def recv(self, size: int, *_: "Any") -> bytes:
        found, self.answer = self.answer[:size], self.answer[size:]
        return found

    def makefile(self, mode: str = "r", *_: "Any", **__: "Any") -> "Any":
        if "w" in mode and "r" not in mode:
            return io.BufferedWriter(_Writer(self))
        raw = io.BufferedReader(_Reader(self))
        return raw if "b" in mode else io.TextIOWrapper(raw, "utf-8")

    def settimeout(self, _seconds: object) -> None:
        """Nothing is waited for."""

    def getpeername(self) -> "Any":
        return self.place.rpartition(":")[0], 443

    def bind(self, address: "Any") -> None:
        self.record.note("listen", ":".join(map(_text, address[:2])) if isinstance(address, tuple) else address)
        if not self._is_internet():
            super().bind(address)

    def _is_internet(self) -> bool:
        return self.family in (socket.AF_INET, socket.AF_INET6)


class _Reader(io.RawIOBase):
    """What is read from a connection as if it were a file."""

    def __init__(self, connection: StandConnection) -> None:
        super().__init__()
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, place: "Any") -> int:
        found = self._connection.recv(len(place))
        place[: len(found)] = found
        return len(found)


class _Writer(io.RawIOBase):
    """What is written into a connection as if it were a file."""

    def __init__(self, connection: StandConnection) -> None:
        super().__init__()
        self._connection = connection

    def writable(self) -> bool:
        return True

    def write(self, data: "Any") -> int:
        return self._connection.send(bytes(data))


def no_network(record: Notebook) -> None:
    """Put stand-ins for other machines."""
    elsewhere = Elsewhere(record)
    StandConnection.record, StandConnection.elsewhere = record, elsewhere
    module: Any = socket
    module.getaddrinfo = elsewhere.addresses
    module.gethostbyname = elsewhere.address
    module.gethostbyname_ex = lambda host: (host, [], [elsewhere.address(host)])
    module.socket = StandConnection
    context: Any = ssl.SSLContext
    context.wrap_socket = lambda _context, connection, *_, **__: connection


def no_ends(record: Notebook) -> None:
    """Let the code go on where what it needs is not there: files elsewhere, arguments, and what stand-ins hold."""
    import pickle

    def held(module: "Any", name: str) -> None:
        real = getattr(module, name)

        def loaded(text: object, *given: "Any", **named: "Any") -> "Any":
            if not isinstance(text, Stand):
                return real(text, *given, **named)
            record.note("call", f"{module.__name__}.{name}", text)
            return text

        setattr(module, name, loaded)

    for module in (json, pickle):
        held(module, "loads")
        held(module, "load")
    encoder: Any = json.JSONEncoder
    other = encoder.default

    def as_json(self: "Any", value: object) -> "Any":
        return str(value) if isinstance(value, Stand) else other(self, value)

    encoder.default = as_json
    opened = io.open

    def opens(path: "Any", mode: str = "r", *given: "Any", **named: "Any") -> "Any":
        try:
            return opened(path, mode, *given, **named)
        except FileNotFoundError:
            name = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
            if set(mode) & set("wax") and name.startswith((os.environ["HOME"], os.getcwd())):
                os.makedirs(os.path.dirname(name), exist_ok=True)
                return opened(path, mode, *given, **named)
            if not name.startswith("/") or set(mode) & set("wax+"):
                raise
            text = record.secret(name) if "secret" in name else CONTENT.get(name.rpartition(".")[2], "decoy\n")
            record.note("decoy", name)
            return io.BytesIO(text.encode()) if "b" in mode else io.StringIO(text)

    builtin: Any = builtins
    streams: Any = io
    builtin.open = streams.open = opens


def with_arguments() -> None:
    """Give a command line what it demands, where there is none."""
    import argparse

    parser: Any = argparse.ArgumentParser
    parsed = parser.parse_known_args

    def parse(self: "Any", args: "Any" = None, namespace: "Any" = None) -> "Any":
        words = list(args) if args is not None else []
        for one in self._actions if not words and len(sys.argv) < 2 else ():
            if one.required:
                value = next(iter(one.choices)) if one.choices else "7" if one.type in (int, float) else "decoy.txt"
                words += [*one.option_strings[-1:], str(value)]
        return parsed(self, words, namespace)

    parser.parse_known_args = parse


def with_answers(record: Notebook) -> None:
    """Say yes to what the code asks on a terminal, which is not there."""
    import getpass

    def answered(prompt: object = "", *_: object) -> str:
        record.note("answered", prompt)
        return "y"

    builtin: Any = builtins
    secretly: Any = getpass
    builtin.input = answered
    secretly.getpass = lambda *_, **__: "decoy"


def no_clock(record: Notebook) -> None:
    """Let no time pass where the code waits, and note that it asks for the time."""
    module: Any = time

    def slept(seconds: object) -> None:
        record.note("slept", seconds)

    module.sleep = slept
    for name in ("time", "localtime", "gmtime", "ctime"):
        real = getattr(time, name)

        def asked(*given: "Any", real: "Any" = real) -> "Any":
            if record.line():
                record.note("clock")
            return real(*given)

        setattr(module, name, asked)
    import datetime

    class Day(datetime.date):
        @classmethod
        def today(cls) -> "Any":
            record.note("clock")
            return super().today()

    class Moment(datetime.datetime):
        @classmethod
        def now(cls, tz: "Any" = None) -> "Any":
            record.note("clock")
            return super().now(tz)

        @classmethod
        def utcnow(cls) -> "Any":
            record.note("clock")
            return super().now()

        today = now

    dates: Any = datetime
    dates.date, dates.datetime = Day, Moment


# ---- one trial ----


def try_it(mark: str, code: str, seed: str) -> None:
    import hashlib

    def secret(name: str) -> str:
        return "sk-" + hashlib.sha256(f"{seed} {name}".encode("utf-8", "surrogatepass")).hexdigest()[:32]

    workspace, main = os.getcwd(), os.path.join(os.getcwd(), "request.py")
    record = Notebook(mark, secret)
    top = os.environ.get("TMPDIR", "/tmp")
    home, programs = os.path.join(top, "home", "user"), os.path.join(top, "bin")
    for folder in (home, programs):
        os.makedirs(folder, exist_ok=True)
    for name in ACTING:
        _stand_in(programs, name)
    os.environ.update(HOME=home, PATH=f"{programs}:{os.environ.get('PATH', '')}", USER="user", LOGNAME="user")
    lay_out(code, home, record)
    record.note("begun", workspace, home)
    with open(main, "w") as file:
        file.write(code)
    record.main = main
    Stand.record, Stand.handed = record, []
    given = dict(vars(sys.modules["__main__"]))
    for name in list(given):
        if name in OWN and name not in ("__name__", "__builtins__"):
            del given[name]
    given.update(__name__="__main__", __file__=main, __builtins__=builtins)
    first, last = (StandFinder(record, workspace, last=last) for last in (False, True))
    finders: Any = sys.meta_path
    finders.insert(0, first)
    finders.append(last)
    module = types.ModuleType("__main__")
    module.__dict__.update(given)
    sys.modules["__main__"] = module
    sys.argv[:] = [main]
    no_network(record)
    no_ends(record)
    with_arguments()
    with_answers(record)
    no_clock(record)
    sys.addaudithook(AuditWatch(record, (main, workspace), programs))
    followed(record, code, main, module)
    compare(record)
    record.note("over")
    sys.stdout.flush()


def followed(record: Notebook, code: str, main: str, module: types.ModuleType) -> None:
    try:
        exec(compile(code, main, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - what all of this is for
    except BaseException as error:
        ended(record, error)
    for one in Stand.handed:
        try:
            names = inspect.signature(one).parameters.values()
            result = one(*(Stand(each.name) for each in names if each.default is each.empty and each.kind < 2))
            if inspect.iscoroutine(result):
                import asyncio

                asyncio.run(result)
        except BaseException:
            continue


def ended(record: Notebook, error: BaseException) -> None:
    if isinstance(error, SystemExit) and error.code in (None, 0):
        return
    line, trace = getattr(error, "lineno", 0) or 0, error.__traceback__
    while trace is not None:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == record.main else line
        trace = trace.tb_next
    words = f"exit code {error.code}" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
    if isinstance(error, OSError) and error.strerror:
        words = f"{error.strerror.lower()}: {error.filename or ''}".rstrip(": ")
    record.note("ended", words, at=line)


OWN = frozenset(globals())
