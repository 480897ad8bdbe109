"""What of a project would be sent to another machine."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from runner.audit.files.credential_search import credential_kind
from runner.audit.files.redact import patterns
from runner.audit.files.samples import samples
from runner.model.errors import KnownError
from runner.model.sent_files import LINK, LeftFile, SentFiles, listing
from runner.model.shown import visible
from runner.sandbox.workspace_copy import entry_of
from runner.workspace import returning, sending
from runner.workspace.working_copy import WorkingCopy

if TYPE_CHECKING:
    from pathlib import Path

    from runner.sandbox.workspace_copy import CopiedEntry

AS = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in AS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def did(project: Path, program: str) -> None:
    subprocess.run(["sh", "-euc", program], cwd=project, check=True, capture_output=True)


def copied(project: Path) -> WorkingCopy:
    return WorkingCopy.make(project.parent / "copies", project, ("x",), way="copy")


def paths(copy: WorkingCopy) -> list[str]:
    return [one.name for one in sending.planned(copy).files]


def test_it_is_what_git_would_take(project: Path) -> None:
    did(
        project,
        "git init -q; mkdir -p out src; printf 'out/\\n*.log\\n' >.gitignore; echo 1 >out/kept; echo l >own.log;"
        "echo s >src/a; ln -s src/a link; git add -f .gitignore out/kept src; git commit -qm x;"
        "echo 2 >out/new; echo n >new; rm src/a; mkdir -p .git/info; echo mine >.git/info/exclude; echo m >mine",
    )
    assert paths(copied(project)) == [".gitignore", "link", "new", "out/kept"]


def test_without_git_it_is_what_no_gitignore_names(project: Path) -> None:
    did(project, "mkdir -p d; echo d >d/1; echo x >x.log; echo '*.log' >.gitignore")
    assert paths(copied(project)) == [".gitignore", "d/1"]


def test_what_this_account_ignores_everywhere_is_not_sent(project: Path) -> None:
    (project.parent / ".config" / "git").mkdir(parents=True)
    (project.parent / ".config" / "git" / "ignore").write_text("*.notes\n")
    did(project, "git init -q; echo n >a.notes; echo a >a")
    assert paths(copied(project)) == ["a"]


@pytest.mark.parametrize(
    "name",
    [".env", "deep/.env.local", "id_rsa", ".ssh/id_ed25519", ".aws/credentials", ".npmrc", "tls/server.key", "a.pem",
     ".netrc", ".pgpass", ".kube/config", "secrets.yaml", "service-account-1.json", "vault.kdbx",
     ".envrc", "prod.env", ".env~", "infra/terraform.tfstate", "a.tfvars", "kubeconfig", "config/master.key",
     ".dev.vars", "cookies.txt", "token.txt", "gha-creds-0a1b2c.json", "id_deploy", "A/.ENV"],
)  # fmt: skip
def test_what_is_secret_by_its_name_is_left_out_and_named(project: Path, name: str) -> None:
    did(project, f"git init -q; mkdir -p {os.path.dirname(name) or '.'}; echo s >{name}; echo a >a; git add -A; ")
    copy = copied(project)
    found = sending.planned(copy)
    assert [one.name for one in found.files] == ["a"]
    assert [(one.file.name, one.file.size, one.why) for one in found.held] == [(name, 2, sending.BY_NAME)]
    assert found.words.endswith("; 1 that may hold a secret stays here") and f"2 B  {name} (by its name)" in found.text
    ticked = sending.planned(copy, [name])
    assert ticked == found.including([name]) and len(ticked.files) == 2 and not ticked.behind
    assert ticked.words.endswith("B, of them 1 that may hold a secret")
    assert ticked.including([]) == found, "a tick is taken back"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"key = AKIA" + b"IOSFODNN7EXAMPLE\n", "AWS Access Key"),
        (b"-----BEGIN OPENSSH " + b"PRIVATE KEY-----\nb3Blbn\n", "Private Key"),
        (b"x" * 3_000_000 + b"\nghp_" + b"0aB" * 12 + b"\n", "GitHub Token"),
        (("x: ghp_" + "0aB" * 12).encode("utf-16"), "GitHub Token"),
    ],
)
def test_what_is_secret_by_its_contents_is_left_out_and_named(project: Path, text: bytes, kind: str) -> None:
    (project / "notes").write_bytes(text)
    (project / "code.py").write_text("token = self.tokens.next\npassword = ask()\n")
    found = sending.planned(copied(project))
    assert [one.name for one in found.files] == ["code.py"]
    assert [(one.file.name, one.why) for one in found.held] == [("notes", sending.BY_CONTENTS.format(kind))]


def test_every_kind_of_credential_that_is_taken_out_of_records_is_found_in_files() -> None:
    """An expression that RE2 does not take would leave a kind unseen, without a word."""
    found = {kind: credential_kind(sample.text.encode()) for kind, sample in samples().items()}
    kinds = {kind for kind, _ in patterns()}
    assert {kind for kind in found if kind in kinds and not found[kind]} == set()
    assert len(kinds & found.keys()) > 30


def test_an_example_of_a_secret_is_none(project: Path) -> None:
    did(project, "echo s >.env.example; echo p >id_rsa.pub; echo k >keyboard.py; echo t >tokens.py; echo e >env.py")
    assert ".env.example" in paths(copied(project)) and "keyboard.py" in paths(copied(project))


@pytest.mark.parametrize("name", ["../out", "out", "/etc/hostname", ".git/config", ""])
def test_nothing_else_can_be_ticked(project: Path, name: str) -> None:
    did(project, "git init -q; echo a >a; echo out >.gitignore; echo o >out; echo o >../out")
    with pytest.raises(KnownError, match="none of the files that stay behind"):
        sending.planned(copied(project), [name])


def test_repositories_within_and_pipes_are_left_out_and_named(project: Path) -> None:
    did(project, "git init -q; git init -q sub; echo s >sub/s; echo a >a; cd sub; git add s; git commit -qm x")
    os.mkfifo(project / "pipe")
    found = sending.planned(copied(project))
    assert [one.name for one in found.files] == ["a"]
    left = {one.name: one.why for one in found.left_out}
    assert left.pop("pipe", "neither a file nor a link") == "neither a file nor a link"  # git may not name it at all
    assert left == {"sub": "a repository of its own"}


def test_no_program_of_the_repository_is_run_to_find_out(project: Path) -> None:
    ran = project.parent / "ran"
    (project.parent / "hook").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (project.parent / "hook").chmod(0o755)
    hook = project.parent / "hook"
    did(
        project,
        f"git init -q; echo a >a; git add a; git config core.fsmonitor {hook}; git config core.hooksPath {hook.parent};"
        f"git config alias.ls-files '!{hook}'; git config core.excludesFile {hook}",
    )
    ran.unlink(missing_ok=True)
    assert paths(copied(project)) == ["a"]
    assert not ran.exists()


def test_a_link_is_sent_as_a_link_and_nothing_behind_one(project: Path) -> None:
    (project.parent / "outside").mkdir()
    (project.parent / "outside" / "s").write_text("secret")
    did(
        project,
        "git init -q; mkdir d; echo s >d/s; git add -A; git commit -qm x; rm -r d; ln -s ../outside d; ln -s .env e",
    )
    copy = copied(project)
    found = sending.planned(copy)
    assert [(one.name, one.mode) for one in found.files] == [("d", LINK), ("e", LINK)]
    with contextlib.closing(sending.packed(copy, found, copy.folder)) as files:
        assert {path: one.target for path, one in files.entries.items()} == {b"d": b"../outside", b"e": b".env"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("echo longer >a", "a is not as it was"),
        ("echo A >a", "a is not as it was"),
        ("chmod +x a", "a is not as it was"),
        ("rm a; ln -s /etc/passwd a", "a is not as it was"),
        ("rm a; mkfifo a", "a is no file that can be sent any more"),
        ("rm a; mkdir a; echo x >a/x", "a/x came since"),
        ("mv a b", "b came since"),
        ("echo a >--upload-pack=x", "--upload-pack=x came since"),
        ("ln -s ../../etc/passwd 'p w'", "p w came since"),
        ("mv d g; ln -s g d", "d came since"),
    ],
)
def test_what_is_not_as_it_was_approved_is_refused(project: Path, change: str, why: str) -> None:
    did(project, "echo a >a; mkdir d; echo d >d/1")
    copy = copied(project)
    approved = sending.planned(copy)
    subprocess.run(["sh", "-euc", change], cwd=copy.shown, check=True)
    with pytest.raises(KnownError, match=why) as error:
        sending.packed(copy, approved, copy.folder)
    assert error.value.remedy == sending.AGAIN


def test_what_changes_while_it_is_packed_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its permissions as well: a file that may be started elsewhere is another one."""
    did(project, "echo a >a")
    copy = copied(project)
    approved = sending.planned(copy)
    read = entry_of

    def meanwhile(*given: Any, **more: Any) -> CopiedEntry:
        found = read(*given, **more)
        (copy.shown / "a").chmod(0o755)
        return found

    monkeypatch.setattr(sending, "entry_of", meanwhile)
    with contextlib.closing(sending.packed(copy, approved, copy.folder)) as files:
        assert files.entries[b"a"].mode & 0o111 == 0, "as it was approved"
    with pytest.raises(KnownError, match="a is not as it was"):
        sending.packed(copy, approved, copy.folder)


