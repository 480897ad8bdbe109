"""Packages that have to be built: planned with all that their build needs, CRITICAL, built apart, installed whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.engine.supply.building import BUILT
from runner.model.answer import Status
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.model.errors import Refused
from runner.model.events import HostContacted, QuestionAsked, RunFinished, RunStarted
from runner.model.request import Language, NetworkMode, Tool
from runner.model.submission import Submission
from runner.policy.grants import offered
from tests.engine.test_installing import install, registry, run
from tests.engine.test_known_files import out, request
from tests.patience import HANGS
from tests.recorded import record_in
from tests.stages.kept import House

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.audit.history.search import CaseRecord
    from runner.model.answer import Answer
    from tests.packages.registry import LoopbackRegistry

pytestmark = pytest.mark.asyncio
__all__ = ["registry"]
USE = "import app\nprint(app.BUILT)"
NODE = Submission("claude", Tool.CODE_CREATE_SANDBOX, Language.JAVASCRIPT)


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """An engine on the local sandbox, where CRITICAL requests may be approved."""
    house = House(tmp_path, {"ASSENT_WEAKEST_ISOLATION_CRITICAL": "local"})
    await house.engine.start(gateway=False)
    yield house
    await house.engine.close("the test is over")
    assert not list(house.folder.glob("run-*"))


def recorded(house: House, id: str) -> CaseRecord:
    """What the history has of a request."""
    return record_in(house.places.ledger, id)


async def failed(house: House, package: str = "app", **more: object) -> Answer:
    """Install a package whose build fails in a new sandbox, which has nothing of it afterwards."""
    id = await house.create()
    answer = await install(house, id, package, **more)  # type: ignore[arg-type]
    assert answer.status is Status.FAILED and answer.facts is None, answer
    assert house.engine.sandboxes.packages(id) is None
    assert not list(house.folder.glob("*/workspace/.packages/*")), "something of it is there"
    assert not list(house.places.state.glob("building/*"))
    assert house.engine.installing.active == () == house.engine.installing.unpacking
    return answer


async def test_a_source_is_built_without_network_and_installed(house: House, registry: LoopbackRegistry) -> None:
    registry.add_source("app", "1.0", needs=["beta<3"])
    id = await house.create()
    answer = await install(house, id, "app")
    assert answer.facts is not None, answer
    assert answer.facts["installed"] == {"app": "1.0", "beta": "2.0"} and answer.facts["built"] == ["app 1.0"]
    assert out(await run(house, USE, id)) == "True\n"
    asked = request(house, answer)
    assert asked.plan is not None and asked.network is NetworkMode.NONE and offered(asked, Level.CRITICAL) == ()
    assert house.level(asked.id) is Level.CRITICAL
    (package,) = asked.plan.built
    assert [one.title for one in package.build_files] == ["tinybuild 1.0"]
    text = asked.plan.text
    assert "runs its own program while it is installed: build: tinybuild" in text
    assert f"sha256 {package.build_files[0].sha256}" in text and package.sha256 in text
    # It is a run on the screen and in the history, and what was made is in the ledger.
    events = [type(one) for one in house.heard if getattr(one, "request_id", "") == asked.id]
    assert events.count(RunStarted) == events.count(RunFinished) == 1
    record = recorded(house, asked.id)
    assert record.result is not None
    made = [step.body for step in record.steps if step.entry.kind == BUILT]
    assert [(one["package"], one["file"]) for one in made] == [("app 1.0", "app-1.0-py3-none-any.whl")]


async def test_a_run_of_its_own_gets_what_was_built_for_it(house: House, registry: LoopbackRegistry) -> None:
    registry.add_source("app", "1.0")
    ran = await run(house, USE, packages=("app",))
    assert (house.level(ran.request_id), out(ran)) == (Level.CRITICAL, "True\n")
    registry.add_source("other", "1.0", {"tinybuild.py": ""}, built={"files": 3})
    ran = await run(house, "print('it ran')", packages=("other",))
    assert ran.result is not None and "could not be built" in ran.result.error and "it ran" not in ran.text()


async def test_what_the_backend_asks_for_late_is_not_fetched(house: House, registry: LoopbackRegistry) -> None:
    late = "def get_requires_for_build_wheel(config_settings=None):\n    return ['alpha>1']\n"
    path = {"pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'own'\nbackend-path = ['.']\n"}
    registry.add_source("app", "1.0", {"own.py": late, **path})
    registry.asked.clear()
    answer = await failed(house)
    assert "its build asks for alpha>1, which was not listed before" in answer.problem, answer.problem
    assert not any("alpha" in one for one in registry.asked)
    asked = request(house, answer)
    assert next(part.text for part in asked.parts if part.name == "own.py of app") == late


BUILD = "def build_wheel(out, config_settings=None, metadata_directory=None):\n"


def hostile(registry: LoopbackRegistry, code: str) -> None:
    """Add `app` with a backend of its own, whose build is `code` and then fails."""
    lines = "".join(f"    {line}\n" for line in code.splitlines())
    toml = "[build-system]\nrequires = []\nbuild-backend = 'own'\nbackend-path = ['.']\n"
    text = f"{BUILD}{lines}    print('the end')\n    raise SystemExit(9)\n"
    registry.add_source("app", "1.0", {"own.py": text, "pyproject.toml": toml})


async def test_a_build_sees_and_changes_nothing_of_the_sandbox(house: House, registry: LoopbackRegistry) -> None:
    hostile(
        registry,
        "import os\n"
        "print(sorted(os.listdir('/workspace')), os.path.exists('/workspace/secret.txt'))\n"
        "open('/workspace/planted.py', 'w').write('1')\n"
        "open('/workspace/built/../escaped', 'w').write('1')",
    )
    id = await house.create()
    await house.call(Tool.CODE_WRITE_FILE, sandbox_id=id, file_path="secret.txt", content="x")
    answer = await install(house, id, "app")
    assert "exit code 9" in answer.problem and "False\nthe end" in answer.problem, answer.problem
    listed = await house.call(Tool.CODE_LIST_FILES, sandbox_id=id, file_path=".")
    assert listed.facts is not None
    assert [one["name"] for one in listed.facts["entries"]] == ["secret.txt"], listed.facts  # type: ignore[attr-defined]


FETCH = """import urllib.request
try:
    urllib.request.urlopen("http://files.example:80/x", timeout=60)
