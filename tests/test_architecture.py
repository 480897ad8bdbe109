"""The house rules, as tests: who may import whom, how large things may grow, what must not be there."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent

ROOMS = {
    "runner": """
        commands
        clients
        library
        assembly
        engine
        gateway
        approval
        requests
        work
        workspace
        sandbox policy packages
        network
        identity
        risk audit settings
        system
        model
    """,
    "app": """
        demo
        start
        notify
        chrome
        work
        host_access prompt
        remembering settings
        today first_start
        review history
        queue running agents doctor help
        results
        files network packages behaviour undo class_reasons
        state
        link
        phrases
        parts
        look
    """,
}
"""The rooms of each package, from the roof down. A room imports only what stands on a line below its own, and itself.

`runner` and `app` themselves (`__init__`, `__main__`) are above everything; `app` may import all of `runner`.
"""
DUMPING_GROUNDS = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager", "managers"}


@cache
def files() -> dict[str, Path]:
    """Every module of ours by its dotted name."""
    found = {}
    for top in ROOMS:
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def modules() -> dict[str, ast.Module]:
    """The same, parsed: seconds of work, so that no other file of tests and no collection may need it."""
    return {name: ast.parse(path.read_text("utf-8")) for name, path in files().items()}


@pytest.fixture(scope="module", autouse=True)
def forgotten_afterwards() -> Iterator[None]:
    """Keep the garbage collector from millions of nodes that all stay: it took three quarters of the time to parse.

    Afterwards they are gone, so that it does not go through them during all later tests of this process.
    """
    gc.disable()
    yield
    modules.cache_clear()
    gc.enable()


@cache
def imports(name: str) -> frozenset[str]:
    """What `name` imports, as dotted names, wherever in the file and also where only types are meant."""
    found: set[str] = set()
    for node in ast.walk(modules()[name]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            assert node.module is not None
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & modules().keys()
            found |= inner or {node.module}
    return frozenset(found)


@cache
def levels(top: str) -> dict[str, int]:
    """How high each room of `top` stands."""
    lines = [line.split() for line in ROOMS[top].strip().splitlines()]
    return {room: level for level, rooms in enumerate(reversed(lines)) for room in rooms}


def room_of(name: str) -> tuple[str, str]:
    """Package and room of a module; no room for the package itself."""
    parts = name.split(".")
    return parts[0], "" if len(parts) == 1 or parts[1] == "__main__" else parts[1]


def test_every_room_is_in_the_table() -> None:
    for top in ROOMS:
        there = {room_of(name)[1] for name in modules() if room_of(name)[0] == top} - {""}
        assert there == levels(top).keys(), "the table and the folders differ"


def upward(name: str) -> list[str]:
    """Imports of `name` that lead to a room on its own line or above it."""
    top, room = room_of(name)
    found = []
    for imported in imports(name):
        there, other = room_of(imported)
        if imported in modules() and room and there == top and other != room:
            if not other or levels(top)[other] >= levels(top)[room]:
                found.append(imported)
        elif top == "runner" and there == "app":
            found.append(imported)
    return sorted(found)


def test_imports_go_downward() -> None:
    assert {name: found for name in modules() if (found := upward(name))} == {}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of nodes that lead to one another, by Tarjan's algorithm."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in graph[name] - {name}:
            if other not in number:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], number[other])
        if low[name] == number[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(graph):
        if name not in number:
            visit(name)
    return found


def test_there_are_no_circles() -> None:
    # The package itself names what it hands on, for those who import it; nothing of ours imports the package.
    assert circles({name: set(imports(name) & modules().keys() - {"runner"}) for name in modules()}) == []


def folders() -> list[str]:
    """Every folder with modules below, as dotted names."""
    parts = [name.split(".") for name in files()]
    return sorted({".".join(one[:depth]) for one in parts for depth in range(1, len(one))})


def inside(folder: str) -> dict[str, set[str]]:
    """What stands directly in `folder`, modules and folders, each with what else there it imports."""
    depth = folder.count(".") + 1
    below = [name for name in modules() if name.startswith(f"{folder}.")]
    found: dict[str, set[str]] = {name.split(".")[depth]: set() for name in below}
    for name in below:
        for other in imports(name):
            if other in modules() and other.startswith(f"{folder}."):
                found[name.split(".")[depth]].add(other.split(".")[depth])
    return found


@pytest.mark.parametrize("folder", folders())
def test_what_stands_in_a_folder_goes_in_no_circle(folder: str) -> None:
    assert circles(inside(folder)) == []


OPEN_OF_RISK = {
    "addresses": "hosts in a text",
    "assess": "the classifier itself",
    "tools.client_tools": "what an agent's own tools are asked to do",
    "tools.codex_patch": "patches, and the files that they change",
    "tools.diffs": "the same for diffs",
    "explain.disputed": "cases that a person holds for misjudged",
    "explain.foreseen": "what was foreseen of a run, beside what it did",
    "inputs.imported": "what Python code imports",
    "inputs.kept_files": "files of a kept sandbox that code uses",
    "on_demand": "modules to be loaded before an update",
    "model.outline_data": "words of a text",
    "user_rules": "the person's own rules",
    "rules.knowledge": "the rules that come with Assent",
    "rules.packages": "names and sources of packages",
    "rules.starting": "files that something starts by itself",
    "recipes.tool_files": "files that tools obey",
    "tried": "what a trial asked for",
    "explain.class_reasons": "why a request has its class",
    "explain.reason_sentences": "the same in words",
    "worker.assessor": "the classifier in processes with a deadline",
    "worker.turns": "whose turn it is, fair between agents",
    "tools.writes": "what writing a file does",
}
"""Modules of `runner/risk` that the rest of the program may use: that package could stand by itself."""


def test_the_rest_of_the_program_knows_only_what_risk_offers() -> None:
    used = defaultdict(set)
    for name in modules():
        if not name.startswith("runner.risk"):
            for one in imports(name) & modules().keys():
                if one.startswith("runner.risk."):
                    used[one.removeprefix("runner.risk.")].add(name)
    assert {one: names for one, names in used.items() if one not in OPEN_OF_RISK} == {}
    assert OPEN_OF_RISK.keys() == used.keys(), "nobody uses these any more"


def same_names() -> dict[str, list[str]]:
    """Names of public classes that stand for more than one thing."""
    places = defaultdict(list)
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name)
    return {name: where for name, where in places.items() if len(where) > 1}


def test_a_class_name_stands_for_one_thing() -> None:
    assert same_names() == {}


def test_the_runner_knows_no_qt() -> None:
    for name in modules():
        if name.split(".")[0] == "runner":
            tops = {imported.split(".")[0] for imported in imports(name)}
            assert not tops & {"PySide6", "shiboken6", "qasync", "app"}, name


def test_no_module_is_a_dumping_ground() -> None:
    for name in modules():
        assert not set(name.split(".")) & DUMPING_GROUNDS, name


def test_every_module_says_its_job() -> None:
    silent = [name for name, tree in modules().items() if tree.body and not ast.get_docstring(tree)]
    assert not silent


ASKING = ("What ", "Whether ", "How ", "Why ", "Where ", "Which ", "Who ")
"""First words of a question: the first line of a module is a noun phrase, or says what the module does."""
ASKING_STILL = ("runner.risk.python", "runner.risk.javascript", "runner.risk.trace")


def test_no_module_begins_with_a_question() -> None:
    begins = {name: ast.get_docstring(tree) or "" for name, tree in modules().items()}
    asking = [name for name, line in begins.items() if line.startswith(ASKING) and not name.startswith(ASKING_STILL)]
    assert not asking


@pytest.mark.parametrize(
    "name",
    [
        "runner.gateway.bridge",
        "runner.commands.cli",
        "runner",
        "app.__main__",
        "runner.sandbox.available",
        "runner.sandbox.image_stores",
    ],
)
def test_what_must_start_fast_loads_neither_qt_nor_the_sdk(name: str) -> None:
    slow = "('PySide6', 'mcp', 'pydantic', 'docker', 'requests', 'urllib3')"
    code = f"import {name}, sys; print(*sorted(m for m in sys.modules if m.split('.')[0] in {slow}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def loads(code: str, *slow: str) -> list[str]:
    """What a fresh interpreter has loaded of `slow` after `code`, and of what is below it; first what it printed."""
    code = f"{code}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    *printed, loaded = done.stdout.splitlines()
    below = tuple(f"{one}." for one in slow)
    return [*printed, *sorted(name for name in loaded.split() if f"{name}.".startswith(below))]


HEAVY = (
    "PySide6",
    "docker",
    "email",
    "keyring",
    "mcp",
    "pydantic",
    "ruamel",
    "runner.audit",
    "runner.engine",
    "runner.risk.assess",
)
NOT_BEFORE_THE_PROGRAM = (
    *("runner.commands.work_changes", "runner.commands.deeds", "runner.work.added", "runner.risk.rules"),
    *("runner.clients.known", "runner.clients.connection", "runner.work.facts", "runner.work.home", "http.client"),
    *("runner.work.terms", "runner.policy", "runner.settings"),
    *("runner.sandbox.contract", "runner.sandbox.gvisor", "runner.sandbox.local.bubblewrap"),
)
"""What a program at work needs later, or not every one: each would delay all."""


def test_a_program_at_work_starts_without_what_it_needs_later() -> None:
    assert loads("import app.__main__, runner.commands.at_work", *HEAVY, *NOT_BEFORE_THE_PROGRAM) == []
    there = {name.removesuffix(".__init__") for name in modules()}
    assert {one for one in NOT_BEFORE_THE_PROGRAM if one.startswith("runner.")} <= there


def test_a_command_is_tried_without_what_only_hosts_and_other_sandboxes_need() -> None:
    only = ("asyncio", "ssl", "h11", "runner.network.gate", "runner.sandbox.local.listeners")
    assert loads("import app.__main__, runner.commands.attempt", *HEAVY, *NOT_BEFORE_THE_PROGRAM, *only) == []


def test_working_copies_are_listed_without_what_changes_them() -> None:
    others = (
        "asyncio",
        "ssl",
        "runner.risk.rules",
        "runner.network",
        "runner.settings",
        "runner.policy",
        "runner.approval",
    )
    code = "import app.__main__; from runner.commands.cli import main; main(['work', 'list', '--json'])"
    assert loads(code, *HEAVY, *others) == ["[]"]


ELSEWHERE = {
    "runner.commands.client_at_work",
    "runner.commands.work_standing",
    "runner.model.sent_files",
    "runner.risk.user_rules",
}
"""Loaded before a client is started; by `assent work list`; with rules of dangers that a
person has."""
LOADED = """\
import importlib, sys
import runner.commands.at_work
from runner.commands import changes_question