def test_a_file_that_grows_while_it_is_listed_is_left_out_and_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    did(project, "echo a >a; echo l >log")
    copy = copied(project)
    log, really = copy.shown / "log", os.fstat

    def growing(descriptor: int) -> os.stat_result:
        found = really(descriptor)
        if found.st_ino == log.stat().st_ino:
            os.truncate(log, found.st_size + 1)
        return found

    monkeypatch.setattr(os, "fstat", growing)
    found = sending.planned(copy)
    assert [one.name for one in found.files] == ["a"]
    assert found.left_out == (LeftFile("log", "it changes while it is read"),)


def test_names_that_hide_something_are_written_out_and_told_apart(project: Path) -> None:
    names = [b"a\nb", b"\xff", b"\xe2\x80\xaegnp.exe", b'"', b" a", b"-rf", b"a\x1b[2J", b"\\xff", b'"\\udcff"']
    names += ["a\u3164".encode(), "\u2800".encode(), "a\ufe0f".encode()]
    for name in names:
        (project / os.fsdecode(name)).write_bytes(b"x")
    found = sending.planned(copied(project))
    assert len({one.name for one in found.files}) == len(names)
    assert all(line.isprintable() and line == visible(line) for line in found.text.split("\n")) and len(
        found.files
    ) == len(names)
    assert SentFiles(listing(found.files)).files == found.files


