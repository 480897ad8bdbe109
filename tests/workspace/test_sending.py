"""What of a project would be sent to another machine."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.workspace import sending
from runner.workspace.working_copy import WorkingCopy

if TYPE_CHECKING:
    from pathlib import Path

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
    return [os.fsdecode(path) for path in sending.planned(copy).paths]


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
     ".envrc", "prod.env", ".env~", "infra/terraform.tfstate", "a.tfvars", "kubeconfig", "config/master.key"],
)  # fmt: skip
def test_what_is_secret_by_its_name_is_left_out_and_named(project: Path, name: str) -> None:
    did(project, f"git init -q; mkdir -p {os.path.dirname(name) or '.'}; echo s >{name}; echo a >a; git add -A; ")
    copy = copied(project)
    found = sending.planned(copy)
    assert (found.paths, found.secrets) == ((b"a",), (name.encode(),))
    assert name in found.words
    ticked = sending.planned(copy, [name.encode()])
    assert (len(ticked.paths), ticked.secrets) == (2, ())


def test_an_example_of_a_secret_is_none(project: Path) -> None:
    did(project, "echo s >.env.example; echo p >id_rsa.pub; echo k >keyboard.py; echo t >tokens.py; echo e >env.py")
    assert ".env.example" in paths(copied(project)) and "keyboard.py" in paths(copied(project))


@pytest.mark.parametrize("name", ["../out", "out", "/etc/hostname", ".git/config", ""])
def test_nothing_else_can_be_ticked(project: Path, name: str) -> None:
    did(project, "git init -q; echo a >a; echo out >.gitignore; echo o >out; echo o >../out")
    with pytest.raises(KnownError, match="none of the files that git would take"):
        sending.planned(copied(project), [name.encode()])


def test_repositories_within_and_pipes_are_left_out_and_named(project: Path) -> None:
    did(project, "git init -q; git init -q sub; echo s >sub/s; echo a >a; cd sub; git add s; git commit -qm x")
    os.mkfifo(project / "pipe")
    found = sending.planned(copied(project))
    assert found.paths == (b"a",)
    left = {os.fsdecode(path): why for path, why in found.left_out}
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
    assert found.paths == (b"d", b"e")
    with contextlib.closing(sending.packed(copy, found, copy.folder)) as files:
        assert {path: one.target for path, one in files.entries.items()} == {b"d": b"../outside", b"e": b".env"}


def test_its_words_differ_where_other_files_would_be_sent(project: Path) -> None:
    did(project, "echo a >a")
    copy = copied(project)
    before = sending.planned(copy).words
    (copy.shown / "a").write_text("longer\n")
    assert sending.planned(copy).words == before
    (copy.shown / "a").rename(copy.shown / "b")
    assert sending.planned(copy).words != before


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
    copy = copied(project)
    with pytest.raises(KnownError, match=why):
        sending.packed(copy, sending.planned(copy), copy.folder)


def test_an_index_of_rubbish_is_no_index(project: Path) -> None:
    did(project, "git init -q; echo a >a; head -c 4000 /dev/urandom >.git/index")
    assert paths(copied(project)) == ["a"]


def test_half_of_what_came_back_is_no_change(project: Path) -> None:
    did(project, "echo a >a")
    copy = copied(project)

    def interrupted() -> None:
        with copy.arriving():
            (copy.shown / "a").write_text("half")
            raise OSError(28, "full")

    with pytest.raises(OSError, match="full"):
        interrupted()
    with pytest.raises(KnownError, match="is not whole: that was interrupted"):
        copy.changes()
    copy.discard()
    with copied(project).arriving() as top:
        assert os.listdir(top) == ["a"]
