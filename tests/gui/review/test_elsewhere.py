"""What is said before the yes of a sandbox that is not on this machine."""

from __future__ import annotations

from dataclasses import replace

from app.review.containment import chips, contained
from runner.model.request import BROUGHT, PROMISED, Isolation, Language, Request, Tool
from runner.model.sent_files import HeldFile, SentFile, SentFiles, listing


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
    env, code = SentFile(".env", 5, "644", "e" * 64), SentFile("a.py", 2000, "644", "a" * 64)
    with_project = replace(there, sends=SentFiles(listing([code]), (HeldFile(env.line, "by its name"),)))
    words = "sent to cloud.example: code, input, 1 file of the project, 2.0 KB; 1 that may hold a secret stays here"
    assert chips(with_project)[0].words == words
    # Other contents, or one file more: another digest.
    assert with_project.sends is not None
    other = replace(with_project.sends, listed=listing([replace(code, sha256="b" * 64)]))
    digests = {
        replace(with_project, sends=one).digest for one in (with_project.sends, other, other.including([".env"]))
    }
    assert len(digests) == 3 and there.digest not in digests
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
