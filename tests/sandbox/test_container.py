"""Parts of the container sandbox that need no engine: frames, marks, and where the engine is."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.model.errors import KnownError
from runner.model.request import Isolation, Language, Limits
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container import copying, exec
from runner.sandbox.container.frames import MARK, Frames, Marks, Words
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.container.session import _entry
from runner.sandbox.container.shape import Shape, config
from runner.sandbox.container.starter import introduction
from runner.sandbox.container.unpack import Spool
from runner.sandbox.contract import Bounds, Collect
from runner.sandbox.docker.client import finder
from runner.sandbox.docker.endpoint import STANDARD, Endpoint, find
from runner.sandbox.output import Stream
from runner.sandbox.workspace_copy import NotCopied
from tests import patience
from tests.sandbox.test_engine_client import StandIn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORDS = Words("0123456789abcdef", "fedcba9876543210")
PREFIX = MARK + WORDS.interpreter.encode() + b":"
KEEPER = MARK + WORDS.keeper.encode() + b":"
records = st.builds(
    lambda kind, size, path: kind + size + b" " + path + b"\0",
    st.sampled_from([b"f", b"b", b"l", b"r", b"", b"x"]),
    st.integers(-5, 60).map(lambda number: b"%d" % number) | st.sampled_from([b"", b"9" * 19, b"\xb2"]),
    st.sampled_from([b"a", b"b/c", b"../up", b"/etc/passwd", b""]) | st.binary(max_size=8),
)
texts = st.lists(st.binary(max_size=40) | st.sampled_from([PREFIX[:5], MARK, PREFIX + b"?", b"\x1e"]), max_size=6)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@given(texts, st.lists(st.integers(0, 10_000), max_size=12))
def test_frames_may_be_cut_anywhere(pieces: list[bytes], places: list[int]) -> None:
    sent = [(Stream.OUT if number % 2 else Stream.ERR, piece) for number, piece in enumerate(pieces)]
    data = b"".join(bytes([stream, 0, 0, 0]) + len(piece).to_bytes(4, "big") + piece for stream, piece in sent)
    frames = Frames()
    got = [pair for piece in cut(data, places) for pair in frames.feed(piece)]
    for stream in Stream:
        assert b"".join(p for s, p in got if s is stream) == b"".join(p for s, p in sent if s is stream)


@given(texts, texts, st.binary(max_size=30), st.lists(st.integers(0, 10_000), max_size=12))
def test_marks_are_taken_out_and_nothing_else(
    before: list[bytes], after: list[bytes], report: bytes, places: list[int]
) -> None:
    first, last = b"".join(before), b"".join(after)
    if PREFIX in first + last or first.endswith(tuple(PREFIX[:n] for n in range(1, len(PREFIX)))):
        return  # a program that forges marks gets what it asks for
    data = first + PREFIX + b"R00000006\n3.11.7" + PREFIX + b"E%08x\n" % len(report) + report + last
    marks = Marks(WORDS, 1000)
    shown = b"".join(marks.feed(piece) for piece in cut(data, places)) + marks.rest()
    assert shown == first + last
    assert marks.version == "3.11.7"
    assert marks.report == report


def test_what_claims_to_be_a_report_too_large_is_output() -> None:
    marks = Marks(WORDS, 10)
    data = PREFIX + b"E0000000b\n" + b"x" * 20
    assert marks.feed(data) == data
    assert marks.feed(PREFIX + b"E0000000a\n" + b"y" * 10 + b"after") == b"after"
    assert marks.report == b"y" * 10


def test_reports_without_end_become_output_and_so_count() -> None:
    marks = Marks(WORDS, 10)
    data = (PREFIX + b"E0000000a\n" + b"y" * 10) * 10
    assert marks.feed(data) == data[: len(data) // 10 * 6]
    assert marks.feed(KEEPER + b"C00000003\n007") == b""
    assert marks.status == 7


LENGTHS = (b"-0000001", b"-000ffff", b"+0000001", b" 0000001", b"0x000001", b"0_000_01", b"0000000A", b"00000065")


def test_a_length_is_eight_lower_case_digits_within_the_limit() -> None:
    heads = itertools.product((PREFIX, KEEPER), (b"R", b"E", b"C", b"X"), LENGTHS)
    # In a process of its own: what is wrong here may never return, and no thread can end it.
    said = HANGS.format(data=[b"".join(head) + b"\nabc" for head in heads])
    done = subprocess.run(
        [sys.executable, "-c", said], capture_output=True, text=True, check=False, timeout=patience.HANGS
    )
    assert done.stdout.split() == ["True"], done.stderr


HANGS = """
import resource
from runner.sandbox.container.frames import Marks, Words
resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
marks = Marks(Words("0123456789abcdef", "fedcba9876543210"), 100)
data = {data}
shown = b"".join(map(marks.feed, data)) + marks.rest()
print(shown == b"".join(data) and marks.status is None and marks.version is None)
"""


def test_each_word_is_good_for_its_own_marks_only() -> None:
    for mark in (PREFIX + b"C00000003\n000", KEEPER + b"R00000001\n3", KEEPER + b"E00000002\n{}"):
        marks = Marks(WORDS, 100)
        assert marks.feed(mark) + marks.rest() == mark
        assert (marks.status, marks.version, marks.report) == (None, None, b"")


heads = st.builds(
    lambda mark, kind, size, body: mark + kind + size + b"\n" + body,
    st.sampled_from([PREFIX, KEEPER, MARK, MARK + b"f" * 16 + b":"]),
    st.sampled_from([b"R", b"E", b"C", b"X", b""]),
    st.integers(-40, 2000).map(lambda number: b"%08x" % number) | st.binary(min_size=8, max_size=8),
    st.binary(max_size=12) | st.just(b"007"),
)
streams = st.lists(heads | st.binary(max_size=20) | st.sampled_from([MARK, PREFIX, KEEPER, MARK[:3]]), max_size=8)
places_of_cuts = st.lists(st.integers(0, 10_000), max_size=12)


@contextlib.contextmanager
def hang_guard() -> Iterator[None]:
    """Fail, and do not hang, when what is inside makes no progress."""

    def fail(signum: int, frame: object) -> None:
        raise AssertionError("no progress")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(round(patience.HANGS))
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@given(streams, places_of_cuts)
def test_any_marks_are_read_alike_however_they_are_cut(pieces: list[bytes], places: list[int]) -> None:
    data = b"".join(pieces)
    seen = []
    with hang_guard():
        for parts in ([data], cut(data, places), [bytes([byte]) for byte in data]):
            marks, rest = Marks(WORDS, 50), bytearray()
            marks.take_rest = rest.extend
            shown = b"".join(map(marks.feed, parts)) + marks.rest()
            seen.append((shown, bytes(rest), marks.status, marks.version, marks.report))
    assert seen[0] == seen[1] == seen[2]
    assert len(seen[0][0]) + len(seen[0][1]) <= len(data)


@given(st.lists(st.binary(max_size=30), max_size=8), places_of_cuts)
def test_any_frames_are_read_alike_however_they_are_cut(pieces: list[bytes], places: list[int]) -> None:
    data = b"".join(pieces)
    seen = []
    with hang_guard():
        for parts in ([data], cut(data, places), [bytes([byte]) for byte in data]):
            frames = Frames()
            got = [pair for part in parts for pair in frames.feed(part)]
            seen.append([b"".join(p for s, p in got if s is stream) for stream in Stream])
    assert seen[0] == seen[1] == seen[2]


@given(st.lists(records | st.binary(max_size=20), max_size=8), places_of_cuts)
def test_any_records_are_taken_alike_however_they_are_cut(pieces: list[bytes], places: list[int]) -> None:
    data = b"".join(pieces)
    seen = []
    with hang_guard(), tempfile.TemporaryDirectory() as folder:
        for parts in ([data], cut(data, places)):
            spool = Spool(Collect(Path(folder), Bounds(files=3, file_bytes=20, all_bytes=40)))
            for part in parts:
                spool.write(part)
            collector = spool.unpack()
            spool.close()
            seen.append(([(file.path, file.sha256) for file in collector.files], collector.left_out))
            assert len(collector.files) <= 3
    assert seen[0] == seen[1]


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("bounds", [None, Bounds()])
def test_no_command_carries_a_secret_word(language: Language, bounds: Bounds | None) -> None:
    words = Words.new()
    shape = Shape(Isolation.DOCKER, "runtime", "image", language, Limits(), bounds)
    made = json.dumps(config(shape, "run-1-2-x"))
    sent = introduction(words, keeper=bounds is not None).decode().split()
    assert sent == ([words.keeper] if bounds else []) + [words.interpreter]
    assert not [word for word in sent if word in made]
    assert len({words.keeper, words.interpreter, Words.new().keeper, Words.new().interpreter}) == 4


def test_the_engine_is_found_as_dockers_own_tools_find_it(tmp_path: Path) -> None:
    settings = {"DOCKER_CONFIG": str(tmp_path)}
    assert find(settings) == Endpoint(STANDARD)
    assert find({**settings, "DOCKER_HOST": "ssh://me@far"}) == Endpoint("ssh://me@far")
    secured = {**settings, "DOCKER_HOST": "tcp://far:2376", "DOCKER_TLS_VERIFY": "1"}
    assert find(secured) == Endpoint("tcp://far:2376", str(tmp_path))

    key = hashlib.sha256(b"lab").hexdigest()
    (tmp_path / "contexts/meta" / key).mkdir(parents=True)
    told = {"Endpoints": {"docker": {"Host": "tcp://lab:2376", "SkipTLSVerify": True}}}
    (tmp_path / "contexts/meta" / key / "meta.json").write_text(json.dumps(told))
    (tmp_path / "contexts/tls" / key / "docker").mkdir(parents=True)
    wanted = Endpoint("tcp://lab:2376", str(tmp_path / "contexts/tls" / key / "docker"), verify=False)
    assert find({**settings, "DOCKER_CONTEXT": "lab"}) == wanted
    (tmp_path / "config.json").write_text('{"currentContext": "lab"}')
    assert find(settings) == wanted
    assert find({**settings, "DOCKER_CONTEXT": "default"}) == Endpoint(STANDARD)
    assert find({**settings, "DOCKER_HOST": "tcp://other:1"}, "lab") == wanted  # what the settings name counts first
    with pytest.raises(KnownError, match="no Docker context 'gone'"):
        find({**settings, "DOCKER_CONTEXT": "gone"})


@pytest.mark.parametrize("isolation", [Isolation.DOCKER, Isolation.GVISOR])
def test_hardening_of_every_container(isolation: Isolation) -> None:
    made = config(Shape(isolation, "runtime", "image", Language.PYTHON, Limits()), "run-1-2-x")
    host = made["HostConfig"]
    assert made["User"] == "1000:1000" and made["NetworkDisabled"] and host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] and host["CapDrop"] == ["ALL"] and host["Init"]
    assert "no-new-privileges:true" in host["SecurityOpt"]
    assert any(one.startswith("seccomp={") for one in host["SecurityOpt"]) is (isolation is Isolation.DOCKER)
    assert not {"Binds", "Mounts", "Devices", "Privileged", "PidMode", "UsernsMode"} & host.keys()
    assert host["Memory"] == host["MemorySwap"] >= 512 << 20
    assert host["NanoCpus"] == 500_000_000 and host["PidsLimit"] > 0
    assert "size=1024m" in host["Tmpfs"]["/workspace"]
    assert made["Labels"]["assent.run"] == "run-1-2-x"


@pytest.mark.asyncio
async def test_an_engine_that_is_found_elsewhere_later_is_asked_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine without root has a socket of its own, which is there only once it has been started."""
    at = f"unix://{tmp_path}/none"
    monkeypatch.setattr("runner.sandbox.docker.client.find", lambda context: Endpoint(at))
    sandbox = ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, finder())
    assert (await sandbox.check()).problem == "Docker daemon not available."
    server = await asyncio.start_unix_server(StandIn().serve, tmp_path / "s")
    at = f"unix://{tmp_path}/s"
    assert (await sandbox.check()).problem == "The container engine has no runtime runc."
    await sandbox.close()
    server.close()


