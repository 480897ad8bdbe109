"""Programs at work, put together from what the ledger says of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from runner.audit.history.filter import Filter
from runner.audit.history.past_work import COMMAND, HOST, PastWork
from runner.audit.history.search import History
from runner.model.assessment import Level
from tests.audit.story import approved, request, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.audit.story import Told


def told(name: str = "shop-1a2b3c", *, ended: bool = True, at: float = 1000.0) -> list[Told]:
    """Return the entries of a session of an hour: four commands, of which one was held, and one not run."""
    about: dict[str, Any] = {"name": name, "project": "/home/me/shop", "client": "claude-code"}
    commands = [
        {"number": 1, "at": at + 1, "text": "make test", "sentence": "Runs tests.", "level": "LOW"},
        {"number": 2, "at": at + 2, "text": 'echo "\\"held\\":true"', "level": "LOW"},
        {"number": 3, "at": at + 3, "text": "rm -rf ~", "level": "CRITICAL", "held": True},
        {"number": 4, "at": at + 1800, "text": "curl Ähren.example", "refused": "No rule allows it."},
    ]
    hosts = [{"host": "evil.example", "port": 443, "allowed": False, "why": "not allowed", "times": 3}]
    number = "0123456789abcdef"
    first: list[Told] = [
        ("work-started", "", {**about, "program": ["claude"], "hosts": ["api.example"], "at": at, "upto": 1}),
        ("work-seen", "", {**about, "agent": "claude", "commands": commands, "hosts": hosts, "at": at + 1, "upto": 5}),
        ("work-answer", "", {**about, "number": 3, "run": False, "why": "no"}),
        ("work-seen", "", {**about, "answered": [{"number": 3, "run": False, "why": "no"}], "at": at + 9, "upto": 6}),
    ]
    last: list[Told] = [
        ("work-ended", "", {**about, "code": 0, "why": "", "at": at + 3600, "upto": 9}),
        ("work-apply", "", {"name": name, "number": number, "project": "/home/me/shop", "changes": 2}),
        ("work-applied", "", {"name": name, "number": number, "project": "/home/me/shop", "paths": 2}),
        ("work-undone", "", {"name": name, "number": number, "project": "/home/me/shop", "paths": 1}),
    ]
    return [*first, *last] if ended else first


def test_a_session_is_what_its_entries_say_together(tmp_path: Path) -> None:
    write(tmp_path / "l.db", [*approved(request("r1")), *told(), ("work-host-forgotten", "", {"project": "/p"})])
    history = History(tmp_path / "l.db")
    (one,) = history.sessions()
    assert (one.name, one.project, one.program, one.who) == ("shop-1a2b3c", "/home/me/shop", ("claude",), "claude")
    assert (one.started_at, one.ended_at, one.code) == (1000.0, 4600.0, 0)
    assert (one.commands, one.held, one.refused, one.hosts_refused) == (4, 1, 2, 1)
    assert (one.applied, one.undone, one.discarded) == (2, 1, False)
    began, answered = one.days
    assert (began.let_run, began.turned_down, began.not_run, began.hosts) == (0, 0, 1, ("evil.example",))
    assert (answered.let_run, answered.turned_down, answered.not_run) == (0, 1, 0) and answered.day > began.day
    assert [row.id for row in history.page()] == ["r1"], "a session is no request, and none is counted twice"
    steps = history.session_steps(one.id)
    assert [step.kind for step in steps][:6] == ["work-started", *[COMMAND] * 4, HOST]
    assert [step.facts.get("text") for step in steps][1:3] == ["make test", 'echo "\\"held\\":true"']
    assert steps[4].at == 2800.0
    history.close()


def test_a_session_without_an_end_has_none(tmp_path: Path) -> None:
    """What kill -9 leaves is no session that goes on: whoever asks is told that there is no end."""
    write(tmp_path / "l.db", told(ended=False))
    history = History(tmp_path / "l.db")
    (one,) = history.sessions()
    assert (one.recorded, one.ended_at, one.last_at) == (True, None, 2800.0)
    history.close()


def test_entries_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    """They do not say when each command was, nor to which agent it belonged."""
    about: dict[str, Any] = {"name": "shop-1", "project": "/p/shop", "client": ""}
    seen = {**about, "commands": [{"number": 1, "text": "ls"}, "damaged"], "at": 5.0, "upto": 1, "hosts": 7}
    entries: list[Told] = [
        ("work-started", "", {**about, "program": ["/usr/bin/bash"], "at": 4.0, "upto": 1}),
        ("work-seen", "", seen),
        ("work-applied", "", {"name": "other-2", "project": "/p/other", "number": "n", "paths": 3}),
    ]
    write(tmp_path / "l.db", entries)
    history = History(tmp_path / "l.db")
    tried, session = history.sessions()
    assert (session.who, session.commands, session.last_at) == ("bash", 2, 5.0)
    assert (tried.recorded, tried.applied, tried.project) == (False, 3, "/p/other")
    history.close()


def test_numbers_that_are_none_do_not_hide_what_happened(tmp_path: Path) -> None:
    about = {"name": "shop-1", "project": "/p"}
    seen = {**about, "commands": [{"number": {}, "text": "ls"}], "answered": [{"number": []}], "at": 5.0, "upto": 1}
    entries: list[Told] = [("work-started", "", {**about, "at": 4.0, "upto": 1}), ("work-seen", "", seen)]
    write(tmp_path / "l.db", entries)
    history = History(tmp_path / "l.db")
    (one,) = history.sessions()
    assert [step.facts.get("text") for step in history.session_steps(one.id)][1:] == ["ls"]
    history.close()


def test_sessions_are_found_by_words_agent_and_time(tmp_path: Path) -> None:
    write(tmp_path / "l.db", [*told(), *told("site-2", at=90_000.0)])
    history = History(tmp_path / "l.db")

    def found(**wanted: Any) -> list[str]:
        return [one.name for one in history.sessions(Filter(**wanted))]

    assert found() == ["site-2", "shop-1a2b3c"]
    assert found(text="MAKE shop-1a") == ["shop-1a2b3c"], "a word of the name, and one of a command"
    assert found(text='"rm -rf"') == ["site-2", "shop-1a2b3c"]
    assert found(text="ähren") == ["site-2", "shop-1a2b3c"], "other letters are escaped in the body"
    assert found(text="nowhere") == []
    assert found(agent="claude", until=50_000.0) == ["shop-1a2b3c"]
    assert found(agent="codex") == found(level=Level.LOW) == found(host="evil.example") == []
    assert [one.name for one in history.sessions(limit=1)] == ["site-2"]
    newest = history.sessions()[0]
    assert [one.name for one in history.sessions(before=newest.seq)] == ["shop-1a2b3c"]
    history.close()


def test_only_what_is_new_is_read_again_and_another_ledger_whole(tmp_path: Path) -> None:
    write(tmp_path / "l.db", told(ended=False))
    work = PastWork()
    with_words = Filter(text="marker")
    for name, entries, expected in (
        ("l.db", [], []),
        ("l.db", [("work-seen", "", {"name": "shop-1a2b3c", "commands": [{"number": 5, "text": "marker"}]})], [5]),
        ("m.db", told("other-3"), []),
    ):
        write(tmp_path / name, entries)
        history = History(tmp_path / name, work)
        assert [one.commands for one in history.sessions(with_words)] == expected
        history.close()
    history = History(tmp_path / "m.db", work)
    assert [one.name for one in history.sessions()] == ["other-3"]
    history.close()


def test_a_hundred_thousand_commands_are_listed_as_fast_as_few(tmp_path: Path) -> None:
    """Commands share entries and are counted together: compared with reading each, on the same machine."""
    about: dict[str, Any] = {"name": "long-1", "project": "/p", "client": "c"}
    entries: list[Told] = [("work-started", "", {**about, "program": ["c"]})]
    for first in range(0, 100_000, 200):
        named = [{"number": n, "text": f"echo {n}"} for n in range(first, first + 200)] if first < 20_000 else []
        more = {} if named else {"commands_not_named": 200}
        entries.append(("work-seen", "", {**about, "commands": named, **more}))
    write(tmp_path / "l.db", entries)
    history = History(tmp_path / "l.db")
    history.sessions()
    began = time.perf_counter()
    steps = history.session_steps(history.sessions()[0].id)
    whole = time.perf_counter() - began
    began = time.perf_counter()
    (one,) = history.sessions()
    again = time.perf_counter() - began
    assert (one.commands, sum(step.kind == COMMAND for step in steps)) == (100_000, 20_400)
    assert again < whole / 10
    history.close()
