"""A sandbox that an agent keeps: files stay, processes do not, and no path leads out of it (spec X5, F1)."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.errors import KnownError
from runner.model.request import KnownFile, Language, Limits
from runner.model.result import Outcome
from runner.sandbox.contract import Bounds, Collect, EntryKind, FolderEntry, Lasting
from tests.contract.conftest import alike, job

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from runner.model.result import Result
    from runner.sandbox.contract import Session
    from tests.contract.conftest import Lab

LIMITS = Limits(memory_mb=256, disk_mb=8, seconds=20.0, cpu_cores=2.0)
TRAPS = """
import os, socket
os.symlink('/etc/passwd', 'link')
os.symlink('/etc', 'folder')
os.symlink('.', 'loop')
os.symlink('gone', 'dangling')
os.mkfifo('pipe')
socket.socket(socket.AF_UNIX).bind('socket')
os.mkdir('closed')
open('secret', 'w').write('x')
"""


async def ran(session: Session, code: str, language: Language = Language.PYTHON, **changes: Any) -> Result:
    return await (await session.start(job(code, language, **changes), lambda _usage: None)).finished()


def within(lab: Lab, body: Callable[[Session], Awaitable[None]], language: Language = Language.PYTHON) -> None:
    """Do `body` in a sandbox of its own."""

    async def whole() -> None:
        assert isinstance(lab.sandbox, Lasting)
        session = await lab.sandbox.open(language, LIMITS, "")
        try:
            await body(session)
        finally:
            await session.close()

    asyncio.run(whole())


SHADOW = "print('shadow')"


@alike
def test_what_earlier_runs_left_is_imported_by_nobody_where_it_may_not_be(lab: Lab) -> None:
    async def body(session: Session) -> None:
        known = KnownFile("helper.py", "def answer(): return 42")
        for path in ("helper.py", "helper/__init__.py", "json.py", "other.py"):
            await session.write(path, SHADOW.encode(), executable=False)
        code = "import helper, json\nprint(helper.answer())\ntry:\n    import other\nexcept ImportError: print('none')"
        found = await ran(session, code, own_modules=False, known=(known,))
        assert (found.stdout, found.stderr) == ("42\nnone\n", ""), found
        found = await ran(session, "python3 -c 'import json; print(1)'", Language.SHELL, own_modules=False)
        assert (found.stdout, found.stderr) == ("1\n", ""), found
        found = await ran(session, "import json, other", own_modules=True)
        assert (found.stdout, found.stderr) == ("shadow\n", ""), found

    within(lab, body)


@alike
def test_javascript_gets_known_texts_and_no_file_that_nobody_has_read(lab: Lab) -> None:
    async def body(session: Session) -> None:
        known = (KnownFile("helper.js", "exports.answer = 42"), KnownFile("other.mjs", "export const answer = 43"))
        for path in ("helper", "helper.js", "other.mjs", "unread.js"):
            await session.write(path, b"console.log('unread')", executable=False)
        code = """
        const say = (error) => console.log(error.message.split(' ').slice(1, 4).join(' '));
        console.log(require('./helper').answer);
        try { require('./unread') } catch (error) { say(error) }
        import('./other.mjs').then((one) => console.log(one.answer)).then(() => import('./unread.js')).catch(say);
        """
        found = await ran(session, code, Language.JAVASCRIPT, known=known, own_modules=False)
        assert (found.stdout, found.stderr) == ("42\nwas not read\n43\nwas not read\n", ""), found

    within(lab, body, Language.JAVASCRIPT)


@alike
def test_files_stay_and_both_languages_see_them(lab: Lab) -> None:
    async def body(session: Session) -> None:
        await session.write("data/a.txt", "grüße\n".encode(), executable=False)
        await session.write("tool", b"#!/bin/sh\necho started\n", executable=True)
        first = await ran(session, "print(open('data/a.txt').read()); open('out', 'wb').write(bytes(range(256)))")
        assert (first.stdout, first.outcome) == ("grüße\n\n", Outcome.OK), first
        second = await ran(session, "cat data/a.txt; ./tool; stat -c %s out; ls -A", Language.SHELL)
        assert second.stdout == "grüße\nstarted\n256\ndata\nout\ntool\n" or ".run" in second.stdout, second
        piece = await session.read("out", 250, 100)
        assert (piece.data, piece.size) == (bytes(range(250, 256)), 256)
        found = await session.files(".")
        assert [(one.name, one.kind) for one in found.entries] == [
            ("data", EntryKind.FOLDER),
            ("out", EntryKind.FILE),
            ("tool", EntryKind.FILE),
        ]
        assert (await session.files("data")).entries == (FolderEntry("a.txt", EntryKind.FILE, len("grüße\n".encode())),)

    within(lab, body)


@alike
def test_a_written_file_replaces_the_one_before_as_a_whole(lab: Lab) -> None:
    async def body(session: Session) -> None:
        for data in (b"x" * 1000, b"short", b""):
            await session.write("a", data, executable=False)
            assert (await session.read("a", 0, 2000)).data == data
        assert len((await session.files(".")).entries) == 1

    within(lab, body)


def test_no_process_outlives_its_run(lab: Lab) -> None:
    async def body(session: Session) -> None:
        beating = "(trap '' TERM HUP; while :; do date +%s%N > beat; sleep 0.02; done) &"
        started = f"{beating} until [ -s beat ]; do :; done; echo up"
        assert (await ran(session, started, Language.SHELL)).stdout
        before = (await session.read("beat", 0, 100)).data
        told = await ran(session, "sleep 0.3; grep -l 'while :' /proc/[0-9]*/cmdline | wc -l", Language.SHELL)
        assert (await session.read("beat", 0, 100)).data == before, told

    within(lab, body)


@alike
def test_nothing_but_an_ordinary_file_is_read(lab: Lab) -> None:
    async def body(session: Session) -> None:
        assert (await ran(session, TRAPS)).outcome is Outcome.OK
        for path in ("link", "folder/passwd", "loop/link", "dangling", "pipe", "socket", "closed", "nix"):
            with pytest.raises(KnownError) as refused:
                await session.read(path, 0, 1000)
            assert path in refused.value.what
            assert session.alive

    within(lab, body)


@alike
def test_nothing_is_written_through_a_link(lab: Lab) -> None:
    async def body(session: Session) -> None:
        await ran(session, TRAPS + "os.mkdir('real'); os.symlink('real', 'alias'); os.symlink('secret', 'to')")
        for path in ("folder/new", "alias/new", "pipe", "link", "to"):
            with pytest.raises(KnownError):
                await session.write(path, b"x", executable=False)
        left = await ran(session, "import os; print(os.listdir('real'), os.readlink('link'), os.readlink('to'))")
        assert left.stdout == "[] /etc/passwd secret\n", left

    within(lab, body)


@alike
def test_odd_names_are_kept_apart(lab: Lab) -> None:
    names = ["-rf", "a b$(id)", "'q\"", "*", "\N{LATIN SMALL LETTER A WITH DIAERESIS}\\n", "-"]

    async def body(session: Session) -> None:
        for name in names:
            await session.write(name, name.encode(), executable=False)
        for name in names:
            assert (await session.read(name, 0, 100)).data == name.encode()
        assert sorted(one.name for one in (await session.files(".")).entries) == sorted(names)
        await ran(session, "import os\nfor n in (b'\\xff', b'new\\nline'): open(n, 'w').write('x')")
        listed = [one.name for one in (await session.files(".")).entries]
        assert "\\xff" in listed
        assert "new\nline" in listed

    within(lab, body)


def test_there_is_room_for_so_much_and_no_more(lab: Lab) -> None:
    async def body(session: Session) -> None:
        await session.write("big", b"x" * (7 << 20), executable=False)
        with pytest.raises(KnownError) as refused:
            await session.write("more", b"x" * (3 << 20), executable=False)
        assert "room" in refused.value.what
        assert [one.name for one in (await session.files(".")).entries] == ["big"]
        ended = await ran(session, "open('more', 'wb').write(b'x' * (9 << 20))")
        assert ended.outcome is Outcome.OUT_OF_DISK, ended

    within(lab, body)


@alike
def test_many_files_are_listed_in_part(lab: Lab) -> None:
    async def body(session: Session) -> None:
        await ran(session, "for i in range(1500): open(f'{i:04}', 'w')")
        found = await session.files(".")
        assert (len(found.entries), found.left_out) == (1000, 500)
        assert found.entries[0].name == "0000"

    within(lab, body)


@alike
def test_a_folder_and_a_file_without_read_permission_are_said(lab: Lab) -> None:
    async def body(session: Session) -> None:
        await ran(session, "import os\nopen('shut', 'w').close()\nos.chmod('shut', 0)\nos.mkdir('dark', 0o300)")
        for use in (session.files("dark"), session.read("shut", 0, 10)):
            if lab.kind == "local" and os.geteuid() == 0:  # the console reads it all the same
                await use
                continue
            with pytest.raises(KnownError) as refused:
                await use
            assert "its permissions forbid it" in refused.value.what
        assert session.alive

    within(lab, body)


def test_a_run_that_is_ended_leaves_a_sandbox_that_works(lab: Lab) -> None:
    async def body(session: Session) -> None:
        run = await session.start(job("while True: pass", seconds=0.5), lambda _usage: None)
        assert (await run.finished()).outcome is Outcome.TIMED_OUT
        run = await session.start(job("print(1, flush=True)\nwhile True: pass"), lambda _usage: None)
        while not run.transcript.total:
            await asyncio.sleep(0.005)
        run.stop("enough")
        stopped = await run.finished()
        assert (stopped.outcome, stopped.stdout) == (Outcome.KILLED, "1\n")
        ended = await ran(session, "x = 'x' * (600 << 20)")
        assert ended.outcome in (Outcome.OUT_OF_MEMORY, Outcome.FAILED), ended
        if session.alive:
            assert (await ran(session, "print(2)")).stdout == "2\n"

    within(lab, body)


def test_what_is_closed_is_gone(lab: Lab) -> None:
    async def body(session: Session) -> None:
        await session.close()
        assert not session.alive
        with pytest.raises(KnownError):
            await session.read("a", 0, 1)
        with pytest.raises(KnownError):
            await session.start(job("print(1)"), lambda _usage: None)

    within(lab, body)


def test_two_sandboxes_share_nothing(lab: Lab) -> None:
    async def body(one: Session) -> None:
        async def other_body() -> None:
            assert isinstance(lab.sandbox, Lasting)
            other = await lab.sandbox.open(Language.PYTHON, LIMITS, "")
            try:
                await one.write("mine", b"x", executable=False)
                assert (await other.files(".")).entries == ()
                told = await ran(other, "import os; print(os.path.exists('/tmp/left'))")
                assert told.stdout == "False\n", told
            finally:
                await other.close()

        await ran(one, "open('/tmp/left', 'w').write('x')")
        await other_body()

    within(lab, body)


HOSTILE = r"""
import os
os.symlink('/etc/passwd', 'link'); os.mkfifo('pipe'); os.mkdir('d'); open('d/in', 'w').write('in')
open('sparse', 'wb').truncate(1 << 21)
open(b'\xff\n', 'w').write('odd'); open('-n', 'w').write('dash')
open('old', 'a').write('+new')
os.mkdir('.packages'); open('.packages/m.py', 'w').write('x')
"""


@alike
def test_what_a_run_created_or_changed_is_handed_out_and_nothing_else(lab: Lab, tmp_path: Path) -> None:
    collect = Collect(tmp_path, Bounds(10, 1 << 20, 5000))

    async def body(session: Session) -> None:
        await session.write("written", b"by the agent", executable=False)
        # Long enough before the next run: what is as old as its beginning counts as changed.
        await ran(session, "import time; time.sleep(0.1)")
        made = "import time\nopen('old', 'w').write('old'); open('other', 'w').write('x'); time.sleep(0.1)"
        first = await ran(session, made, collect=collect)
        assert [file.path for file in first.files] == ["old", "other"], first
        hostile = await ran(session, HOSTILE, collect=collect)
        texts = {file.path: (tmp_path / file.sha256).read_bytes() for file in hostile.files}
        assert texts == {"d/in": b"in", "\\xff\\n": b"odd", "-n": b"dash", "old": b"old+new"}, hostile
        for words in (
            "links: link",
            "not ordinary files: pipe",
            "larger than 1 MB: sparse (2 MB)",
            "folders of packages",
        ):
            assert words in hostile.files_left_out
        many = "for n in range(30): open(f'f{n}', 'w').close()\nimport subprocess\n"
        many += "subprocess.Popen('while :; do echo >> f0; done', shell=True)\n1/0"
        ended = await ran(session, many, collect=collect)
        assert (ended.exit_code, len(ended.files)) == (1, 10), ended
        assert "more than 10 files" in ended.files_left_out
        await ran(session, "import time; time.sleep(0.1)")  # as above: `f0` was written to the last moment
        nothing = await ran(session, "true", Language.SHELL, collect=collect)
        assert (nothing.files, nothing.stderr) == ((), ""), nothing
        stopped = await session.start(job("printf 1 >mine; echo; sleep 60", Language.SHELL, collect=collect), _unread)
        while not stopped.transcript.total:
            await asyncio.sleep(0.005)
        stopped.stop("enough")
        assert [file.path for file in (await stopped.finished()).files] == ["mine"]
        kept = [one.name for one in (await session.files(".")).entries]
        assert not [name for name in kept if name.startswith(".") and name != ".packages"]

    within(lab, body)


def _unread(_usage: object) -> None:
    """Take a reading and do nothing with it."""
