"""Grants: what each covers and no more, which may be made at all, and what a broken file means."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.assessment import Assessment, Capability, Finding, Level, Span, Touch
from runner.model.errors import KnownError
from runner.model.network import Destination
from runner.model.request import PROMISED, Isolation, Language, Limits, NetworkMode, Request, Tool, WorkPlace
from runner.policy.file_patterns import fits, pattern_of
from runner.policy.grantfile import Grants, plain
from runner.policy.grants import Choice, Grant, Subject, forbidden, make, offered
from runner.policy.host_grants import for_host
from runner.system.places import Places
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_000_000.0
CODE = Request("1", "claude", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "print(1)", title="Print")
INFO = Request("2", "claude", Tool.CODE_SANDBOX_INFO, 0.0)
HIGH = Assessment(Level.HIGH, ("any code",), unread=())
MEDIUM = Assessment(Level.MEDIUM, ("files",), touch=Touch(files=("a.csv", "b.csv")))
EXACT = Choice(Subject.EXACT, uses=10, seconds=600)
TEXT = Choice(Subject.TEXT, uses=10, seconds=600)
KIND = Choice(Subject.KIND, uses=10)


class Clock:
    """Seconds since the epoch, as the test says."""

    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places.under(tmp_path)
    places.make()
    return places


def grant(choice: Choice = EXACT, request: Request = CODE, assessment: Assessment = HIGH) -> Grant:
    return make(request, assessment, choice, NOW, "this-session")


# ---- the same code with other values ----

SHAPE = Choice(Subject.SHAPE, uses=10, seconds=600)
STARTS = Finding("a.rule", Level.HIGH, Capability.FILES, Span(1, 0, 1, 1), "", "Reads.")
READS = Assessment(Level.HIGH, ("reads",), (STARTS,), Touch(files=("a.csv",), hosts=("known.example",)), unread=())


UNREAD = replace(READS, unread=("Calls toolbox.wipe, which is not known.",))


def digits(request: Request) -> str:
    """An outline in which numbers may be others; none for what says so."""
    return "" if "eval" in request.code else re.sub(r"\d+", "\0", request.code)


@pytest.mark.parametrize(
    ("changed", "found", "covered"),
    [
        ({}, {}, True),
        ({}, {"touch": Touch(files=("other.csv",), hosts=("known.example",))}, True),
        ({}, {"findings": ()}, True),
        ({"code": "print(2)  # eval"}, {}, False),
        ({"code": "print(a)"}, {}, False),
        ({"context": '{"a": 1}'}, {}, False),
        ({"stdin": "x"}, {}, False),
        ({"language": Language.SHELL}, {}, False),
        ({"limits": Limits(seconds=31)}, {}, False),
        ({"network": NetworkMode.REGISTRIES}, {}, False),
        ({"agent": "codex"}, {}, False),
        ({}, {"level": Level.CRITICAL}, False),
        ({}, {"findings": (STARTS, replace(STARTS, id="another.rule"))}, False),
        ({}, {"touch": Touch(hosts=("other.example",))}, False),
        ({}, {"touch": Touch(credentials=("TOKEN",))}, False),
        ({}, {"touch": Touch(processes=("sh",))}, False),
    ],
)
def test_other_values_are_covered_and_what_they_reach_is_not(
    changed: dict[str, Any], found: dict[str, Any], covered: bool
) -> None:
    made = make(CODE, READS, SHAPE, NOW, "this-session", digits)
    other = replace(CODE, **{"code": "print(20)", **changed})
    assert made.covers(other, replace(READS, **found), digits) is covered
    assert not made.covers(other, READS), "without an outline every letter counts"


def test_a_level_below_the_one_that_was_granted_is_the_most_for_other_values() -> None:
    made = replace(make(CODE, READS, SHAPE, NOW, "this-session", digits), level=Level.MEDIUM)
    assert not made.covers(CODE, READS, digits) and made.covers(CODE, replace(READS, level=Level.MEDIUM), digits)


def test_values_of_code_without_an_outline_cannot_be_left_open() -> None:
    with pytest.raises(KnownError, match="nothing that could vary"):
        make(replace(CODE, code="eval('1')"), READS, SHAPE, NOW, "this-session", digits)
    unread = replace(READS, unread=("writes a file that is worked out at run time.",))
    with pytest.raises(KnownError, match="worked out at run time"):
        make(replace(CODE, code="eval('1')"), unread, SHAPE, NOW, "this-session", digits)


def test_a_grant_for_other_values_is_kept(places: Places, clock: Clock) -> None:
    made = make(CODE, READS, SHAPE, NOW, "this-session", digits)
    asyncio.run(Grants(places, clock).add(made))
    assert Grants(places, clock).all() == (made,) and made.found == ("a.rule",)


# ---- what is covered ----


@pytest.mark.parametrize(
    "changed",
    [
        {"code": "print(1) "},
        {"agent": "codex"},
        {"context": '{"a": 1}'},
        {"stdin": "x"},
        {"limits": Limits(seconds=31)},
        {"limits": Limits(seconds=29)},
        {"network": NetworkMode.REGISTRIES},
        {"packages": ("x",)},
        {"isolation": Isolation.DOCKER},
        {"language": Language.SHELL},
    ],
)
def test_exact_covers_that_request_and_nothing_else(changed: dict[str, Any]) -> None:
    made = grant()
    assert made.covers(replace(CODE, id="9", title="Called otherwise", received_at=5.0), HIGH)
    assert not made.covers(replace(CODE, **changed), HIGH)


@pytest.mark.parametrize(
    ("changed", "covered"),
    [
        ({"limits": Limits(seconds=29, memory_mb=100)}, True),
        ({"isolation": Isolation.GVISOR}, True),
        ({"limits": Limits(seconds=31)}, False),
        ({"limits": Limits(memory_mb=513)}, False),
        ({"limits": Limits(processes=65)}, False),
        ({"limits": Limits(disk_mb=1025)}, False),
        ({"limits": Limits(cpu_cores=1)}, False),
        ({"limits": Limits(output_bytes=2**21)}, False),
        ({"code": "print(2)"}, False),
        ({"code": "print(1)\n"}, False),
        ({"stdin": "x"}, False),
        ({"context": '{"a": 1}'}, False),
        ({"files": ("x",)}, False),
        ({"packages": ("x",)}, False),
        ({"network": NetworkMode.DOMAINS, "domains": ("a.org",)}, False),
        ({"agent": "codex"}, False),
    ],
)
def test_the_same_program_covers_no_other_program_and_no_more_resources(changed: dict[str, Any], covered: bool) -> None:
    assert grant(TEXT).covers(replace(CODE, **changed), HIGH) is covered


def test_the_same_program_may_be_remembered_for_every_agent() -> None:
    made = grant(replace(TEXT, everyone=True))
    assert made.covers(replace(CODE, agent="codex"), HIGH)
    assert not made.covers(replace(CODE, agent="codex", code="print(2)"), HIGH)


def test_a_weaker_sandbox_than_then_is_asked() -> None:
    strong = replace(CODE, isolation=Isolation.GVISOR)
    made = grant(TEXT, strong)
    assert made.covers(strong, HIGH) and not made.covers(replace(CODE, isolation=Isolation.DOCKER), HIGH)


@pytest.mark.parametrize("isolation", [Isolation.E2B, Isolation.PLUGIN])
def test_what_was_remembered_here_is_asked_where_others_promise_the_walls(isolation: Isolation) -> None:
    """Code that may run on this machine unasked may not leave it unasked."""
    made = grant(TEXT)
    assert made.covers(CODE, HIGH) and not made.covers(replace(CODE, isolation=isolation), HIGH)
    there = replace(CODE, isolation=isolation, protections=("promised by a",))
    assert grant(TEXT, there).covers(there, HIGH)
    assert not grant(TEXT, there).covers(replace(there, protections=("promised by b",)), HIGH)


@pytest.mark.parametrize("choice", [EXACT, TEXT])
def test_what_ran_behind_bubblewrap_is_asked_where_there_is_none(choice: Choice) -> None:
    made = grant(choice)
    assert made.covers(CODE, HIGH) and not made.covers(replace(CODE, isolation=Isolation.PROCESS), HIGH)


BEHIND = replace(CODE, protections=("no network", "calls filtered"))


@pytest.mark.parametrize(
    ("protections", "isolation", "covered"),
    [
        (("calls filtered", "no network"), Isolation.LOCAL, True),
        (("no network", "calls filtered", "memory group"), Isolation.LOCAL, True),
        (("no network",), Isolation.LOCAL, False),
        (("calls filtered",), Isolation.LOCAL, False),
        ((), Isolation.LOCAL, False),
        (("own kernel",), Isolation.GVISOR, True),
        (("own kernel",), Isolation.E2B, False),
        (("no network", "calls filtered"), Isolation.E2B, False),
        (("no network", "calls filtered"), Isolation.PROCESS, False),
    ],
)
def test_a_protection_less_than_then_is_asked(
    protections: tuple[str, ...], isolation: Isolation, covered: bool
) -> None:
    now = replace(BEHIND, protections=protections, isolation=isolation)
    assert grant(TEXT, BEHIND).covers(now, HIGH) is covered
    made = make(BEHIND, READS, SHAPE, NOW, "this-session", digits)
    assert made.covers(now, READS, digits) is covered
    assert not grant(EXACT, BEHIND).covers(replace(now, protections=("no network",)), HIGH)


@pytest.mark.parametrize("choice", [EXACT, TEXT])
def test_what_was_allowed_to_leave_is_allowed_for_that_host_alone(choice: Choice) -> None:
    there = replace(CODE, isolation=Isolation.E2B, protections=(f"{PROMISED}cloud.example",))
    made = grant(choice, there)
    assert made.covers(there, HIGH)
    assert not made.covers(replace(there, protections=(f"{PROMISED}evil.example",)), HIGH)


def test_a_grant_that_says_nothing_of_protections_is_asked_where_there_are_some() -> None:
    """It was made before they were recorded."""
    assert not grant(TEXT).covers(BEHIND, HIGH)


def test_protections_are_kept_with_the_grant(places: Places, clock: Clock) -> None:
    asyncio.run(Grants(places, clock).add(grant(TEXT, BEHIND)))
    assert Grants(places, clock).all()[0].protections == BEHIND.protections


def test_a_kind_covers_nothing_that_touches_more() -> None:
    made = grant(KIND, INFO, MEDIUM)
    assert made.covers(INFO, Assessment(Level.LOW, ("",), touch=Touch(files=("b.csv",))))
    assert not made.covers(INFO, Assessment(Level.MEDIUM, ("",), touch=Touch(files=("c.csv",))))
    assert not made.covers(INFO, Assessment(Level.MEDIUM, ("",), touch=Touch(hosts=("a.org",))))
    assert not made.covers(INFO, HIGH)
    assert not made.covers(replace(INFO, packages=("x",)), MEDIUM)
    assert not made.covers(replace(INFO, network=NetworkMode.REGISTRIES), MEDIUM)
    assert not made.covers(replace(CODE, language=None), MEDIUM)


def test_a_summary_that_may_be_cut_is_not_covered_by_a_kind() -> None:
    many = Touch(files=tuple(f"{n}.csv" for n in range(50)))
    with pytest.raises(KnownError, match="would not cover this request itself"):
        grant(KIND, INFO, replace(MEDIUM, touch=many))


def test_what_has_become_critical_is_asked_again() -> None:
    assert not grant().covers(CODE, Assessment(Level.CRITICAL, ("a new finding",)))


# ---- what may be made ----


@pytest.mark.parametrize(
    ("choice", "level", "why"),
    [
        (EXACT, Level.CRITICAL, "CRITICAL requests are asked every time"),
        (KIND, Level.HIGH, "for the same program only"),
        (replace(KIND, seconds=60), Level.HIGH, "for the same program only"),
        (replace(EXACT, seconds=None), Level.HIGH, "until a time"),
        (replace(EXACT, seconds=None, session=True), Level.HIGH, "until a time"),
        (replace(EXACT, seconds=2 * 3600), Level.HIGH, "at most 1 hours"),
        (replace(EXACT, seconds=-1), Level.HIGH, "at most 1 hours"),
        (replace(EXACT, uses=101), Level.HIGH, "1 to 100 uses"),
        (replace(EXACT, uses=0), Level.HIGH, "1 to 100 uses"),
        (replace(EXACT, everyone=True), Level.HIGH, "always one agent's"),
        (replace(KIND, uses=1001), Level.MEDIUM, "1 to 1,000 uses"),
        (replace(KIND, seconds=400 * 86_400), Level.MEDIUM, "at most 8,784 hours"),
        (replace(EXACT, seconds=float("nan")), Level.MEDIUM, "time of a grant"),
    ],
)
def test_no_more_is_remembered_than_the_level_allows(choice: Choice, level: Level, why: str) -> None:
    with pytest.raises(KnownError, match=why):
        make(CODE, Assessment(level, ("",)), choice, NOW, "s")


def test_always_has_a_cap_all_the_same() -> None:
    made = grant(KIND, INFO, MEDIUM)
    assert made.live(NOW + 10 * 365 * 86_400, "another") and not replace(made, used=10).live(NOW, "another")


def test_a_grant_ends_with_its_time_its_session_and_a_clock_set_back() -> None:
    made = grant(replace(EXACT, session=True))
    assert made.live(NOW + 599, "this-session")
    assert not made.live(NOW + 600, "this-session")
    assert not made.live(NOW + 1, "the-next-session")
    assert not made.live(NOW - 1, "this-session")


def test_a_clock_set_back_brings_no_expired_grant_to_life(places: Places, clock: Clock) -> None:
    async def work() -> None:
        grants = Grants(places, clock)
        await grants.add(grant())
        clock.at = NOW + 700
        assert grants.all() == ()
        clock.at = NOW + 1
        assert grants.all() == (), "in this process"
        clock.at = NOW + 700
        await grants.note_time()
        clock.at = NOW + 1
        assert Grants(places, clock).all() == (), "and in the next one"

    asyncio.run(work())


@pytest.mark.parametrize("text", ["", "{", '{"latest": "x"}', '{"latest": 1e300}', '{"latest": -1}', "[" * 100_000])
def test_a_time_that_cannot_be_read_leaves_what_the_grants_say(places: Places, clock: Clock, text: str) -> None:
    asyncio.run(Grants(places, clock).add(grant()))
    places.grants_time.write_text(text)
    clock.at = NOW - 1000
    assert len(Grants(places, clock).all()) == 1, "it was made at a later time, so that is the time"
    clock.at = NOW + 700
    assert Grants(places, clock).all() == ()


def test_the_time_is_not_kept_where_nothing_ends(places: Places, clock: Clock) -> None:
    """A clock that was once years ahead must not count for ever."""

    async def work() -> None:
        grants = Grants(places, clock)
        await grants.add(grant(KIND, INFO, MEDIUM))
        await grants.note_time()
        assert not places.grants_time.exists()

    asyncio.run(work())


# ---- the file ----


def test_it_is_kept_and_read_again_and_nobody_else_may_read_it(places: Places, clock: Clock) -> None:
    made = [grant(), grant(replace(TEXT, everyone=True)), grant(KIND, INFO, MEDIUM)]

    async def keep() -> None:
        for one in made:
            await Grants(places, clock).add(one)

    asyncio.run(keep())
    assert stat.S_IMODE(places.grants.stat().st_mode) == 0o600
    assert set(Grants(places, clock).all()) == set(made)


def test_uses_are_counted_on_disk_and_end(places: Places, clock: Clock) -> None:
    async def use() -> list[Grant | None]:
        grants = Grants(places, clock)
        await grants.add(grant(replace(EXACT, uses=3)))
        first = await grants.claim(CODE, HIGH)
        # As after a crash: only what is on disk counts.
        again = Grants(places, clock)
        both = await asyncio.gather(*(again.claim(CODE, HIGH) for _ in range(4)))
        return [first, *both]

    found = asyncio.run(use())
    assert [one.used if one else None for one in found] == [1, 2, 3, None, None]
    assert Grants(places, clock).find(CODE, HIGH) is None


def test_a_use_that_cannot_be_written_does_not_count(
    places: Places, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    async def use() -> None:
        grants = Grants(places, clock)
        await grants.add(grant())
        monkeypatch.setattr("runner.policy.grantfile.replace_file", full)
        with pytest.raises(KnownError, match="No space left"):
            await grants.claim(CODE, HIGH)
        assert grants.all()[0].used == 0

    asyncio.run(use())


def test_revoked_counts_no_more_even_while_a_use_is_being_written(places: Places, clock: Clock) -> None:
    async def use() -> None:
        grants = Grants(places, clock)
        made = grant()
        await grants.add(made)
        claiming = spawn("claim", grants.claim(CODE, HIGH))
        while not grants._writing.locked():
            await asyncio.sleep(0)
        await grants.revoke((made.name,))
        assert await claiming is None
        assert grants.all() == () and Grants(places, clock).all() == ()

    asyncio.run(use())


def test_the_narrowest_grant_is_used(places: Places, clock: Clock) -> None:
    async def use() -> Grant | None:
        grants = Grants(places, clock)
        for choice in (replace(TEXT, everyone=True), EXACT, TEXT):
            await grants.add(grant(choice))
        return grants.find(CODE, HIGH)

    found = asyncio.run(use())
    assert found is not None and found.subject is Subject.EXACT


def test_an_agent_added_again_under_an_old_name_inherits_nothing(places: Places, clock: Clock) -> None:
    async def use() -> None:
        grants = Grants(places, clock)
        await grants.add(grant())
        assert grants.find(CODE, HIGH, registered=NOW - 1)
        assert grants.find(CODE, HIGH, registered=NOW + 1) is None
        assert await grants.claim(CODE, HIGH, registered=NOW + 1) is None

    asyncio.run(use())


HOST = for_host("claude", Destination("api.example", 8443), "t", NOW, private="")


def test_a_grant_for_a_host_approves_no_request(places: Places) -> None:
    async def use() -> None:
        grants = Grants(places, lambda: NOW)
        await grants.add(HOST)
        for level in Level:
            assert grants.find(CODE, Assessment(level, ("x",))) is None
            assert await grants.claim(CODE, Assessment(level, ("x",))) is None
        assert Subject.HOST not in {one for level in Level for one in offered(CODE, level)}
        with pytest.raises(KnownError):
            make(CODE, HIGH, Choice(Subject.HOST, uses=1, seconds=60), NOW, "s")

    asyncio.run(use())


def test_a_grant_for_a_host_is_its_agents_until_its_time_or_uses_are_over(places: Places) -> None:
    now = NOW

    async def use() -> None:
        nonlocal now
        grants = Grants(places, lambda: now)
        await grants.add(HOST)
        assert grants.hosts("claude") == (HOST,) and grants.hosts("codex") == grants.hosts("") == ()
        assert grants.hosts("claude", registered=NOW + 1) == (), "of an earlier agent of that name"
        (used,) = await grants.use((HOST.name, "unknown"))
        assert (used.used, Grants(places, lambda: now).all()) == (1, (used,)), "on disk when it returns"
        assert await grants.use(()) == ()
        grants._grants = {HOST.name: replace(HOST, used=HOST.uses)}
        assert grants.hosts("claude") == () and await grants.use((HOST.name,)) == ()
        grants._grants = {HOST.name: HOST}
        now = HOST.expires_at
        assert grants.hosts("claude") == ()

    asyncio.run(use())


def test_a_use_of_a_grant_that_is_revoked_while_it_is_written_does_not_count(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def use() -> None:
        grants = Grants(places, lambda: NOW)
        await grants.add(HOST)
        write = grants._write

        async def revoked_meanwhile(table: dict[str, Grant]) -> None:
            await write(table)
            grants._grants = {}

        monkeypatch.setattr(grants, "_write", revoked_meanwhile)
        assert await grants.use((HOST.name,)) == () and grants.all() == ()

    asyncio.run(use())


@pytest.mark.parametrize("change", [{"private": 1}, {"private": None}, {"pattern": "*.example"}, {"agent": ""}])
def test_a_file_with_a_wrong_grant_for_a_host_is_not_read(places: Places, change: dict[str, object]) -> None:
    places.make()
    places.grants.write_text(json.dumps({"schema": 1, "grants": [{**plain(HOST), **change}]}))
    places.grants.chmod(0o600)
    assert Grants(places, lambda: NOW).problem
    places.grants.write_text(json.dumps({"schema": 1, "grants": [plain(HOST)]}))
    assert Grants(places, lambda: NOW).all() == (HOST,)


def _tampered(**changed: Any) -> str:
    return json.dumps({"schema": 1, "grants": [{**plain(grant()), **changed}]})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": 1}',
        '{"schema": 2, "grants": []}',
        '{"schema": 1, "grants": [{}]}',
        '{"schema": 1, "grants": [7]}',
        json.dumps({"schema": 1, "grants": [plain(grant())] * 2}).replace("NaN", "1"),
        _tampered(level="CRITICAL"),
        _tampered(level="SEVERE"),
        _tampered(uses=10_000),
        _tampered(uses=True),
        _tampered(used=-1),
        _tampered(used=0.5),
        _tampered(expires_at=0),
        _tampered(expires_at=float("nan")),
        _tampered(made_at="1"),
        _tampered(last_used=10**400),
        _tampered(digest="x"),
        _tampered(agent=""),
        _tampered(agent=None),
        _tampered(subject="kind"),
        _tampered(more=1),
        _tampered(limits={"seconds": "1"}),
        _tampered(limits={"seconds": float("nan")}),
        _tampered(touch={"files": [1]}),
        "[" * 100_000,
    ],
)
def test_a_broken_file_means_no_grants_and_says_so(places: Places, text: str) -> None:
    places.grants.write_text(text)
    places.grants.chmod(0o600)
    grants = Grants(places)
    assert grants.all() == ()
    assert "cannot be read" in grants.problem and "Nothing is remembered" in grants.problem


def test_a_file_that_others_may_write_is_not_believed(places: Places, clock: Clock) -> None:
    asyncio.run(Grants(places, clock).add(grant()))
    os.chmod(places.grants, 0o666)
    grants = Grants(places, clock)
    assert grants.all() == () and "others may write" in grants.problem


def test_a_broken_file_is_set_aside_and_never_overwritten(places: Places, clock: Clock) -> None:
    places.grants.write_text("{")
    places.grants.chmod(0o600)

    async def use() -> None:
        grants = Grants(places, clock)
        with pytest.raises(KnownError, match="cannot be read"):
            await grants.add(grant())
        assert places.grants.read_text() == "{"
        await grants.start_again()
        assert grants.problem == ""
        await grants.add(grant())

    asyncio.run(use())
    (aside,) = places.config.glob("grants.json.unreadable-*")
    assert aside.read_text() == "{"


def test_what_is_made_is_allowed() -> None:
    assert forbidden(grant()) == forbidden(grant(KIND, INFO, MEDIUM)) == ""


@pytest.mark.parametrize(
    ("tool", "path", "pattern"),
    [
        (Tool.CODE_READ_FILE, "data/a.csv", "data/*.csv"),
        (Tool.CODE_READ_FILE, "a.tar.gz", "*.gz"),
        (Tool.CODE_READ_FILE, "Makefile", "*"),
        (Tool.CODE_WRITE_FILE, "x/.env", "x/.env"),
        (Tool.CODE_LIST_FILES, "data", "data"),
        (Tool.CODE_LIST_FILES, ".", "."),
    ],
)
def test_a_pattern_is_the_folder_and_the_ending(tool: Tool, path: str, pattern: str) -> None:
    request = Request("1", "claude", tool, 0.0, files=(path,), sandbox="s")
    assert pattern_of(request) == pattern
    assert fits(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("data/*.csv", "data/.csv"), ("data/*.csv", "data/x/a.csv"), ("data/*.csv", "a.csv"), ("*", "a/b"),
     ("*", "a.sh"), ("*", ".bashrc"), ("data/*.csv", "data/a.csvx"), ("a*b", "axb"), ("data", "data/x")],
)  # fmt: skip
def test_a_pattern_means_no_more_than_it_says(pattern: str, path: str) -> None:
    assert not fits(pattern, path)


@pytest.mark.parametrize(
    ("remembered", "path", "covered"),
    [
        ("data/a.csv", "data/b.csv", True),
        ("data/a.json", "data/b.json", True),
        ("notes.md", "todo.md", True),
        ("data/a.json", "data/package.json", False),
        ("data/a.json", "data/Package.JSON", False),
        ("a.json", "tsconfig.build.json", False),
        ("a.json", "tasks.json", False),
        ("a.txt", "requirements-dev.txt", False),
        ("a.txt", "CMakeLists.txt", False),
        ("notes.md", "CLAUDE.md", False),
        ("notes.md", "AGENTS.md", False),
        ("notes", "Makefile", False),
        ("hooks/readme", "hooks/pre-commit", False),
        ("conf/a.toml", "conf/pyproject.toml", False),
        ("a.yaml", ".pre-commit-config.yaml", False),
        ("a.yaml", "docker-compose.yaml", False),
        ("a.ini", "pytest.ini", False),
        ("a.pth", "b.pth", False),
        ("a.so", "b.so", False),
        ("a.ts", "webpack.config.ts", False),
        ("a.service", "b.service", False),
        (".git/info/a.txt", ".git/info/b.txt", False),
        ("package.json", "package.json", True),
        ("Makefile", "Makefile", True),
    ],
)
def test_what_a_tool_may_run_is_written_under_its_own_name_only(remembered: str, path: str, covered: bool) -> None:
    wanted = Request("1", "claude", Tool.CODE_WRITE_FILE, 0.0, files=(remembered,), sandbox="s")
    made = make(wanted, MEDIUM, Choice(Subject.FILES, uses=9, seconds=60), NOW, "this-session")
    assert made.covers(replace(wanted, files=(path,)), MEDIUM) is covered


def test_a_name_with_a_star_is_asked_every_time() -> None:
    request = Request("1", "claude", Tool.CODE_LIST_FILES, 0.0, files=("*",), sandbox="s")
    assert offered(request, Level.MEDIUM) == ()
    assert offered(replace(request, files=("a",)), Level.MEDIUM) == (Subject.FILES,)
    assert offered(replace(request, files=("a",)), Level.HIGH) == ()


def test_other_values_of_what_was_not_read_whole_are_asked() -> None:
    with pytest.raises(KnownError, match="Not read whole: Calls toolbox"):
        make(CODE, UNREAD, SHAPE, NOW, "s", digits)
    made = make(CODE, READS, SHAPE, NOW, "s", digits)
    assert made.covers(replace(CODE, code="print(2)"), READS, digits)
    assert not made.covers(replace(CODE, code="print(2)"), UNREAD, digits)
    assert not made.covers(replace(CODE, code="print(2)"), replace(READS, unread=None), digits)


@pytest.mark.parametrize("subject", Subject)
def test_nothing_is_remembered_of_a_run_over_a_working_copy(subject: Subject) -> None:
    """What lies in it may be another thing the next time, and what was approved had a workspace without any files."""
    over = replace(CODE, work=WorkPlace("project-1", "/project"))
    assert offered(over, Level.HIGH) == offered(over, Level.LOW) == ()
    with pytest.raises(KnownError, match="may have changed"):
        grant(Choice(subject, uses=10), over)


def test_no_grant_covers_a_run_over_a_working_copy() -> None:
    over = replace(CODE, work=WorkPlace("project-1", "/project"))
    for choice in (EXACT, TEXT):
        assert grant(choice).covers(CODE, HIGH)
        assert not replace(grant(choice), digest=over.digest).covers(over, HIGH)
        assert not grant(choice).covers(over, HIGH)