except OSError as error:
    print("refused", error)"""


async def test_a_build_that_fetches_is_refused_and_the_host_is_named(house: House, registry: LoopbackRegistry) -> None:
    hostile(registry, FETCH)
    answer = await failed(house)
    assert "It was refused files.example:80" in answer.problem and "network_enabled" in answer.problem, answer.problem
    (contacted, *_) = [one.contact for one in house.heard if isinstance(one, HostContacted)]
    assert (contacted.host, contacted.allowed, contacted.can_be_allowed) == ("files.example", False, True)
    record = recorded(house, answer.request_id)
    assert record.result is not None
    assert [one.host for one in record.result.contacts] == ["files.example"], "it can be granted from the history"


async def test_a_build_reaches_what_was_asked_for_it_alone(house: House, registry: LoopbackRegistry) -> None:
    through = "import os, urllib.request\nos.environ.pop('NO_PROXY'), os.environ.pop('no_proxy')\n"
    hostile(registry, f"{through}print(urllib.request.urlopen({registry.url + 'beta/'!r}).status)")
    answer = await failed(house, network_enabled=True)
    assert "200\nthe end" in answer.problem, answer.problem
    asked = request(house, answer)
    assert asked.network is NetworkMode.REGISTRIES and f"127.0.0.1:{registry.port}" in asked.domains
    # What only has to be unpacked asks for no network, whatever the agent says.
    plain = await install(house, await house.create(), "alpha", network_enabled=True)  # type: ignore[arg-type]
    assert (request(house, plain).network, house.level(plain.request_id)) == (NetworkMode.NONE, Level.HIGH)


async def test_a_build_has_its_time_and_its_room(house: House, registry: LoopbackRegistry) -> None:
    house.set(package_build_seconds=1.0)
    hostile(registry, "import time\nprint('begun', flush=True)\ntime.sleep(60)")
    answer = await failed(house)
    assert "it took longer than 1 s" in answer.problem and "begun" in answer.problem
    house.set(package_build_seconds=20.0, package_file_mb=1)
    large = "open(out + '/app-1.0-py3-none-any.whl', 'wb').write(bytes(2 << 20))\nreturn 'x'"
    registry.projects.pop("app")
    house.engine.installing.planning.planner.forget()
    hostile(registry, large)
    assert "has not left the one wheel" in (await failed(house)).problem


MADE: tuple[tuple[dict[str, object], str], ...] = (
    ({"name": "beta"}, "is another package or version"),
    ({"version": "9"}, "is another package or version"),
    ({"needs": ["alpha"]}, "needs alpha, which its sources did not say"),
    ({"files": {"../evil.py": "1"}}, "would be outside its folder"),
    ({"files": {"app/__init__.py": "1", "APP/__init__.py": "2"}}, "two files in one place"),
)


async def test_what_was_built_is_held_against_the_plan(house: House, registry: LoopbackRegistry) -> None:
    id = await house.create()
    for number, (built, says) in enumerate(MADE):
        name = f"app{number}"
        made = {"files": {f"{name}/__init__.py": "1"}, **built}
        registry.add_source(name, "1.0", built=made)
        answer = await install(house, id, name)
        assert answer.status is Status.FAILED and says in answer.problem, (built, answer.problem)
    assert house.engine.sandboxes.packages(id) is None


async def test_stop_ends_a_build(house: House, registry: LoopbackRegistry) -> None:
    hostile(registry, f"{FETCH}\nimport time\ntime.sleep(60)")
    id = await house.create()
    ticket = await house.engine.submit(
        Submission("claude", Tool.CODE_INSTALL_PACKAGE, sandbox_id=id, packages=("app",))
    )
    await house.until(lambda: isinstance(house.heard[-1], HostContacted))
    title, output = house.engine.installing.build(ticket.request_id) or ("", None)
    assert title == "app 1.0" and output is not None
    await house.until(lambda: b"refused" in b"".join(piece.data for piece in output.since(0).pieces))
    assert house.engine.transcript(ticket.request_id) is None, "agents get nothing of it"
    house.engine.runs.stop(ticket.request_id, "enough")
    answer = await ticket.answered(HANGS)
    assert answer is not None and "The installation was stopped: enough" in answer.problem, answer
    finished = [one.result for one in house.heard if isinstance(one, RunFinished)]
    assert len(finished) == 1 and house.engine.sandboxes.packages(id) is None
    assert house.engine.installing.build(ticket.request_id) is None


REFUSED: tuple[tuple[dict[str, object], str], ...] = (
    ({"requires": ["gamma"]}, "no package gamma"),
    ({"requires": ["x @ https://evil.example/x.whl"]}, "from an address of its own"),
    ({"backend": "a b"}, "names no backend"),
    ({"said": "other"}, "says that it is another package"),
    ({"needs": ["x @ https://evil.example/x.whl"]}, "from an address of its own"),
)


async def test_sources_that_cannot_be_planned_are_refused(house: House, registry: LoopbackRegistry) -> None:
    id = await house.create()
    for number, (more, says) in enumerate(REFUSED):
        registry.add_source(f"app{number}", "1.0", **more)
        with pytest.raises(Refused, match=says):
            await install(house, id, f"app{number}")


async def test_a_build_is_asked_every_time_and_a_changed_one_is_another(
    house: House, registry: LoopbackRegistry
) -> None:
    registry.add_source("app", "1.0")
    first = request(house, await install(house, await house.create(), "app"))
    second = request(house, await install(house, await house.create(), "app"))
    assert first.plan is not None and second.plan is not None
    assert first.plan.fingerprint == second.plan.fingerprint
    assert sum(isinstance(one, QuestionAsked) and one.request_id in (first.id, second.id) for one in house.heard) == 2
    registry.add("tinybuild", "1.1", files={"tinybuild.py": "raise SystemExit(1)"})
    house.engine.installing.planning.planner.forget()
    house.says = Verdict.DENIED
    third = request(house, await install(house, await house.create(), "app"))
    assert third.plan is not None and third.plan.fingerprint != first.plan.fingerprint


# ---- npm ----

MAKE = "require('fs').writeFileSync('made.js', 'module.exports = ' + JSON.stringify(require('lib').order))"


async def node(house: House, package: str = "app") -> tuple[str, Answer]:
    id = await house.create(NODE)
    return id, await install(house, id, package)


async def test_install_scripts_run_in_the_order_of_what_they_need(house: House, registry: LoopbackRegistry) -> None:
    registry.add_npm(
        "lib", "1.0.0", {"cli.js": "#!/usr/bin/env node\nconsole.log('cli ran')"},
        scripts={"postinstall": "echo \"exports.order = 'lib first'\" > index.js"}, bin={"lib-cli": "./cli.js"},
    )  # fmt: skip
    files = {"make.js": MAKE, "index.js": "exports.made = require('./made.js')"}
    registry.add_npm(
        "app", "1.0.0", files, scripts={"install": "node make.js", "postinstall": "lib-cli && ln -s / away"},
        dependencies={"lib": "^1"},
    )  # fmt: skip
    id, answer = await node(house)
    assert answer.facts is not None, answer.problem
    assert answer.facts["built"] == ["app 1.0.0", "lib 1.0.0"]
    asked = request(house, answer)
    assert house.level(asked.id) is Level.CRITICAL and asked.plan is not None
    said = {part.name: part.text for part in asked.parts}
    assert "install: node make.js" in said["Packages"] and said["make.js of app"] == MAKE
    ran = await house.call(
        Tool.CODE_EXECUTE, language=Language.JAVASCRIPT, code="console.log(require('app').made)", sandbox_id=id
    )
    assert out(ran) == "lib first\n"
    assert not list(house.folder.glob("*/workspace/node_modules/app/away")), "a link was installed"
    assert "cli ran" in (recorded(house, asked.id).result or ran.result).stdout  # type: ignore[union-attr]


async def test_a_script_changes_its_own_package_alone(house: House, registry: LoopbackRegistry) -> None:
    registry.add_npm("lib", "1.0.0", {"index.js": "exports.answer = 42"})
    line = "echo 'exports.answer = 666' > ../lib/index.js; echo x > ../planted.js; exit 0"
    registry.add_npm("app", "1.0.0", scripts={"preinstall": line}, dependencies={"lib": "^1"})
    id, answer = await node(house)
    assert answer.facts is not None, answer.problem
    code = "console.log(require('lib').answer, require('fs').readdirSync('node_modules').join())"
    ran = await house.call(Tool.CODE_EXECUTE, language=Language.JAVASCRIPT, code=code, sandbox_id=id)
    assert out(ran) == "42 app,lib\n"


async def test_a_script_that_fails_installs_nothing_unless_it_is_optional(
    house: House, registry: LoopbackRegistry
) -> None:
    registry.add_npm("native", "1.0.0", {"index.js": "exports.fast = true"}, scripts={"install": "echo why; exit 3"})
    registry.add_npm("strict", "1.0.0", dependencies={"native": "^1"})
    registry.add_npm("app", "1.0.0", {"index.js": "exports.ok = 1"}, optionalDependencies={"native": "^1"})
    id, answer = await node(house, "strict")
    assert "native 1.0.0 could not be built" in answer.problem and "why" in answer.problem, answer.problem
    assert house.engine.sandboxes.packages(id) is None
    answer = await install(house, id, "app")
    assert answer.facts is not None and answer.facts["could_not_be_built"] == ["native 1.0.0"], answer.problem
    renamed = json.dumps({"name": "lib", "version": "1.0.0"})
    registry.add_npm("liar", "1.0.0", scripts={"install": f"echo '{renamed}' > package.json"})
    assert "another package or version" in (await node(house, "liar"))[1].problem
