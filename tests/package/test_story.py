"""What a person does with Assent from apt to apt: installed, used by an agent, updated while open, removed, purged."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from runner.model.decision import Decider, Verdict
from tests.components import AGENTS, require
from tests.package.console import CLAUDE_CODE, STARTED, Console, until
from tests.package.given import HOME, LATER
from tests.path.mock_model import SAID, TOOL, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.package.bare_root import BareRoot
    from tests.package.screen import Screen

pytestmark = pytest.mark.timeout(1200)
PROJECT = f"{HOME}/project"
QUEUE, HISTORY = "ctrl+1", "ctrl+3"
PAGES = "345678"
PROMPT = "Add the two numbers."


@pytest.fixture(scope="module")
def console(root: BareRoot, screen: Screen) -> Iterator[Console]:
    console = Console(root, screen)
    yield console
    with contextlib.suppress(AssertionError):
        console.close()


@pytest.fixture(scope="module")
def configured(root: BareRoot, console: Console) -> dict[str, str]:
    """What is shown for an agent, by client; that of Claude Code is pasted into its file as it is."""
    console.screen.photograph(f"{root.suite}-drawn")
    shown = console.add_agent("claude")
    root.run("mkdir", "-p", PROJECT, user="person")
    (root.folder / PROJECT.lstrip("/") / ".mcp.json").write_text(shown[CLAUDE_CODE])
    return shown


def test_what_is_shown_for_claude_code_works_as_it_is(
    root: BareRoot, console: Console, configured: dict[str, str]
) -> None:
    one = console.ask(configured[CLAUDE_CODE], "print('sum:', 20 + 22)", f"{root.suite}-claude")
    other = console.ask(configured[STARTED], "print('sum:', 40 + 3)", f"{root.suite}-started")
    console.screen.turn_to(HISTORY, f"{root.suite}-recorded")
    console.screen.press(QUEUE)
    assert ("sum: 42" in one, "sum: 43" in other) == (True, True)
    assert {(record.request.agent, record.decision and record.decision.by) for record in console.records()} == {
        ("claude", Decider.PERSON)
    }


def test_claude_code_itself_reports_the_output(root: BareRoot, console: Console, configured: dict[str, str]) -> None:
    require("agents")
    shutil.copy((AGENTS / "claude").resolve(), root.folder / "opt/claude")
    arguments = {"language": "python", "title": "Add two numbers", "code": "print('sum:', 900 + 99)"}
    words = ["-p", PROMPT, "--mcp-config", ".mcp.json", "--strict-mcp-config"]
    with serving((TOOL, arguments)) as model, ThreadPoolExecutor(1) as pool:
        # With HOME and PATH alone, besides what leads it to the model.
        environment = {"HOME": HOME, "ANTHROPIC_BASE_URL": model.address, "ANTHROPIC_API_KEY": "none"}
        environment |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        command = root.command(
            "env", "-C", PROJECT, "/opt/claude", *words, "--allowedTools", "mcp__assent__code_execute",
            user="person", environment=environment,
        )  # fmt: skip
        asked = pool.submit(subprocess.run, command, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd="/")
        console.approve(asked, f"{root.suite}-claude-code")
    (root.folder / "opt/claude").unlink()
    done = asked.result()
    assert done.stdout.startswith(SAID), done.stderr
    assert "sum: 999" in done.stdout


def test_an_update_while_it_is_open(root: BareRoot, console: Console, configured: dict[str, str]) -> None:
    """The open console answers as before and says that it was updated; the next one has the history of the last."""
    later = LATER.name.split("_")[1]
    root.install(LATER)
    between = console.ask(configured[CLAUDE_CODE], "print('sum:', 50 + 1)", f"{root.suite}-between")
    assert "sum: 51" in between
    for page in PAGES:
        console.screen.press(f"ctrl+{page}")
    until(lambda: f"Assent was updated to {later}." in console.read("assent.log"))
    console.screen.turn_to(QUEUE, f"{root.suite}-updated")
    console.close()
    before = len(console.records())
    console.open()
    after = console.ask(configured[CLAUDE_CODE], "print('sum:', 60 + 1)", f"{root.suite}-after")
    assert "sum: 61" in after
    assert root.run("assent", "--version").stdout == f"assent {later}\n"
    records = console.records()
    assert len(records) == before + 1
    assert all(record.decision and record.decision.verdict is Verdict.APPROVED for record in records)
    console.close()


def test_with_node_all_three_languages_run(root: BareRoot) -> None:
    if root.suite == "bookworm":
        pytest.skip("the Node.js of Debian 12 is too old")
    root.apt("install", "nodejs")
    done = root.run("assent", "self-test", user="person")
    for language in ("python", "javascript", "shell"):
        assert f"ok    local sandbox, {language}: " in done.stdout


def test_the_profile_of_apparmor_is_copied_only_where_it_parses(root: BareRoot) -> None:
    """A file there that does not parse spoils every reload of all profiles."""
    copied = root.folder / "etc/apparmor.d/assent"
    assert not copied.exists()
    root.apt("install", "apparmor")
    root.run("/var/lib/dpkg/info/assent.postinst", "configure")
    parse = ("apparmor_parser", "--skip-kernel-load", "--skip-cache")
    parses = root.run(*parse, "/usr/share/assent/apparmor", check=False).returncode == 0
    assert copied.exists() is parses is (root.suite != "bookworm"), "AppArmor 3 does not know `userns`"


def test_removed_and_purged_it_leaves_only_what_is_the_persons(root: BareRoot, console: Console) -> None:
    with contextlib.suppress(ProcessLookupError):
        root.kill("start.py")
    own = ("/home/person/", "/root/.local/", "/tmp/", "/var/lib/apt/", "/var/log/")
    root.apt("remove", "assent")
    assert root.run("which", "assent", check=False).stdout == ""
    root.apt("purge", "assent")
    left = root.run("find", "/", "-xdev", "-iname", "*assent*", "-not", "-path", "/proc/*").stdout.splitlines()
    assert not [path for path in left if not path.startswith(own)]
    assert any(path.startswith("/home/person/.config/assent") for path in left)
    assert len(console.records()) > 1, "the history is the person's"
