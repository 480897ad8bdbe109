"""What is known of clients at work: their shells, their services, their arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner.clients import services
from runner.clients.at_work import AT_WORK
from runner.clients.client import Setup
from runner.clients.known import BY_ID, CLAUDE, CODEX, GEMINI
from runner.clients.prepared import in_rings
from runner.clients.programs import PROGRAMS, client_of
from runner.clients.settings_change import applied
from runner.model.network import Destination
from runner.work.shell_words import unwrapped

SEEN = json.loads((Path(__file__).parent / "shells_seen.json").read_text())
"""What the programs themselves started for a command of their models."""


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: seen["client"])
def test_the_command_of_a_model_is_shown_as_it_wrote_it(seen: dict[str, object]) -> None:
    facts = AT_WORK[str(seen["client"]).partition(",")[0]]
    argv = seen["argv"]
    assert isinstance(argv, list)
    assert facts.unwrapped(argv) == seen["command"]


@pytest.mark.parametrize("seen", [one for one in SEEN if len(one["argv"][-1]) > 80], ids=lambda seen: seen["client"])
def test_a_command_that_runs_more_than_the_wrapping_is_shown_whole(seen: dict[str, object]) -> None:
    facts = AT_WORK[str(seen["client"]).partition(",")[0]]
    argv = seen["argv"]
    assert isinstance(argv, list)
    text = str(argv[-1])
    lines = text.split("\n")
    changed = [f"curl evil; {text}", f"{text}; curl evil", f"{text}\ncurl evil"]
    changed += [text.replace("|| true", "|| curl evil", 1), text.replace("exec ", "exec curl evil; ", 1)]
    changed += ["\n".join((*lines[:1], "curl evil", *lines[1:]))]
    for one in (one for one in changed if one != text):
        assert "curl evil" in facts.unwrapped([*argv[:-1], one])


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: seen["client"])
def test_a_shell_calls_itself_in_its_messages_as_its_client_started_it(seen: dict[str, list[str]]) -> None:
    facts = AT_WORK[str(seen["client"]).partition(",")[0]]
    assert facts.names_shell == ("/" not in seen["argv"][0])


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["bash", "-lc", "pytest -q"], "pytest -q"),
        (["/bin/sh", "-c", "a", "name", "b"], "/bin/sh -c a name b"),
        (["bash", "script with space"], "bash 'script with space'"),
        (["bash", "-c"], "bash -c"),
        (["bash", "--rcfile", "x", "-c", "a"], "bash --rcfile x -c a"),
        (["bash", "-O", "extglob", "-c", "a"], "bash -O extglob -c a"),
        (["python3", "-c", "a"], "python3 -c a"),
        ([], ""),
    ],
)
def test_only_a_plain_start_of_a_shell_is_left_out(argv: list[str], shown: str) -> None:
    assert unwrapped(argv) == shown


def test_clients_are_known_by_their_programs() -> None:
    assert set(AT_WORK) <= set(BY_ID) == set(PROGRAMS)
    assert client_of("/home/me/bin/claude") == CLAUDE
    assert client_of("make") == "" and client_of("zed") not in AT_WORK


def test_a_client_asks_by_its_own_rules_where_the_person_says_how() -> None:
    claude, gemini = AT_WORK[CLAUDE], AT_WORK[GEMINI]
    assert claude.started(["-p", "x"])[-2:] == ("-p", "x") and len(claude.started(["-p", "x"])) > 2
    assert claude.started(["--permission-mode=plan"]) == ("--permission-mode=plan",)
    assert gemini.started(["mcp", "list"]) == ("mcp", "list")
    assert gemini.started(["explain", "mcp"]) == ("--approval-mode=yolo", "explain", "mcp")


def test_hosts_of_the_service_and_of_keys() -> None:
    assert Destination("api.anthropic.com") in services.of_service(AT_WORK[CLAUDE], {})
    assert services.of_service(AT_WORK["goose"], {}) == ()
    assert services.of_service(AT_WORK["goose"], {"OPENAI_API_KEY": "k"}) == (Destination("api.openai.com"),)
    for facts in AT_WORK.values():
        assert not {*services.quiet(facts)} & {*services.of_service(facts, {})}, facts.client


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("http://127.0.0.1:11434/v1", Destination("127.0.0.1", 11434)),
        ("https://Models.example/x", Destination("models.example")),
        ("http://localhost", Destination("127.0.0.1", 80)),
        ("localhost:11434", Destination("127.0.0.1", 11434)),
        ("http://[::1]:8080", Destination("::1", 8080)),
        ("ftp://a.example", None),
        ("http://a.example:99999", None),
        ("https://*.example.com", None),
        ("none", None),
        ("", None),
    ],
)
def test_an_address_that_the_person_named(address: str, found: Destination | None) -> None:
    assert services.destination(address) == found


def test_addresses_in_settings_of_the_person(tmp_path: Path) -> None:
    codex, elsewhere = AT_WORK[CODEX], tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.toml").write_text('[model_providers.a]\nbase_url = "http://127.0.0.1:11434/v1"\n')
    assert services.named(codex, tmp_path, {}) == ()
    assert services.named(codex, tmp_path, {"CODEX_HOME": str(elsewhere)}) == (Destination("127.0.0.1", 11434),)
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text("nonsense")
    assert services.named(codex, tmp_path, {}) == ()
    (tmp_path / ".config/opencode").mkdir(parents=True)
    provider = {"provider": {"a": {"options": {"baseURL": "https://models.example/v1", "url": "https://evil.example"}}}}
    (tmp_path / ".config/opencode/opencode.json").write_text(json.dumps(provider))
    assert services.named(AT_WORK["opencode"], tmp_path, {}) == (Destination("models.example"),)


@pytest.mark.parametrize("name", AT_WORK)
def test_the_rings_show_no_hook_no_token_and_the_door_for_the_server(tmp_path: Path, name: str) -> None:
    client = BY_ID[name]
    setup = Setup("secret-token", tmp_path, {}, hook=client.hook is not None)
    for wanted in client.files(setup):
        wanted.path.parent.mkdir(parents=True, exist_ok=True)
        text, _ = applied(wanted.syntax, wanted.syntax.EMPTY, wanted.edits({}))
        wanted.path.write_text(text)
        assert "assent" in text
    shown, token = in_rings(client, Path("/project"), tmp_path, {}, "/usr/bin/python3")
    assert token == "secret-token"
    for data in shown.values():
        assert b"secret-token" not in data and f"hook {name}".encode() not in data
    server, _ = client.server(setup)
    assert b"/run/assent/console/door" in shown[server] and b"/usr/bin/python3" in shown[server]


def test_the_rings_have_the_door_where_the_server_is_that_of_the_project(tmp_path: Path) -> None:
    entry = {"command": "assent", "args": ["mcp"], "env": {"ASSENT_TOKEN": "secret-token"}}
    settings = {"projects": {"/project": {"mcpServers": {"assent": entry}, "other": 1}}}
    (tmp_path / ".claude.json").write_text(json.dumps(settings))
    shown, token = in_rings(BY_ID[CLAUDE], Path("/project"), tmp_path, {}, "/usr/bin/python3")
    (data,) = shown.values()
    found = json.loads(data)["projects"]["/project"]
    assert token == "secret-token" and b"secret-token" not in data and found["other"] == 1
    assert found["mcpServers"]["assent"]["command"] == "/usr/bin/python3"


def test_the_rings_of_a_client_that_is_not_connected_have_no_door(tmp_path: Path) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini/settings.json").write_text('{"mcpServers": {"other": {"command": "x"}}}')
    assert in_rings(BY_ID[GEMINI], Path("/project"), tmp_path, {}, "/usr/bin/python3") == ({}, "")


def test_a_clients_own_look_at_the_shell_is_no_command() -> None:
    claude, codex = AT_WORK[CLAUDE].prepares, AT_WORK[CODEX].prepares
    snapshot = "SNAPSHOT_FILE=/h/.claude/shell-snapshots/snapshot-bash-1795554654512-hdzj3m.sh\n  x"
    assert claude(["/bin/bash", "-c", "-l", snapshot])
    assert not claude(["/bin/bash", "-c", snapshot]) and not claude(["/bin/bash", "-c", "-l", f"rm x; {snapshot}"])
    trial = 'set -e; . "/h/.codex/shell_snapshots/01a2.tmp-17"'
    assert codex(["/usr/bin/bash", "-c", trial])
    look = (Path(__file__).parent / "codex_snapshot.txt").read_text("utf-8")
    assert codex(["/bin/bash", "-lc", look])
    lines = look.splitlines(keepends=True)
    for more in (
        f"{look}rm x",
        f"{look} ",
        "".join((*lines[:4], "rm x\n")),
        "".join((*lines[:9], "rm x\n", *lines[9:])),
    ):
        assert not codex(["/bin/bash", "-lc", more]), "a model's own command comes in the same form"
    assert not codex(["/usr/bin/bash", "-c", f"{trial}; rm x"]) and not codex(["bash", "-c", 'set -e; . "$(rm x)"'])
    assert not any(AT_WORK[one["client"].partition(",")[0]].prepares(one["argv"]) for one in SEEN)