@pytest.mark.parametrize("record", [b"", b"x", b"x/f", b"x/f/-1", b"x/f/many"])
def test_an_entry_of_a_folder_that_was_tampered_with_is_a_known_error(record: bytes) -> None:
    with pytest.raises(KnownError):
        _entry("folder", record)


@pytest.mark.asyncio
async def test_a_copy_that_fails_ends_nothing_that_runs_later(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done: list[str] = []

    class Engine:
        async def call(self, _function: object, _seconds: float) -> None:
            await asyncio.sleep(0.01)
            done.append("ended")

    class Full:
        async def read(self) -> bytes:
            return b"\1\0\0\0\0\0\0\1x"

        def close(self) -> None:
            pass

    async def begun(*_: object) -> exec.ExecProcess:
        return exec.ExecProcess("p", Full())  # type: ignore[arg-type]

    monkeypatch.setattr(copying, "start", begun)
    monkeypatch.setattr(copying.archive, "LONGEST_ARCHIVE", 0)
    with pytest.raises(NotCopied, match="larger"):
        await copying.copy(Engine(), "c", tmp_path, ())  # type: ignore[arg-type]
    assert done == ["ended"]


def test_no_program_waits_in_a_way_that_may_miss_the_end() -> None:
    """`wait -f` of Bash 5.2 misses a child that ends at the moment: without end, or with a wrong status."""
    for file in (Path(copying.__file__).parents[1]).rglob("*.sh"):
        code = [line for line in file.read_text().splitlines() if not line.startswith("#")]
        assert not [line for line in code if "wait -f" in line], file


@pytest.mark.asyncio
async def test_podman_in_place_of_docker_is_said_and_nothing_is_run_without_its_walls() -> None:
    asked: list[str] = []

    class Podman:
        listeners: set[object] = set()

        def info(self) -> dict[str, str]:
            asked.append("info")
            return {"ServerVersion": "4.3.1", "BuildahVersion": "1.28.2"}

        async def call(self, function: Callable[[Podman], object], _seconds: float = 0.0) -> object:
            return function(self)

    ready = await ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, Podman()).check()  # type: ignore[arg-type]
    assert not ready.ready and "is Podman" in ready.problem and "SANDBOX_TYPE=local" in ready.remedy
    assert asked == ["info"], "no container is even made"
