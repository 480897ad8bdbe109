"""Working copies: what somebody else does meanwhile, what is planted, kills, a full disk, two at once."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.risk.rules.knowledge import bundled
from runner.workspace import apply, entry, journal, reading
from runner.workspace.change import How, ProjectChange, ProjectChanges, digest
from runner.workspace.entry import TreeEntry, TreeKind
from runner.workspace.marks import OBEYED, counted, mark
from runner.workspace.working_copy import WAYS, WorkingCopy, all_below, named
from tests.patience import HANGS
from tests.small_disk import small_disk
from tests.workspace.trees import look, make, work

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.workspace.progress import Report

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def copy(tmp_path: Path, way: str) -> WorkingCopy:
    return WorkingCopy.make(tmp_path / "copies", make(tmp_path / "project"), ("bash",), way=way)


# ---- what somebody else does meanwhile ----


@pytest.mark.parametrize(
    ("program", "person", "path", "why"),
    [
        ("echo p >>a", "echo q >>a", b"a", reading.CHANGED_MEANWHILE),
        ("rm b", "echo q >>b", b"b", reading.CHANGED_MEANWHILE),
        ("echo p >new", "echo q >new", b"new", reading.CHANGED_MEANWHILE),
        ("echo p >>b", "rm b", b"b", reading.DELETED_MEANWHILE),
        ("rm -r d", "echo q >d/new", b"d/new", reading.CHANGED_MEANWHILE),
        ("echo p >>d/1", "mv d old; mkdir d; cp -p old/1 d/1", b"d/1", reading.CHANGED_MEANWHILE),
        ("echo p >>d/1", "rm -r d", b"d/1", reading.DELETED_MEANWHILE),
        ("mv s c; echo p >>b", "rm b", b"b", reading.DELETED_MEANWHILE),
        ("mv b c; echo p >>d/1", "rm d/1", b"d/1", reading.DELETED_MEANWHILE),
    ],
)
def test_what_a_person_changed_meanwhile_is_a_conflict_and_never_overwritten(
    copy: WorkingCopy, program: str, person: str, path: bytes, why: str
) -> None:
    work(copy, program)
    subprocess.run(["bash", "-ec", person], cwd=copy.project, check=True)
    before = look(copy.project)
    found = copy.changes()
    assert {one.path: one.conflict for one in found.changes}[path] == why
    with pytest.raises(KnownError, match="conflict"):
        copy.apply(found.changes)
    copy.apply([one for one in found.changes if not one.conflict])
    after = look(copy.project)
    assert after.get(path) == before.get(path)


def test_a_folder_that_was_replaced_meanwhile_conflicts_below_it(copy: WorkingCopy, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["cp", "-a", str(copy.project / "d"), str(other)], check=True)
    work(copy, "echo p >>d/1")
    subprocess.run(["rm", "-r", str(copy.project / "d")], check=True)
    other.rename(copy.project / "d")
    assert [one.path for one in copy.changes().conflicts] == [b"d/1"]


def test_what_is_saved_between_the_screen_and_apply_stops_it_whole(copy: WorkingCopy) -> None:
    work(copy, "echo p >>a; echo n >new")
    seen = copy.changes()
    (copy.project / "a").write_text("saved in an editor")
    before = look(copy.project)
    with pytest.raises(KnownError, match="changed in the project meanwhile"):
        copy.apply(seen.changes)
    assert look(copy.project) == before


def test_what_is_saved_in_the_very_moment_is_left_alone(copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch) -> None:
    work(copy, "echo p >>a; echo n >new; rm b")
    seen = copy.changes()
    really = apply.finish

    def saved(record: Path, report: Report) -> apply.Applied | None:
        for name in ("a", "b"):
            (copy.project / name).unlink()
            (copy.project / name).write_text(f"saved {name}")
        (copy.project / "new").write_text("saved new")
        return really(record, report)

    monkeypatch.setattr(apply, "finish", saved)
    done = copy.apply(seen.changes)
    assert sorted(done.passed_over) == [b"a", b"b", b"new"]
    assert {name: (copy.project / name).read_text() for name in ("a", "b", "new")} == {
        name: f"saved {name}" for name in ("a", "b", "new")
    }


def test_content_that_is_swapped_between_the_screen_and_apply_stops_it(copy: WorkingCopy) -> None:
    work(copy, "echo n >new")
    seen = copy.changes()
    (copy.content / "new").write_text("x\n")
    before = look(copy.project)
    with pytest.raises(KnownError, match="was changed while it was copied"):
        copy.apply(seen.changes)
    assert look(copy.project) == before


def test_the_digest_is_of_exactly_these_changes(copy: WorkingCopy) -> None:
    work(copy, "echo n >new; chmod 700 a")
    first = copy.changes().changes
    assert digest(first) == digest(copy.changes().changes)
    assert digest(first[:1]) != digest(first)
    work(copy, "echo m >new")
    assert digest(copy.changes().changes) != digest(first)


@pytest.mark.parametrize(
    ("side", "command"),
    [
        ("program", "echo m >>a"),
        ("program", "chmod 700 new"),
        ("program", "touch d/n/further"),
        ("program", "rm new"),
        ("person", "echo q >>a"),
        ("person", "echo q >>b"),
        ("person", "echo q >new"),
        ("person", "echo q >>d/sub/3"),
        ("person", "touch e/further"),
        ("undo", ""),
    ],
)
def test_a_further_look_finds_nothing_new_until_something_is(copy: WorkingCopy, side: str, command: str) -> None:
    work(copy, "echo p >>a; rm b; echo n >new; rm -r d; mkdir -p d/n; rm -r e; echo s >s")
    copy.apply([one for one in copy.changes().changes if one.path == b"s"])
    end = time.monotonic() + HANGS
    while not (known := copy.changes(ProjectChanges())).stamp:
        assert time.monotonic() < end, "it never comes to rest"
    assert copy.changes(known) is known
    if side == "program":
        work(copy, command)
    elif side == "person":
        subprocess.run(["bash", "-ec", command], cwd=copy.project, check=True)
    else:
        copy.undo()
    found = copy.changes(known)
    assert found is not known
    assert found != known


def test_folders_within_each_other_without_end_are_looked_at(copy: WorkingCopy) -> None:
    work(copy, "for one in $(seq 600); do mkdir x; cd x; done")
    assert copy.changes(ProjectChanges()).left_out


# ---- what is planted ----


def test_nothing_is_written_through_links(copy: WorkingCopy, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    work(copy, "mkdir -p n/m; echo n >n/m/f; echo p >>d/1")
    seen = copy.changes()
    # A link where a folder was, after the look and after the check.
    really = apply.finish

    def swapped(record: Path, report: Report) -> apply.Applied | None:
        (copy.project / "d").rename(copy.project / "moved")
        (copy.project / "d").symlink_to(outside)
        (copy.project / "n").symlink_to(outside)
        return really(record, report)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(apply, "finish", swapped)
        done = copy.apply(seen.changes)
    assert b"d/1" in done.passed_over
    assert list(outside.iterdir()) == []


def test_marks_of_the_layer_that_a_program_sets_itself_change_nothing(tmp_path: Path) -> None:
    copy = WorkingCopy.make(tmp_path / "copies", make(tmp_path / "project"), ("bash",), way="overlay")
    mark = "for name in ('user.overlay.opaque', 'trusted.overlay.opaque'):\n  try: os.setxattr('d', name, b'y')"
    work(copy, f'python3 -c "import os\n{mark}\n  except OSError: pass"; touch d/n')
    assert {one.path for one in copy.changes().changes} == {b"d/n"}


def test_odd_names_are_bytes_and_sort(copy: WorkingCopy) -> None:
    work(copy, r"""python3 -c "open(b'\xff\x1b[2J\n', 'w')" """)
    assert [one.path for one in copy.changes().changes] == [b"\xff\x1b[2J\n"]


@pytest.mark.parametrize(
    ("program", "path", "word"),
    [
        ("mkdir -p .git/hooks; echo x >.git/hooks/pre-commit", b".git/hooks/pre-commit", "git hook"),
        ("echo x >package.json", b"package.json", "a build"),
        (
            "mkdir .github; mkdir .github/workflows; echo x >.github/workflows/ci.yml",
            b".github/workflows/ci.yml",
            "server",
        ),
        ("mkdir .claude; echo x >.claude/settings.json", b".claude/settings.json", "agents"),
        ("echo x >CLAUDE.md", b"CLAUDE.md", "agent"),
        ("ln -s ../../outside l2", b"l2", "out of the project"),
        ("ln -s /etc l2", b"l2", "out of the project"),
        ("cp s su; chmod 4755 su", b"su", "rights"),
        ("echo x >.envrc", b".envrc", "other programs"),
        ("mkdir .vscode; echo x >.vscode/tasks.json", b".vscode/tasks.json", ""),
        (
            "mkdir -p $'.claude/commands/a\\n'; echo x >$'.claude/commands/a\\n/b.md'",
            b".claude/commands/a\n/b.md",
            "agents",
        ),
    ],
)
def test_what_runs_later_by_itself_is_marked(copy: WorkingCopy, program: str, path: bytes, word: str) -> None:
    work(copy, program)
    marks = {one.path: one.mark for one in copy.changes().changes}
    assert marks[path] and word in marks[path]


@pytest.mark.parametrize(
    ("path", "target", "word"),
    [
        ("conftest.py", "docs/conf.txt", "build"),
        (".envrc", "a", "other programs"),
        ("CLAUDE.md", "a", "agents"),
        (".vscode", "dotcfg", "agents"),
        (".claude", "docs/claude", "agents"),
        (".husky", "docs/h", "git hook"),
        (".github", "docs/g", "hidden"),
        (".git", "docs/sample", "git"),
        ("d/.git", "../sample", "git"),
        ("node_modules", "n", "other programs"),
        ("gradle", "g", "build"),
        ("out", "d/d2/d3/up/../..", "out of the project"),
        ("d/x", "../..", "out of the project"),
        ("l", "a", ""),
        ("d/l", "../e/x", ""),
        ("lib.so", "lib.so.1", ""),
    ],
)
def test_links_are_marked_by_their_own_name_and_by_where_they_lead(path: str, target: str, word: str) -> None:
    found = mark(path.encode(), None, TreeEntry(TreeKind.LINK, 0, target=target.encode()))
    assert word in found and bool(word) == bool(found)


OBEYED_FILES = """
    .git d/.git d/sample/HEAD d/sample/config d/sample/commondir .hg/hgrc .pylintrc pytest.ini mypy.ini
    p.code-workspace .lefthook.yml lefthook-local.yml Taskfile.yml mise.toml .mise.toml Gemfile Vagrantfile shell.nix
    default.nix flake.nix .lldbinit .gdbinit .dir-locals.el .nvim.lua .exrc .vimrc Makefile.include a.mk a.cmake
    CMakePresets.json .mvn/jvm.config gradle/wrapper/gradle-wrapper.properties QWEN.md AGENTS.md CLAUDE.md GEMINI.md
    .goosehints .github/copilot-instructions.md .github/instructions/a.md .aider.conf.yml bunfig.toml .babelrc
    .babelrc.json .eslintrc.cjs .prettierrc .mocharc.yml Cargo.toml build.rs .bazelrc a.csproj Directory.Build.props
    SConstruct wscript configure main.tf .Rprofile .ghci .pryrc .irbrc latexmkrc uv.toml requirements.txt
    requirements-dev.txt requirements/base.txt ansible.cfg next.config.mjs .envrc Makefile
    package-lock.json yarn.lock go.mod .yarn/releases/yarn-4.cjs .pnp.cjs docker-compose.override.yml compose.dev.yaml
    Dockerfile.dev api.Dockerfile .devcontainer.json .gitlab/ci.yml .buildkite/pipeline.yml .forgejo/workflows/x.yml
    .envrc.local .direnv/x .nvmrc .storybook/main.js .amp/settings.json .kilocode/x .github/CODEOWNERS .rspec
    githooks/pre-commit tools/git-hooks/post-checkout scripts/pre-commit.sh a/commit-msg buildSrc/src/A.kt
    gradle/libs.versions.toml karma.conf.js App.xcodeproj/project.pbxproj env.nix x.cabal BUILD rust-toolchain.toml
    .venv/bin/python
