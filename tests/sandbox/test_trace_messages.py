"""Messages of gVisor's kernel: read right, bounded, and never trusted."""

from __future__ import annotations

import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runner.model.behaviour import LONGEST, MOST_DEEDS, DeedKind
from runner.model.shown import hides
from runner.sandbox.behaviour import BehaviourBook
from runner.sandbox.container.frames import MARK
from runner.sandbox.gvisor.run_trace import RunTrace
from runner.sandbox.gvisor.trace_messages import (
    LARGEST,
    MOST_WORDS,
    BadMessage,
    Called,
    Cloned,
    Executed,
    Exited,
    Opened,
    Reached,
    container_of,
    decoded,
)

CLONE, EXEC, EXIT, RAW, OPEN, CONNECT, TRIED = 2, 3, 4, 6, 7, 10, 11


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def data(field: int, value: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(value)) + value


def context(process: int, folder: bytes = b"") -> bytes:
    return data(1, number(4, process) + (data(8, folder) if folder else b""))


def message(kind: int, payload: bytes, dropped: int = 0) -> bytes:
    return struct.pack("<HHI", 8, kind, dropped) + payload


def started(process: int, *words: bytes, path: bytes = b"/usr/bin/x") -> bytes:
    return message(EXEC, context(process) + data(2, path) + b"".join(data(3, word) for word in words))


def test_the_container_that_starts_is_read_from_the_first_message_alone() -> None:
    assert container_of(message(1, context(1) + data(2, b"ab12") + data(4, b"python3"))) == "ab12"
    for bad in (message(1, context(1)), message(1, data(2, b"../x")), started(2, b"ls"), b"", message(1, b"\xff")):
        with pytest.raises(BadMessage):
            container_of(bad)


@given(st.binary(max_size=60))
@example(b"\x12\x02\xc3\xa4")
def test_no_bytes_name_a_container_that_is_none(payload: bytes) -> None:
    try:
        name = container_of(message(1, payload))
    except BadMessage:
        return
    assert name.isascii()
    assert name.isalnum()


def test_each_kind_is_read() -> None:
    assert decoded(message(CLONE, context(3) + number(3, 4) + number(4, 4), 7)) == (Cloned(3, 4), 7)
    assert decoded(started(4, b"ls", b"-l", path=b"/usr/bin/ls"))[0] == Executed(
        4, b"/usr/bin/ls", (b"ls", b"-l"), (b"ls", b"-l")
    )
    assert decoded(message(EXIT, context(4) + number(2, 256)))[0] == Exited(4, 256)
    opened = context(4, b"/workspace") + data(2, number(2, 13)) + data(6, b"a.txt") + number(7, 65)
    assert decoded(message(OPEN, opened))[0] == Opened(4, b"/workspace", b"a.txt", 65, 13)
    address = struct.pack("<H", 2) + struct.pack(">H", 80) + bytes((10, 1, 2, 3)) + bytes(8)
    assert decoded(message(CONNECT, context(4) + data(6, address)))[0] == Reached(4, "10.1.2.3", 80)
    assert decoded(message(RAW, context(4) + number(4, 90) + number(6, 0o755)))[0] == Called(4, 90, (0, 0o755, 0, 0))
    tried = context(5) + data(2, number(2, 2)) + data(6, b"/bin/git") + data(7, b"git")
    assert decoded(message(TRIED, tried))[0] == Executed(5, b"/bin/git", (b"git",), (b"", b"git"), error=2)
    assert decoded(message(TRIED, context(5) + data(7, b"git")))[0] is None  # it worked: another message says so
    assert decoded(message(999, b"\xff" * 50))[0] is None


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"\0" * 7,
        struct.pack("<HHI", 9000, CLONE, 0),
        struct.pack("<HHI", 3, CLONE, 0),
        message(CLONE, b"\xff" * 11),
        message(CLONE, data(1, b"x")[:-1]),
        message(EXEC, number(3, 5)),
        message(EXIT, data(2, b"x")),
        message(OPEN, b"\x0b"),
        message(CONNECT, b"\x09\0"),
        bytes(LARGEST + 1),
    ],
)
def test_what_makes_no_sense_is_refused(bad: bytes) -> None:
    with pytest.raises(BadMessage):
        decoded(bad)


@given(st.binary(max_size=300), st.sampled_from([CLONE, EXEC, EXIT, RAW, OPEN, CONNECT, TRIED]))
@example(b"\x0a\x02\x20\x01", EXEC)
def test_no_bytes_bring_it_down(payload: bytes, kind: int) -> None:
    trace, book = RunTrace(), BehaviourBook()
    trace.take(Executed(0, b"/usr/bin/python3", (b"python3",), (MARK, b"/workspace/main.py")))
    trace.begin(book, shell=False, networked=False)
    for one in (payload, context(0) + payload):
        try:
            found, _ = decoded(message(kind, one))
        except BadMessage:
            continue
        if found is not None:
            trace.take(found)
    trace.stop()
    for deed in book.behaviour().deeds:
        for text in (deed.what, deed.name, deed.problem):
            assert len(text) <= LONGEST
            assert not any(map(hides, text))
            assert text.isprintable()