for name in (*changes_question.NEEDED, "runner.work.terms", "runner.risk.worker.assessor"):
    importlib.import_module(name)
print(*(name for name in sys.modules if name.startswith("runner.")))
"""


def test_what_a_program_at_work_needs_later_is_loaded_before_an_update_can_come() -> None:
    """The classifier runs in a process of its own, which sees by itself that it is of another version."""
    done = subprocess.run([sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    late: set[str] = set()
    for name in loaded:
        tree = ast.Module([], []) if name.startswith("runner.risk.") else modules()[name]
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runner"):
                        inner = {f"{node.module}.{one.name}" for one in node.names} & modules().keys()
                        late |= inner or {str(node.module)}
    assert late - loaded == ELSEWHERE


def test_the_bridge_needs_only_the_standard_library() -> None:
    code = "import runner.gateway.bridge, sys; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    foreign = set(done.stdout.split()) - set(sys.stdlib_module_names) - {"runner", "__main__"}
    assert not foreign


@pytest.mark.parametrize("name", ["runner.gateway.bridge", "runner.gateway.own_command", "runner.commands.hook"])
def test_what_agents_start_loads_little(name: str) -> None:
    slow = {"argparse", "ctypes", "dataclasses", "email", "http.client", "inspect", "shutil", "ssl"}
    code = f"import app.__main__, runner.commands.cli, {name}, sys; print(*sorted(sys.modules.keys() & {slow}))"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_bridge_starts_without_what_takes_long_to_load() -> None:
    """Each of these takes a tenth of its start, and an agent waits for it."""
    code = "import runner.gateway.bridge, app.__main__, runner.commands.cli, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert not {"typing", "pathlib", "urllib.parse", "ipaddress", "shlex"} & set(done.stdout.split())


def test_labels_show_plain_text() -> None:
    """Untrusted text must never be taken for rich text (K4): labels are made in one place only."""
    for name, tree in modules().items():
        if name == "app.parts.plain":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"QLabel", "QTextEdit", "QTextBrowser"}, f"{name}:{node.lineno}"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal since 3.12")
def test_this_qt_does_not_eat_references_to_none() -> None:
    """PySide6 6.12.0 takes one from None per call that returns it and aborts CPython 3.11; hence the pin."""
    from PySide6.QtCore import QObject

    one = QObject()
    before = sys.getrefcount(None)
    for _ in range(1000):
        one.setObjectName("x")
    assert abs(sys.getrefcount(None) - before) < 100