"""
ORDINARY_FILES = """
    a.py src/head.html src/config.py d/config.json docs/requirements.md requirements.py src/hooks/use.ts tasks.py
    src/wrapper/x.py README.md notmakefile.x .gitignore d/.gitkeep .dockerignore Cargo.lock a.txt src/build.ts
    docs/commit-message.md src/pre-commit-words.md compose.py
"""
COUNTED_FILES = """
    .git/HEAD .git/index .git/objects/00/x .git/objects/pack/pack-1.pack .git/refs/heads/main d/.git/packed-refs
    __pycache__/a.cpython-311.pyc src/__pycache__/a.cpython-311.pyc node_modules/a/index.js
    .venv/lib/python3.11/site-packages/six.py target/debug/app .next/server/page.js .terraform/providers/x
    node_modules/.cache/a.json
"""


@pytest.mark.parametrize("path", OBEYED_FILES.split())
def test_files_that_tools_obey_are_marked(path: str) -> None:
    assert mark(path.encode(), None, TreeEntry(TreeKind.FILE, 0o644))


@pytest.mark.parametrize("path", ORDINARY_FILES.split())
def test_ordinary_files_are_not_marked(path: str) -> None:
    assert not mark(path.encode(), None, TreeEntry(TreeKind.FILE, 0o644))


@pytest.mark.parametrize("path", COUNTED_FILES.split())
def test_what_is_counted_and_not_looked_at_needs_a_word(path: str) -> None:
    """Alone as well: one forged pack, or one compiled file, is what runs in place of what a person has looked at."""
    change = ProjectChange(path.encode(), None, TreeEntry(TreeKind.FILE, 0o644))
    marked = replace(change, mark=mark(change.path, None, change.after))
    assert marked.mark and counted(marked)
    assert mark(change.path, None, TreeEntry(TreeKind.LINK, 0, target=b"x"))
    assert mark(change.path.rpartition(b"/")[0], None, TreeEntry(TreeKind.FOLDER, 0o755)), "nor an empty folder"


@pytest.mark.parametrize(
    ("before", "after", "usual", "word"),
    [
        (0o644, 0o666, 0o755, "other accounts"),
        (0o644, 0o664, 0o755, "other accounts"),
        (None, 0o777, 0o755, "other accounts"),
        (0o664, 0o664, 0o755, ""),
        (None, 0o664, 0o775, ""),
        (None, 0o755, 0o755, ""),
    ],
)
@pytest.mark.parametrize("kind", [TreeKind.FILE, TreeKind.FOLDER])
def test_what_other_accounts_could_write_to_is_marked(
    kind: TreeKind, before: int | None, after: int, usual: int, word: str
) -> None:
    found = mark(b"a", None if before is None else TreeEntry(kind, before), TreeEntry(kind, after), usual)
    assert word in found and bool(word) == bool(found)


def test_pipes_and_the_projects_own_folder_are_marked_in_a_list(copy: WorkingCopy) -> None:
    work(copy, "chmod 777 .; mkfifo waits; mkdir -m 777 open; echo >open/n")
    marks = {one.path: one.mark for one in copy.changes().changes}
    assert "pipe" in marks[b"waits"] and "other accounts" in marks[b""] and "other accounts" in marks[b"open"]
    assert not marks[b"open/n"]


def test_a_repository_that_is_deleted_is_marked_whole_and_an_ordinary_file_is_not(copy: WorkingCopy) -> None:
    subprocess.run(["git", "init", "-q"], cwd=copy.project, check=True)
    later = WorkingCopy.make(copy.folder.parent, copy.project, ("bash",), way=copy.way)
    work(later, "rm -rf .git; echo n >new")
    changes = later.changes().changes
    assert [one.path for one in changes if not one.mark] == [b"new"]
    assert len(changes) > 10


# ---- kills, a full disk, two at once ----

KILLED = """
import os, signal, sys
from pathlib import Path
from runner.workspace import apply, staging
from runner.workspace.working_copy import WorkingCopy
count, most = 0, int(sys.argv[2])
def step(*_):
    global count
    count += 1
    if count >= most:
        os.kill(os.getpid(), signal.SIGKILL)
