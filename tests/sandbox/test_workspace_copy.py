"""Copies of a workspace: what is taken, what is refused, what differs, and what comes back."""

from __future__ import annotations

import io
import os
import random
import socket
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.file_changes import MOST_NAMED, ChangedFile, ChangeKind, FileKind
from runner.sandbox import workspace_copy
from runner.sandbox.container import archive
from runner.sandbox.local import copying
from runner.sandbox.workspace_copy import NotCopied, difference, previewed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.sandbox.workspace_copy import WorkspaceCopy

STRANGE = b"line\nbreak \xff\xfe"


COPIES: list[WorkspaceCopy] = []


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Path]:
    found = tmp_path / "run" / "workspace"
    found.mkdir(parents=True)
    yield found
    while COPIES:
        COPIES.pop().close()


def taken(workspace: Path, left: tuple[str, ...] = ()) -> WorkspaceCopy:
    COPIES.append(copying.copy(str(workspace), workspace.parent, left))
    return COPIES[-1]


def furnish(root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    (root / "data" / "deep").mkdir(parents=True)
    (root / "data" / "deep" / "b.bin").write_bytes(bytes(range(256)) * 100)
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o4755)
    (root / "empty").mkdir(mode=0o750)
    (root / "closed").mkdir()
    (root / "closed" / "c").write_text("c")
    (root / "closed").chmod(0o555)
    (root / "out").symlink_to("/etc/passwd")
    (root / "loop").symlink_to(".")
    (root / os.fsdecode(STRANGE)).write_text("strange")
    os.utime(root / "a.txt", ns=(1, 1_600_000_000_123_456_789))


def archived(copy: WorkspaceCopy) -> WorkspaceCopy:
    """The same by way of an archive, as it comes from a container."""
    file = io.BytesIO()
    archive.write(file, copy, copy.entries)
    return archive.read(file, ())


@pytest.mark.parametrize("by_archive", [False, True])
def test_what_was_there_comes_back_and_what_came_since_goes(workspace: Path, by_archive: bool) -> None:
    furnish(workspace)
    before = taken(workspace)
    if by_archive:
        before = archived(before)
    (workspace / "a.txt").write_text("two\n")
    (workspace / "closed").chmod(0o755)
    (workspace / "closed" / "c").unlink()
    (workspace / "new").mkdir()
    (workspace / "new" / "n").write_text("n")
    (workspace / "out").unlink()
    (workspace / "out").write_text("a file now")
    (workspace / "empty").rmdir()
    assert taken(workspace).state != before.state
    copying.put_back(workspace, before, (), None)
    assert taken(workspace).state == before.state
    assert (workspace / "a.txt").read_text() == "one\n"
    assert (workspace / "out").is_symlink() and os.readlink(workspace / "out") == "/etc/passwd"
    assert (workspace / "closed" / "c").read_text() == "c"
    assert (workspace / "tool").stat().st_mode & 0o7777 == 0o755, "what changes who runs it does not come back"
    assert int((workspace / "a.txt").stat().st_mtime) == 1_600_000_000
    assert sorted(one.name for one in workspace.parent.iterdir()) == ["workspace"], "nothing is left beside it"


def test_the_difference_names_what_was_added_changed_and_removed(workspace: Path) -> None:
    furnish(workspace)
    before = taken(workspace)
    (workspace / "a.txt").write_text("longer than one\n")
    (workspace / "tool").chmod(0o644)
    (workspace / os.fsdecode(STRANGE)).unlink()
    (workspace / "new" / "sub").mkdir(parents=True)
    (workspace / "new" / "n").write_text("n")
    os.utime(workspace / "data" / "deep" / "b.bin", (5, 5))
    found = difference(before.entries, taken(workspace).entries).changes
    assert found.changes == (
        ChangedFile("a.txt", ChangeKind.CHANGED, FileKind.FILE, 4, 16),
        ChangedFile(r"line\nbreak \xff\xfe", ChangeKind.REMOVED, FileKind.FILE, 7),
        ChangedFile("new/n", ChangeKind.ADDED, FileKind.FILE, None, 1),
        ChangedFile("new/sub", ChangeKind.ADDED, FileKind.FOLDER),
        ChangedFile("tool", ChangeKind.CHANGED, FileKind.FILE, 10, 10, content=False),
    )
    assert (found.added, found.changed, found.removed, found.left_out) == (2, 2, 1, 0)


def test_a_difference_names_so_many_and_counts_the_rest(workspace: Path) -> None:
    before = taken(workspace)
    for number in range(MOST_NAMED + 7):
        (workspace / f"{number:04}").touch()
    found = difference(before.entries, taken(workspace).entries)
    assert (len(found.changes.changes), found.changes.left_out, len(found.paths)) == (MOST_NAMED, 7, MOST_NAMED)


def test_a_preview_is_of_one_name_and_bounded(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace / "x\xff".replace("\xff", "\udcff")).write_text("bytes")
    (workspace / r"x\xff").write_text("letters, which look alike")
    before = taken(workspace)
    monkeypatch.setattr(workspace_copy, "MOST_PREVIEWED", 5)
    after = taken(workspace)
    assert previewed(before, after, b"x\xff").before == b"bytes"
    assert previewed(before, after, rb"x\xff").after == b"lette"
    assert previewed(before, after, rb"x\xff").cut
    assert previewed(before, after, b"gone").before is None
    before.close()
    with pytest.raises(KnownError, match="gone"):
        previewed(before, after, b"x\xff")


