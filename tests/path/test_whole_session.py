"""A session of 25 calls by real clients: with `assent work` the model is answered what it is answered without.

Two clients, in turn as this account and as an ordinary one; `make bench ARGS=work` has all of them.
"""

from __future__ import annotations

import os

import pytest

from tests.components import require
from tests.path.at_work import CLIENTS, accounts_place, ordinary_account
from tests.path.whole_session import CALLS, DOCS, PACKAGES, compared, require_pip

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize(("name", "is_ordinary"), [("claude-code", True), ("codex", False)])
def test_a_whole_session_is_as_without_assent(name: str, is_ordinary: bool) -> None:
    client = CLIENTS[name]
    require(client.component)
    require("bubblewrap")
    require("node")
    require_pip()
    with accounts_place() as place:
        session = compared(client, place, ordinary_account() if is_ordinary else os.geteuid())
    assert session.differences == {}
    assert len(session.contained) == CALLS
    assert session.held == ()
    assert session.asked == (f"{PACKAGES}:80", f"{DOCS}:80")
    assert session.touched == {}
    assert session.applied == {}
    assert session.undone == {}
