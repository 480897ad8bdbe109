"""Code with stand-ins, in every kind of sandbox in which it may be tried: the same deeds are recorded in each."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from runner.engine.rehearsal.trials import LIMITS
from runner.model.tried import TriedKind
from runner.risk.tried import recorded
from runner.sandbox.trying import program
from tests.patience import HANGS
from tests.sandbox.test_trying import DEEDS, LEAKS, MARK, PACKAGES, SEED, asked

if TYPE_CHECKING:
    from runner.model.request import Language
    from runner.risk.tried import Recorded
    from tests.contract.conftest import Lab

wherever_it_may_be = pytest.mark.parametrize(
    "lab", ["local", "docker", "gvisor", "gvisor-direct"], indirect=True, scope="session"
)


def tried(lab: Lab, language: Language, code: str) -> Recorded:
    """What the record says, within the limits of a trial, with more time: the machine may be busy."""
    limits = asdict(LIMITS) | {"seconds": HANGS}
    return recorded(lab.run(program(language, code, MARK, SEED), language, collect=None, **limits), MARK, SEED)


@wherever_it_may_be
@pytest.mark.parametrize("name", DEEDS)
def test_what_it_asks_for_is_recorded_with_its_arguments(lab: Lab, name: str) -> None:
    language, code, deeds = DEEDS[name]
    found = tried(lab, language, code)
    assert deeds <= asked(found) and not found.ended and not found.remarks, found


@wherever_it_may_be
@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_that_is_not_there_has_a_stand_in(lab: Lab, name: str) -> None:
    language, code, call = PACKAGES[name]
    assert ("call", call) in asked(tried(lab, language, code))


@wherever_it_may_be
@pytest.mark.parametrize("name", LEAKS)
def test_a_decoy_secret_is_followed_to_where_it_goes(lab: Lab, name: str) -> None:
    """Also through a program that turns it round, where the image has none of that name."""
    language, code, place, secret = LEAKS[name]
    found = tried(lab, language, code)
    assert (place, secret) in {(act.target, act.data) for act in found.acts if act.kind is TriedKind.DISCLOSE}, found