def test_pipes_and_sockets_are_counted_and_do_not_come_back(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace)  # the name of a socket is short
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
    (workspace / "a").touch()
    found = taken(workspace)
    assert (list(found.entries), found.special) == ([b"a"], 2)


def test_folders_of_packages_are_neither_copied_nor_touched(workspace: Path) -> None:
    (workspace / ".packages").mkdir()
    (workspace / ".packages" / "p").write_text("before")
    (workspace / "a").write_text("before")
    found = taken(workspace, (".packages",))
    assert list(found.entries) == [b"a"]
    for name in ("a", ".packages/p"):
        (workspace / name).write_text("after")
    copying.put_back(workspace, found, (".packages",), None)
    assert (workspace / "a").read_text() == "before"
    assert (workspace / ".packages" / "p").read_text() == "after"


def many(root: Path) -> None:
    for number in range(4):
        (root / f"{number}").touch()


def deep(root: Path) -> None:
    root.joinpath(*["d"] * (workspace_copy.DEEPEST + 2)).mkdir(parents=True)


def large(root: Path) -> None:
    for name in ("a", "b"):
        (root / name).write_bytes(b"x" * 600)


def sparse(root: Path) -> None:
    with (root / "a").open("wb") as file:
        file.truncate(1 << 42)


@pytest.mark.parametrize(
    ("fill", "why"),
    [(many, "more than 3 files"), (deep, "deep"), (large, "larger than"), (sparse, "larger than")],
)
def test_what_does_not_fit_says_why(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, fill: Callable[[Path], None], why: str
) -> None:
    for module in (workspace_copy, copying):
        monkeypatch.setattr(module, "MOST_ENTRIES", 3 if fill is many else 1000)
    monkeypatch.setattr(workspace_copy, "MOST_BYTES", 1000)
    fill(workspace)
    with pytest.raises(NotCopied, match=why):
        taken(workspace)


def test_a_disk_with_little_room_is_left_alone(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_copy, "LEAST_FREE", 1 << 60)
    with pytest.raises(NotCopied, match="disk space"):
        taken(workspace)


def test_what_cannot_be_put_back_whole_changes_nothing(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(workspace)
    before = taken(workspace)
    (workspace / "a.txt").write_text("two\n")
    now = taken(workspace).state
    renamed = Path.rename

    def fails(path: Path, target: Path) -> Path:
        if path.name.startswith("new-"):
            raise OSError(28, "No space left on device")
        return renamed(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(KnownError, match=r"no space left on device.*Nothing was changed"):
        copying.put_back(workspace, before, (), None)
    monkeypatch.undo()
    assert taken(workspace).state == now
    before.close()
    with pytest.raises(KnownError, match="its copy is gone"):
        copying.put_back(workspace, before, (), None)
    assert taken(workspace).state == now
    assert sorted(one.name for one in workspace.parent.iterdir()) == ["workspace"]


# ---- archives ----


def packed(*members: tarfile.TarInfo, content: bytes = b"") -> io.BytesIO:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as found:
        for member in members:
            found.addfile(member, io.BytesIO(content[: member.size]))
    return file


def member(name: str, **fields: object) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(found, field, value)
    return found


@pytest.mark.parametrize(
    "members",
    [
        (member("../a"),),
        (member("/etc/passwd"),),
        (member("a/../../b"),),
        (member("a//b"),),
        (member("a"), member("a")),
        (member("a"), member("a/b")),
        (member("a", type=tarfile.SYMTYPE, linkname="/etc"), member("a/passwd")),
        (member("nowhere/b"),),
        (member("a", type=tarfile.LNKTYPE, linkname="/etc/passwd"),),
        (member("a", type=b"S"),),
        (member("a", type=tarfile.SYMTYPE, linkname="x" * 5000),),
        (member("x" * 5000),),
    ],
    ids=lambda members: members[-1].name[:20],
)
def test_an_archive_that_leads_out_or_lies_is_refused(members: tuple[tarfile.TarInfo, ...]) -> None:
    with pytest.raises(NotCopied):
        archive.read(packed(*members), ())


def test_an_archive_that_was_cut_or_altered_is_refused_and_nothing_else_happens() -> None:
    whole = packed(member("a", size=700), member("d", type=tarfile.DIRTYPE), content=b"x" * 700).getvalue()
    assert set(archive.read(io.BytesIO(whole), ()).entries) == {b"a", b"d"}
    dice = random.Random(7)
    refused = 0
    for _ in range(300):
        data = bytearray(whole[: dice.randrange(len(whole))] if dice.random() < 0.3 else whole)
        for _ in range(dice.randrange(4)):
            if data:
                data[dice.randrange(min(len(data), 2600))] = dice.randrange(256)
        try:
            archive.read(io.BytesIO(bytes(data)), ())
        except NotCopied:
            refused += 1
    assert refused > 100


def test_an_archive_says_nothing_of_the_size_that_it_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    huge = member("a", size=1 << 40)
    with pytest.raises(NotCopied, match=r"larger|archive"):
        archive.read(io.BytesIO(huge.tobuf(tarfile.GNU_FORMAT)), ())