def test_a_long_command_line_is_cut_and_its_end_still_known() -> None:
    found = decoded(started(4, *[b"w%d" % n for n in range(1000)], MARK, b"/workspace/main.py"))[0]
    assert isinstance(found, Executed)
    assert len(found.words) == MOST_WORDS
    assert found.more
    assert found.last == (MARK, b"/workspace/main.py")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (b"/usr/bin/git", "git"),
        (b"/workspace/node_modules/.bin/esbuild", "esbuild"),
        (b"git", "./git"),
        (b"/workspace/git", "./git"),
        (b"/usr/../workspace/git", "./git"),
        (b"//usr/bin/git", "./git"),
    ],
)
def test_a_program_of_the_run_s_own_is_marked(path: bytes, name: str) -> None:
    run = Run().take(started(2, b"git", b"status", path=path))
    assert [deed.name for deed in run.book.behaviour().deeds] == [name]


class Run:
    """A run whose interpreter is process 2; 1 is Assent's own."""

    def __init__(self, *, shell: bool = False, networked: bool = False) -> None:
        self.trace, self.book = RunTrace(), BehaviourBook()
        self.take(started(2, b"env", MARK, b"/workspace/main.py"))
        self.trace.begin(self.book, shell=shell, networked=networked)

    def take(self, *given: bytes) -> Run:
        for one in given:
            found, _ = decoded(one)
            assert found is not None
            self.trace.take(found)
        return self

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(one.what, one.came) for one in self.book.behaviour().deeds]


def test_only_what_comes_of_the_code_is_its_own() -> None:
    run = Run().take(
        message(CLONE, context(2) + number(4, 3)),
        message(CLONE, context(1) + number(4, 4)),
        started(4, b"find", b".", path=b"/usr/bin/find"),  # Assent's own, for the files
        started(3, b"sh", b"-c", b"ls; echo 'a'", path=b"/usr/bin/dash"),
        message(EXIT, context(3) + number(2, 256)),
        started(3, b"sh", b"late", path=b"/usr/bin/dash"),  # its number belongs to nobody any more
    )
    assert run.told == [("sh -c 'ls; echo '\\''a'\\'''", "exit 1")]
    assert run.book.behaviour().ended == 1
    run.take(started(2, b"curl", b"x", MARK, b"/workspace/main.py"))  # the words of a starter hide nothing
    assert run.told[1][0].startswith("curl x")


def test_tries_along_the_path_are_one_and_count_only_in_vain() -> None:
    tries = [
        message(TRIED, context(2) + data(2, number(2, 2)) + data(6, path) + data(7, b"git"))
        for path in (b"/usr/local/bin/git", b"/bin/git")
    ]
    run = Run().take(*tries)
    assert run.told == []
    run.take(started(2, b"git", path=b"/usr/bin/git"))
    assert run.told == [("git", "")]
    run.take(*tries)
    run.trace.stop()
    assert run.told == [("git", "2 times, 1 of them: not found")]


def test_code_of_a_shell_begins_where_the_shell_starts_it() -> None:
    run = Run(shell=True).take(
        message(CLONE, context(2) + number(4, 3)),
        started(3, b"head", b"-c", b"5", path=b"/usr/bin/head"),
    )
    assert not run.trace.begun
    run.take(started(2, b"bash", b"--noprofile", b"--norc", b"/workspace/main.py", path=b"/usr/bin/bash"))
    assert run.trace.begun
    run.take(started(3, b"ls", path=b"/usr/bin/ls"))
    assert run.told == [("ls", "")]


def test_files_and_connections_are_named_as_a_person_knows_them() -> None:
    address = struct.pack("<H", 2) + struct.pack(">H", 53) + bytes((127, 0, 0, 1)) + bytes(8)
    for networked in (False, True):
        run = Run(networked=networked).take(
            message(OPEN, context(2, b"/workspace/a") + data(6, b"../b\x1b[2J\xe2\x80\xae") + number(7, 1)),
            message(OPEN, context(2, b"/workspace") + data(6, b"/etc/passwd") + number(7, 0)),
            message(OPEN, context(2) + data(6, b"/dev/null") + number(7, 1)),
            message(OPEN, context(2) + data(6, b"/workspace/main.py") + number(7, 1)),
            message(OPEN, context(2) + data(6, b"/workspace/.packages/x/y.py") + number(7, 65)),
            message(CONNECT, context(2) + data(6, address)),
            message(CONNECT, context(2) + data(6, b"\1\0/var/run/nscd/socket\0\0")),
            message(CONNECT, context(2) + data(6, b"\1\0/run/docker.sock\0")),
            message(CONNECT, context(2) + data(6, b"\x28\0")),
        )
        what = [told for told, _ in run.told]
        assert what[:2] == ["b\\x1b[2J\\u202e", ".packages/"]
        assert ("a host name" in " ".join(what)) is not networked  # there the gate says which
        assert what[-2:] == ["unix:/run/docker.sock", "address of family 40"]


def test_a_flood_of_one_kind_pushes_out_nothing_else() -> None:
    run = Run()
    for n in range(5000):
        run.take(started(2, b"sh", b"-c", b"%d" % n, path=b"/bin/sh"))
        run.take(started(2, b"p%d" % n, path=b"/bin/p%d" % n))
        run.take(message(OPEN, context(2) + data(6, b"/tmp/%d" % n) + number(7, 1)))
    address = struct.pack("<H", 2) + struct.pack(">H", 80) + bytes((10, 1, 2, 3)) + bytes(8)
    run.take(message(CONNECT, context(2) + data(6, address)))
    found = run.book.behaviour()
    assert len(found.deeds) <= MOST_DEEDS
    assert found.of(DeedKind.CONNECTION)[0].what == "10.1.2.3:80"
    assert found.left_out > 4000
    assert not found.complete
    (shell,) = [one for one in found.deeds if one.what.startswith("sh \N{HORIZONTAL ELLIPSIS}")]
    assert shell.times > 4000
