"""Parts of the container sandbox that need no engine: frames, marks, and where the engine is."""

from __future__ import annotations

import hashlib
import itertools
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import KnownError
from runner.request import Isolation, Language, Limits
from runner.sandbox.container.endpoint import STANDARD, Endpoint, find
from runner.sandbox.container.frames import MARK, Frames, Marks
from runner.sandbox.container.shape import Shape, config
from runner.sandbox.output import Stream

if TYPE_CHECKING:
    from pathlib import Path

WORD = "0123456789abcdef"
PREFIX = MARK + WORD.encode() + b":"
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
    marks = Marks(WORD, 1000)
    shown = b"".join(marks.feed(piece) for piece in cut(data, places)) + marks.rest()
    assert shown == first + last
    assert marks.version == "3.11.7"
    assert marks.report == report


def test_a_report_too_large_is_dropped_and_noted() -> None:
    marks = Marks(WORD, 10)
    assert marks.feed(PREFIX + b"E00000014\n" + b"x" * 20 + b"after") == b"after"
    assert marks.oversized
    assert len(marks.report) <= 10


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
    with pytest.raises(KnownError, match="no Docker context 'gone'"):
        find({**settings, "DOCKER_CONTEXT": "gone"})


@pytest.mark.parametrize("isolation", [Isolation.DOCKER, Isolation.GVISOR])
def test_hardening_of_every_container(isolation: Isolation) -> None:
    made = config(Shape(isolation, "runtime", "image", Language.PYTHON, Limits()), "run-1-2-x", WORD)
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
