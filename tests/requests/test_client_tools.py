"""Tools of an agent's own program are taken as what they do, with all that they are called with."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from runner.model.assessment import Level
from runner.model.errors import KnownError, Refused
from runner.model.request import CLIENT_TOOLS, Isolation, Language, Request, Tool
from runner.policy.grants import Choice, Subject, make, offered
from runner.requests import intake
from runner.requests.client_tools import client_submission
from runner.risk.tools import weigh
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
    ("WebFetch", {"url": "file:///etc/passwd"}, Tool.CLIENT_FETCH, Level.CRITICAL, ("fetch.unknown",)),
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