def hooked(event, arguments):
    if event in ("os.rename", "os.mkdir", "os.rmdir", "os.link", "os.remove", "os.symlink", "open", "os.utime"):
        step()
copy = WorkingCopy.read(Path(sys.argv[1]))
changes = copy.changes().changes
really = apply._rename
def renamed(*given):
    step()
    return really(*given)
apply._rename = renamed
sys.addaudithook(hooked)
copy.undo() if sys.argv[3] == "undo" else copy.apply(changes)
"""
EVERY = int(os.environ.get("ASSENT_TEST_KILL_EVERY", "9"))
"""Every so many steps it is killed; 1 tries them all."""
PROGRAM = "echo p >>a; rm b; rm -r d; mkdir d; echo n >d/n; mkdir -p x/y; echo z >x/y/z; ln -sfn e ld; rm s; mkdir s"


@pytest.mark.parametrize("doing", ["apply", "undo"])
def test_killed_anywhere_the_project_is_the_old_or_the_new_one(tmp_path: Path, doing: str) -> None:
    copy = WorkingCopy.make(tmp_path / "copies", make(tmp_path / "project"), ("bash",), way="overlay")
    work(copy, PROGRAM)
    old = look(copy.project)
    copy.apply(copy.changes().changes)
    new = look(copy.project)
    copy.undo()
    from_, to = (old, new) if doing == "apply" else (new, old)
    kinds = set()
    for most in range(1, 400, EVERY):
        if doing == "undo" and look(copy.project) == old:
            copy.apply(copy.changes().changes)
        words = [sys.executable, "-c", KILLED, str(copy.folder), str(most), doing]
        code = subprocess.run(words, cwd=ROOT, check=False, stderr=subprocess.DEVNULL).returncode
        copy.changes()  # finishes what was begun
        now = look(copy.project)
        assert now in (from_, to), f"a mix after a kill at {most}"
        kinds.add(now == to)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        if now == to and doing == "apply":
            copy.undo()
            assert look(copy.project) == old
    else:
        pytest.fail("it never came to its end")
    assert kinds == {False, True}


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted by root")
def test_a_full_disk_leaves_the_project_as_it_was(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk:
        copy = WorkingCopy.make(tmp_path / "copies", make(disk / "project"), ("bash",))
        work(copy, "head -c 8000000 /dev/urandom >large; echo n >new; rm -r d")
        before = look(copy.project)
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            copy.apply(copy.changes().changes)
        assert look(copy.project) == before
        assert copy.apply([one for one in copy.changes().changes if one.path != b"large"]).paths
        assert (copy.project / "new").read_text() == "n\n"


def test_what_a_kill_left_before_the_journal_is_removed(copy: WorkingCopy) -> None:
    left = copy.project / ".assent-0123456789abcdef"
    left.mkdir()
    (left / "0").write_text("x")
    copy.changes()
    assert not left.exists()


def test_one_at_a_time(copy: WorkingCopy) -> None:
    work(copy, "echo n >new")
    with copy.in_use(), pytest.raises(KnownError, match="still running"):
        copy.discard()
    assert copy.changes().changes


def test_undo_is_there_once(copy: WorkingCopy) -> None:
    with pytest.raises(KnownError, match="nothing to undo"):
        copy.undo()
    work(copy, "echo n >new")
    assert not copy.can_undo
    copy.apply(copy.changes().changes)
    assert copy.can_undo
    copy.undo()
    assert not copy.can_undo
    with pytest.raises(KnownError, match="nothing to undo"):
        copy.undo()


def test_some_changes_are_applied_and_the_others_stay(copy: WorkingCopy) -> None:
    work(copy, "echo n >new; rm b; echo p >>d/1")
    copy.apply([one for one in copy.changes().changes if one.path == b"new"])
    assert [(one.path, one.how) for one in copy.changes().changes] == [(b"b", How.DELETED), (b"d/1", How.CHANGED)]
    assert (copy.project / "b").exists()


# ---- which folders, and what is kept ----


def _home(tmp_path: Path) -> Path:
    return Path.home()


def _state(tmp_path: Path) -> Path:
    (tmp_path / "copies").mkdir()
    return tmp_path / "copies"


def _above_state(tmp_path: Path) -> Path:
    return tmp_path


@pytest.mark.parametrize("place", [_home, _state, _above_state, lambda _path: Path("/usr"), lambda _path: Path("/")])
def test_folders_that_are_no_projects_are_refused(tmp_path: Path, place: Callable[[Path], Path]) -> None:
    with pytest.raises(KnownError):
        WorkingCopy.make(tmp_path / "copies", place(tmp_path), ("true",))
    assert all_below(tmp_path / "copies") == []


def test_another_folder_at_the_same_path_is_not_the_project(copy: WorkingCopy) -> None:
    work(copy, "echo n >new")
    copy.project.rename(copy.project.with_name("moved"))
    make(copy.project)
    with pytest.raises(KnownError, match="another folder"):
        copy.changes()


def test_a_working_copy_that_is_gone_or_broken_is_said(tmp_path: Path, copy: WorkingCopy) -> None:
    assert named(copy.folder.parent, copy.name) == copy
    for name in ("nothing", "../project", ""):
        with pytest.raises(KnownError, match="no working copy"):
            named(copy.folder.parent, name)
    (copy.folder / "about.json").write_text("{")
    with pytest.raises(KnownError, match="cannot be read"):
        named(copy.folder.parent, copy.name)
    assert all_below(copy.folder.parent) == []


def test_discard_removes_all_of_it_whatever_its_permissions(copy: WorkingCopy) -> None:
    work(copy, "mkdir -p x/y; echo z >x/y/z; chmod 000 x/y x")
    before = look(copy.project)
    copy.discard()
    assert not copy.folder.exists()
    assert look(copy.project) == before


def test_a_journal_names_no_project_but_its_own(tmp_path: Path) -> None:
    copy = WorkingCopy.make(tmp_path / "copies", make(tmp_path / "project"), ("bash",))
    work(copy, "echo n >new")
    copy.apply(copy.changes().changes)
    assert not (copy.folder / journal.NAME).exists()
    with contextlib.suppress(FileNotFoundError):
        assert not [name for name in os.listdir(copy.project) if name.startswith(apply.STAGE_PREFIX)]


# ---- while the program is at work ----


def test_what_is_there_is_shown_and_applied_while_it_runs_and_removed_only_afterwards(copy: WorkingCopy) -> None:
    with copy.in_use():
        assert copy.is_in_use
        work(copy, "echo n >new")
        found = copy.changes()
        work(copy, "echo m >new; echo more >>new")
        before = look(copy.project)
        with pytest.raises(KnownError, match="changed while it was copied"):
            copy.apply(found.changes)
        assert look(copy.project) == before
        copy.apply(copy.changes().changes)
        assert (copy.project / "new").read_text() == "m\nmore\n"
        work(copy, "echo again >>new")
        (again,) = copy.changes().changes
        assert not again.conflict, "what was applied is not what a person did"
        copy.undo()
        assert not (copy.project / "new").exists()
        with pytest.raises(KnownError, match="still running"):
            copy.discard()
    assert not copy.is_in_use
    copy.discard()


def test_what_vanishes_while_it_is_read_is_left_out_with_all_below(
    copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(copy, "echo p >>a; rm -r d; mkdir d; echo n >d/new")
    really = reading.LayerReading.of_layer
    vanishing = b"d" if copy.way == "overlay" else b"d/new"

    def of_layer(
        self: reading.LayerReading, folder: int, name: bytes, found: os.stat_result, path: bytes, *, expected: bool
    ) -> object:
        if path == vanishing:
            shutil.rmtree(copy.content / "d")
        return really(self, folder, name, found, path, expected=expected)

    monkeypatch.setattr(reading.LayerReading, "of_layer", of_layer)
    found = copy.changes()
    assert (vanishing, reading.MOVING) in found.left_out
    assert b"a" in [one.path for one in found.changes]
    if copy.way == "overlay":
        assert not [one.path for one in found.changes if one.path.startswith(b"d")]


@pytest.mark.parametrize(
    "path",
    [
        ".envrc",
        "a/b.py",
        ".github/workflows/[id].yml",
        "*",
        "x\n/.envrc",
        ".claude/commands/a.md",
        "d" * 1200,
        ".env*",
    ],
)
def test_kinds_that_are_asked_for_are_those_among_all(path: str) -> None:
    targets = bundled().targets
    assert targets.among(path, OBEYED) == targets.of(path) & OBEYED


def test_what_is_saved_between_two_readings_of_a_file_is_a_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = WorkingCopy.make(tmp_path / "copies", make(tmp_path / "project"), ("bash",), way="overlay")
    old = (copy.project / "d/1").read_text()
    work(copy, "cp -r d z; rm -r d; mv z d; touch d/1")
    assert not copy.changes().conflicts
    really = entry.at

    def saved(root: int, path: bytes, *, content: bool = False) -> entry.TreeEntry | None:
        if path == b"d/1":
            (copy.project / "d/1").write_text("s" * len(old))
        return really(root, path, content=content)

    monkeypatch.setattr(entry, "at", saved)
    assert [one.path for one in copy.changes().conflicts] == [b"d/1"]


def test_a_file_is_hashed_to_its_end_whatever_its_size_was_said_to_be(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for size in (0, 1, 1000, entry.CHUNK - 1, entry.CHUNK, entry.CHUNK + 1, 3 * entry.CHUNK):
        content = os.urandom(size)
        file.write_bytes(content)
        for said in (0, 1, size - 1, size, size + 1, entry.CHUNK):
            descriptor = os.open(file, entry.READ_FLAGS)
            assert entry.hash_of(descriptor, max(0, said)) == hashlib.sha256(content).hexdigest()
            os.close(descriptor)


def test_a_link_put_in_the_place_of_a_closed_file_changes_no_other(
    copy: WorkingCopy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("")
    mine.chmod(0o200)
    work(copy, "echo n >new; chmod 000 new")
    folder = os.open(copy.content, os.O_RDONLY)
    found = os.stat("new", dir_fd=folder)
    os.unlink("new", dir_fd=folder)
    os.symlink(mine, "new", dir_fd=folder)
    with entry.readable(folder, b"new", found):
        assert mine.stat().st_mode & 0o777 == 0o200
    assert mine.stat().st_mode & 0o777 == 0o200
    os.close(folder)


def test_what_a_call_has_done_is_known_afterwards_by_its_number(copy: WorkingCopy) -> None:
    work(copy, "echo n >new; echo p >>a")
    first, second, never = (apply.new_number() for _ in range(3))
    copy.apply([one for one in copy.changes().changes if one.path == b"new"], number=first)
    assert apply.outcome(copy.folder, first) == apply.Applied(1)
    copy.undo(number=second)
    assert apply.outcome(copy.folder, first) is not None and apply.outcome(copy.folder, second) == apply.Applied(1)
    assert apply.outcome(copy.folder, never) is None and not apply.is_begun(copy.folder)
