"""Tools of an agent's own program are taken as what they do, with all that they are called with."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from runner.gateway.client_tools import client_submission
from runner.model.assessment import Level
from runner.model.errors import KnownError, Refused
from runner.model.request import Isolation, Language, Request, Tool
from runner.model.tool_facts import CLIENT_TOOLS
from runner.policy.decide import parameters
from runner.policy.grants import Choice, Subject, make, offered
from runner.requests import intake
from runner.risk.tools.diffs import changed_by
from runner.risk.tools.tools import weigh
from runner.settings.loading import Settings

FOLDER = "/home/me/project"


def asked(name: str, **given: object) -> Request:
    return intake.request(client_submission("claude-code", name, given, FOLDER), Settings(), Isolation.LOCAL)


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+{}\n*** Delete File: b.md\n*** End Patch\n"
CASES = [
    ("Bash", {"command": "ls"}, Tool.CLIENT_SHELL, Level.HIGH, ()),
    ("Bash", {"command": "rm -rf ~"}, Tool.CLIENT_SHELL, Level.CRITICAL, ()),
    ("exec_command", {"cmd": "ls"}, Tool.CLIENT_SHELL, Level.HIGH, ()),
    ("shell", {"command": ["bash", "-lc", "rm -rf ~"]}, Tool.CLIENT_SHELL, Level.CRITICAL, ()),
    ("shell", {"command": ["rm", "-rf"]}, Tool.CLIENT_TOOL, Level.HIGH, ()),
    ("Bash", {"cmd": "ls"}, Tool.CLIENT_TOOL, Level.HIGH, ()),
    ("Write", {"file_path": f"{FOLDER}/notes.md", "content": "hello"}, Tool.CLIENT_EDIT, Level.MEDIUM, ()),
    ("Write", {"file_path": f"{FOLDER}/a.py", "content": "print(1)"}, Tool.CLIENT_EDIT, Level.HIGH, ("write.program",)),
    ("Write", {"file_path": "/etc/hosts.md", "content": "x"}, Tool.CLIENT_EDIT, Level.HIGH, ("edit.outside",)),
    ("Write", {"file_path": "../x.md", "content": "x"}, Tool.CLIENT_EDIT, Level.HIGH, ("edit.outside",)),
    ("Write", {"file_path": "/home/me/.bashrc", "content": "x"}, Tool.CLIENT_EDIT, Level.CRITICAL, ("edit.startup",)),
    ("Write", {"file_path": ".git/hooks/pre-commit", "content": "x"}, Tool.CLIENT_EDIT, Level.CRITICAL, ()),
    (
        "Write",
        {"file_path": ".claude/settings.json", "content": "{}"},
        Tool.CLIENT_EDIT,
        Level.CRITICAL,
        ("edit.agents",),
    ),
    ("Write", {"file_path": "a/../.mcp.json", "content": "{}"}, Tool.CLIENT_EDIT, Level.CRITICAL, ("edit.agents",)),
    ("Write", {"file_path": "/home/me/.ssh/id_rsa", "content": "x"}, Tool.CLIENT_EDIT, Level.CRITICAL, ()),
    (
        "Edit",
        {"file_path": "a.py", "old_string": "x", "new_string": "    else:\n        y = 1\n"},
        Tool.CLIENT_EDIT,
        Level.HIGH,
        (),
    ),
    (
        "Edit",
        {"file_path": "a.py", "old_string": "x", "new_string": "    import shutil\n    shutil.rmtree('/')"},
        Tool.CLIENT_EDIT,
        Level.CRITICAL,
        (),
    ),
    ("apply_patch", {"command": PATCH.format("y = 1")}, Tool.CLIENT_EDIT, Level.HIGH, ("edit.deletes",)),
    (
        "apply_patch",
        {"command": PATCH.format("import shutil; shutil.rmtree('/')")},
        Tool.CLIENT_EDIT,
        Level.CRITICAL,
        (),
    ),
    ("apply_patch", {"command": "nonsense"}, Tool.CLIENT_EDIT, Level.CRITICAL, ("edit.unread",)),
    ("WebFetch", {"url": "https://docs.example.org/a"}, Tool.CLIENT_FETCH, Level.HIGH, ()),
    ("WebFetch", {"url": "http://169.254.169.254/x"}, Tool.CLIENT_FETCH, Level.CRITICAL, ("request.domain",)),
    ("WebFetch", {"url": "https://e.example/?" + "a" * 200}, Tool.CLIENT_FETCH, Level.CRITICAL, ("fetch.data",)),
    ("WebFetch", {"url": "file:///etc/passwd"}, Tool.CLIENT_FETCH, Level.CRITICAL, ("fetch.unread",)),
    ("web_fetch", {"prompt": "read https://a.example/ please"}, Tool.CLIENT_FETCH, Level.HIGH, ()),
    ("mcp__x__y", {"a": 1}, Tool.CLIENT_TOOL, Level.HIGH, ()),
]


@pytest.mark.parametrize(("name", "given", "tool", "level", "found"), CASES)
def test_each_is_assessed_as_what_it_is(
    name: str, given: dict[str, object], tool: Tool, level: Level, found: tuple[str, ...]
) -> None:
    request = asked(name, **given)
    assessment = weigh(request)
    assert (request.tool, assessment.level) == (tool, level), assessment.reasons
    assert set(found) <= {finding.id for finding in assessment.findings}
    assert request.isolation is Isolation.PROCESS and request.protections == ()


def test_what_it_is_called_with_is_seen_and_in_the_digest() -> None:
    one = asked("Edit", file_path="a.md", old_string="old", new_string="new", replace_all=True)
    parts = {part.name: part.text for part in one.parts}
    assert parts["Code"] == "new" and parts["Replaces"] == "old"
    assert json.loads(parts["Also given"]) == {"replace_all": True}
    assert one.client is not None
    for other in (
        replace(one, client=replace(one.client, folder="/elsewhere")),
        replace(one, client=replace(one.client, more="")),
        replace(one, client=replace(one.client, replaced="")),
        replace(one, client=replace(one.client, name="MultiEdit")),
    ):
        assert other.digest != one.digest


def test_several_changes_of_one_file_are_all_seen() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    request = asked("MultiEdit", file_path="a.md", edits=edits)
    assert (request.code, request.files) == ("b\nd", ("a.md",))
    odd = asked("MultiEdit", file_path="a.md", edits=[{**edits[0], "replace_all": True}])
    assert odd.tool is Tool.CLIENT_TOOL and "replace_all" in odd.code


def test_a_shell_command_of_a_client_is_not_the_same_as_one_in_a_sandbox() -> None:
    request = asked("Bash", command="make test")
    inside = replace(request, tool=Tool.CODE_EXECUTE, client=None, language=Language.SHELL)
    assessment = weigh(request)
    for subject in (Subject.EXACT, Subject.TEXT):
        grant = make(request, assessment, Choice(subject, 1, 60.0), 1.0, "s")
        assert grant.covers(request, assessment)
        assert not grant.covers(inside, assessment)
        assert not grant.covers(asked("Bash", command="make test", timeout=1), assessment)
        assert request.client is not None
        elsewhere = replace(request, client=replace(request.client, folder="/x"))
        assert not grant.covers(elsewhere, assessment)
    grant = make(inside, assessment, Choice(Subject.TEXT, 1, 60.0), 1.0, "s")
    assert not grant.covers(request, assessment)


def test_other_values_of_a_clients_tool_are_never_remembered() -> None:
    request = asked("Bash", command="cat 'a'")
    assessment = weigh(request)
    assert offered(request, assessment.level) == (Subject.EXACT, Subject.TEXT)
    with pytest.raises(KnownError):
        make(request, assessment, Choice(Subject.SHAPE, 1, 60.0), 1.0, "s", lambda _request: "the same outline")
    note = asked("Write", file_path="a.md", content="x")
    with pytest.raises(KnownError):
        make(note, weigh(note), Choice(Subject.KIND, 1, 60.0), 1.0, "s")


@pytest.mark.parametrize("name", ["", "x" * 300, "a\nb"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(Refused):
        client_submission("a", name, {}, FOLDER)


def test_the_four_tools_are_no_tools_that_agents_can_call() -> None:
    from runner.gateway import catalog

    assert not {tool.value for tool in CLIENT_TOOLS} & set(catalog.SCHEMAS)


SHELL_PATCH = "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch"
BY_SHELL = [
    "apply_patch <<'EOF'\n{}\nEOF\n",
    'applypatch <<"E"\n{}\nE',
    "cd sub && apply_patch <<EOF\n{}\nEOF",
    "cd 'sub' && apply_patch '{}'",
    'apply_patch "{}"',
]


@pytest.mark.parametrize("command", BY_SHELL)
def test_a_patch_by_the_shell_of_codex_is_a_change_of_its_files(command: str) -> None:
    sub = "sub/" if "cd" in command else ""
    for file, found in ((".git/hooks/pre-commit", "edit.startup"), (".codex/config.toml", "edit.agents")):
        for name, argument in (("exec_command", "cmd"), ("shell", "command")):
            request = asked(name, **{argument: command.format(SHELL_PATCH.format(file))})
            assessment = weigh(request)
            assert (request.tool, assessment.level) == (Tool.CLIENT_EDIT, Level.CRITICAL)
            assert found in {one.id for one in assessment.findings}
            assert f"{FOLDER}/{sub}{file}" in parameters(request)["file_path"]  # type: ignore[operator]
    plain = asked("exec_command", command=command.format(SHELL_PATCH.format("a.md")))
    assert (plain.tool, weigh(plain).level) == (Tool.CLIENT_EDIT, Level.HIGH), "the agent chooses the folder"
    words = asked("shell", command=["apply_patch", SHELL_PATCH.format(".git/hooks/x")])
    assert words.tool is Tool.CLIENT_EDIT and weigh(words).level is Level.CRITICAL
    assert asked("Bash", command=command.format(SHELL_PATCH.format("a.md"))).tool is Tool.CLIENT_SHELL


def test_relative_names_are_below_the_folder_of_the_call() -> None:
    command = BY_SHELL[0].format(SHELL_PATCH.format("hooks/pre-commit"))
    request = asked("exec_command", cmd=command, workdir=".git")
    assert parameters(request)["file_path"] == [".git/hooks/pre-commit", f"{FOLDER}/.git/hooks/pre-commit"]
    assert "edit.startup" in {one.id for one in weigh(request).findings}


@pytest.mark.parametrize(
    "command",
    [
        "echo a; apply_patch <<'EOF'\n{}\nEOF",
        "apply_patch <<'EOF'\n{}\nEOF\nls",
        "apply_patch <<EOF\n{}$(id)\nEOF",
        "cat x | apply_patch",
        "apply_patch < x",
        "env applypatch <<'EOF'\n{}\nEOF",
    ],
)
def test_a_patch_that_is_handed_over_otherwise_is_critical(command: str) -> None:
    request = asked("exec_command", cmd=command.format(SHELL_PATCH.format("a.md")))
    assessment = weigh(request)
    assert (request.tool, assessment.level) == (Tool.CLIENT_SHELL, Level.CRITICAL)
    assert "edit.unread" in {one.id for one in assessment.findings}
    assert weigh(asked("exec_command", cmd="grep -r apply_patch .")).level is Level.HIGH


DIFF = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-x\n+y\n"


@pytest.mark.parametrize(
    "command",
    [
        "git apply <<'EOF'\n{}EOF",
        "git -C . apply --whitespace=fix - <<'EOF'\n{}EOF",
        "patch -p1 <<'EOF'\n{}EOF",
        "cd sub; patch -p1 <<'EOF'\n{}EOF",
        "printf x | git am <<'EOF'\n{}EOF",
        "busybox patch -p1 <<'EOF'\n{}EOF",
        "timeout 5 patch -p1 <<'EOF'\n{}EOF",
    ],
)
def test_a_diff_in_a_command_is_read_with_its_files(command: str) -> None:
    for file, found in ((".git/hooks/pre-commit", "edit.startup"), (".codex/config.toml", "edit.agents")):
        request = asked("Bash", command=command.format(DIFF.format(file)))
        assessment = weigh(request)
        assert assessment.level is Level.CRITICAL and found in {one.id for one in assessment.findings}
        assert file in parameters(request)["file_path"] or f"sub/{file}" in parameters(request)["file_path"]  # type: ignore[operator]
    harmless = weigh(asked("Bash", command=command.format(DIFF.format("docs/a.md"))))
    assert harmless.level is Level.HIGH and f"{FOLDER}/docs/a.md" in harmless.touch.files


def test_where_a_diff_changes_is_found_by_options_and_operands() -> None:
    for command in (
        f"git apply --directory=.git/hooks <<'E'\n{DIFF.format('pre-commit')}E",
        f"cd .git && patch -p0 <<'E'\n{DIFF.format('hooks/pre-commit')}E",
        f"patch .git/hooks/pre-commit <<'E'\n{DIFF.format('x')}E",
        f"patch -p3 <<'E'\n{DIFF.format('q/r/.git/hooks/pre-commit')}E",
        "git apply <<'E'\ndiff --git a/x b/.git/hooks/pre-commit\nrename from x\nrename to .git/hooks/pre-commit\nE",
    ):
        assert "edit.startup" in {one.id for one in weigh(asked("Bash", command=command)).findings}, command
    unseen = weigh(asked("Bash", command="git apply fix.patch"))
    assert any("does not stand in the command" in reason for reason in unseen.reasons)
    assert "remote.download-run" not in {one.id for one in unseen.findings}
    code = weigh(
        asked("Bash", command="patch -p1 <<'E'\n--- a/a.py\n+++ b/a.py\n+import shutil\n+shutil.rmtree('/')\nE")
    )
    assert code.level is Level.CRITICAL


def test_a_diff_of_too_many_files_is_said_and_takes_no_time() -> None:
    heads = "".join(f"cd d{number}\n--- a/x{number}\n+++ b/x{number}\n" for number in range(5_000))
    began = time.thread_time()
    request = asked("Bash", command=f"patch <<'E'\n{heads}E")
    assert time.thread_time() - began < 5
    assert request.files == () and "too many files" in str(changed_by(request.code))
    assert weigh(request).level is Level.CRITICAL
    assert weigh(asked("Bash", command="git apply fix.patch")).level is Level.HIGH


def test_no_two_programs_have_one_digest() -> None:
    one = asked("shell", command=["bash", "-c", "make test"])
    grant = make(one, weigh(one), Choice(Subject.EXACT, 1, 60.0), 1.0, "s")
    assert grant.covers(one, weigh(one))
    for words in (["/p/evil/bash", "-c", "make test"], ["/tmp/sh", "-lc", "make test"], ["bash", "-lc", "make test"]):
        other = asked("shell", command=words)
        assert not grant.covers(other, weigh(other)) and other.digest != one.digest
    assert asked("shell", command=["/p/evil/bash", "-c", "make test"]).tool is Tool.CLIENT_TOOL
    pieces = [[("a", "b\nc")], [("a", "b"), ("", "c")]]
    edits = [[{"old_string": old, "new_string": new} for old, new in piece] for piece in pieces]
    both = [asked("MultiEdit", file_path="a.md", edits=edit) for edit in edits]
    assert both[0].digest != both[1].digest
    described = [asked("Bash", command="make", description=words) for words in ("Build", "Compile")]
    assert described[0].digest == described[1].digest


def test_a_shell_that_is_none_is_named() -> None:
    request = asked("exec_command", cmd="ls", shell="/tmp/evil")
    assessment = weigh(request)
    assert assessment.level is Level.CRITICAL and "/tmp/evil" in assessment.verdict.sentence
    assert weigh(asked("exec_command", cmd="ls", shell="/bin/bash")).level is Level.HIGH


def test_a_file_whose_text_looks_like_a_patch_is_the_file_that_changes() -> None:
    text = "*** Begin Patch\n*** Add File: docs/notes.md\n+x\n*** End Patch"
    assessment = weigh(asked("Write", file_path="/home/me/.bashrc", content=text))
    assert assessment.level is Level.CRITICAL and ".bashrc" in assessment.verdict.sentence


def test_a_second_path_makes_a_tool_unknown() -> None:
    for name, own in (("NotebookEdit", "notebook_path"), ("Write", "file_path"), ("Edit", "file_path")):
        texts = {"content": "x", "new_source": "x", "old_string": "a", "new_string": "b"}
        other = "file_path" if own == "notebook_path" else "notebook_path"
        given = {**texts, own: ".git/hooks/pre-commit"}
        assert asked(name, **given).tool is Tool.CLIENT_EDIT
        assert asked(name, **given, **{other: "docs/a.md"}).tool is Tool.CLIENT_TOOL
        assert asked(name, **texts, **{other: "docs/a.md"}).tool is Tool.CLIENT_TOOL


def test_gemini_cli_may_mean_another_file_than_a_relative_name_says() -> None:
    for path in ("settings.json", "@docs/notes.md", "docs/notes.md"):
        request = asked("replace", file_path=path, old_string="a", new_string="b")
        assessment = weigh(request)
        assert assessment.level is Level.CRITICAL and "looks for a file of this name" in assessment.verdict.sentence
    assert weigh(asked("write_file", file_path=f"{FOLDER}/a.md", content="x")).level is Level.MEDIUM


FURTHER = [
    ("bash", {"command": "rm -rf ~"}, Tool.CLIENT_SHELL, ()),
    ("developer__shell", {"command": "rm -rf ~", "timeout_secs": 5}, Tool.CLIENT_SHELL, ()),
    ("write", {"filePath": "/a/b.md", "content": "new"}, Tool.CLIENT_EDIT, ("/a/b.md",)),
    ("create", {"path": "/a/b.md", "file_text": "new"}, Tool.CLIENT_EDIT, ("/a/b.md",)),
    ("developer__write", {"path": "/a/b.md", "content": "new"}, Tool.CLIENT_EDIT, ("/a/b.md",)),
    ("edit", {"filePath": "/a/b.md", "oldString": "o", "newString": "new"}, Tool.CLIENT_EDIT, ("/a/b.md",)),
    ("edit", {"path": "/a/b.md", "old_str": "o", "new_str": "new"}, Tool.CLIENT_EDIT, ("/a/b.md",)),
    ("edit", {"file_path": "/a/b.md", "old_string": "o", "new_string": "new"}, Tool.CLIENT_EDIT, ("/a/b.md",)),
    ("developer__edit", {"path": "/a/b.md", "before": "o", "after": "new"}, Tool.CLIENT_EDIT, ("/a/b.md",)),
    ("webfetch", {"url": "https://example.com/x"}, Tool.CLIENT_FETCH, ()),
    # Which of two paths counts is not known, nor what the arguments of one client are to another.
    ("write", {"filePath": "/a/b.md", "path": "/etc/x", "content": "new"}, Tool.CLIENT_TOOL, ()),
    ("create", {"path": "/a/b.md", "filePath": "/etc/x", "file_text": "new"}, Tool.CLIENT_TOOL, ()),
    ("edit", {"path": "/a/b.md", "old_string": "o", "new_string": "new"}, Tool.CLIENT_TOOL, ()),
    ("create", {"path": "/a/b.md", "content": "new"}, Tool.CLIENT_TOOL, ()),
]


@pytest.mark.parametrize(("name", "given", "tool", "files"), FURTHER)
def test_the_tools_of_further_clients_are_known_by_their_own_arguments(
    name: str, given: dict[str, object], tool: Tool, files: tuple[str, ...]
) -> None:
    request = asked(name, **given)
    assert (request.tool, request.files) == (tool, files)
    if tool is Tool.CLIENT_EDIT:
        assert request.code == "new"
        assert request.client is not None and request.client.replaced == ("o" if len(given) == 3 else "")