def test_ten_thousand_files_are_listed_and_one_more_is_refused(project: Path) -> None:
    did(project, "seq 9999 | xargs touch")
    copy = copied(project)
    found = sending.planned(copy)
    assert len(found.files) == 9999 and found.text.count("\n") == 9999
    with contextlib.closing(sending.packed(copy, found, copy.folder)) as files:
        assert len(files.entries) == 9999


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("truncate -s 65M big", "its files are larger than 64 MB"),
        ("mkdir m; cd m; seq 10001 | xargs touch", "more than 10,000 files and folders"),
        ("mkdir -p $(printf 'd/%.0s' $(seq 45)); touch $(printf 'd/%.0s' $(seq 45))x", "more than 40 folders deep"),
    ],
)
def test_what_is_too_much_is_refused_before_anything_is_sent(project: Path, program: str, why: str) -> None:
    did(project, program)
    with pytest.raises(KnownError, match=why):
        sending.planned(copied(project))


def test_an_index_of_rubbish_is_no_index(project: Path) -> None:
    did(project, "git init -q; echo a >a; head -c 4000 /dev/urandom >.git/index")
    assert paths(copied(project)) == ["a"]


def test_what_came_back_whole_is_written_by_whoever_looks_next(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    did(project, "echo a >a; echo b >b")
    copy = copied(project)
    with contextlib.closing(sending.packed(copy, sending.planned(copy), copy.folder)) as before:
        subprocess.run(["sh", "-ec", "echo n >n; rm b; echo q >>a"], cwd=copy.shown, check=True)
        with contextlib.closing(sending.packed(copy, sending.planned(copy), copy.folder)) as after:
            subprocess.run(["sh", "-ec", "rm n; echo b >b; echo a >a"], cwd=copy.shown, check=True)
            really = returning._replaced

            def lost(*_: object) -> str:
                raise OSError(5, "I/O error")

            monkeypatch.setattr(returning, "_replaced", lost)
            with pytest.raises(OSError, match="I/O error"):
                copy.take_in(before.entries, after)
            monkeypatch.setattr(returning, "_replaced", really)
    found = {one.path: one.how.value for one in copy.changes().changes}
    assert found == {b"a": "changed", b"b": "deleted", b"n": "added"}
    assert (copy.shown / "a").read_text() == "a\nq\n"
