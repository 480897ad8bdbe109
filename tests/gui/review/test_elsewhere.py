"""What is said before the yes of a sandbox that is not on this machine."""

from __future__ import annotations

from dataclasses import replace

from app.review.containment import chips, contained
from runner.model.request import BROUGHT, CARRIED, PROMISED, Isolation, Language, Request, Tool


def test_what_leaves_this_machine_is_the_first_thing_said() -> None:
    there = Request(
        "1",
        "claude",
        Tool.CODE_EXECUTE,
        0.0,
        Language.PYTHON,
        "print(1)",
        isolation=Isolation.E2B,
        protections=(f"{PROMISED}cloud.example", "no network"),
    )
    first, *others = chips(there)
    assert first.words == "sent to cloud.example: code, input, files"
    assert not first.holds, "it is to be looked at"
    assert others[0].words == "Empty sandbox, promised by E2B" and not others[0].holds, "a promise holds nothing"
    with_project = replace(there, protections=(f"{PROMISED}cloud.example", f"{CARRIED}7 files, without .env"))
    assert chips(with_project)[0].words == "sent to cloud.example: code, input, 7 files, without .env"
    # What it is shown for is what the digest covers: another host, another digest.
    assert replace(there, protections=(f"{PROMISED}evil.example", "no network")).digest != there.digest
    assert not any("sent to" in one.words for one in chips(replace(there, isolation=Isolation.GVISOR)))


def test_a_packages_sandbox_is_said_to_be_unchecked_and_holds_nothing() -> None:
    there = Request(
        "1",
        "claude",
        Tool.CODE_EXECUTE,
        0.0,
        Language.PYTHON,
        "print(1)",
        isolation=Isolation.PLUGIN,
        protections=(f"{BROUGHT}tiny of the package tiny 1.0", "promised: no network"),
    )
    words = [one.words for one in chips(there)]
    assert words[:3] == [
        "tiny of the package tiny 1.0: not checked by Assent, may leave this machine",
        "Empty sandbox, promised by its package",
        "no network, promised",
    ]
    assert not any(one.holds for one in chips(there)[:3])
    assert contained(there) is None, "nothing is said to be stopped by it"
