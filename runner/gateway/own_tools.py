"""The tool `approve`: a client asks before it uses a tool of its own, and gets yes or no in the form it knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from runner.gateway import catalog
from runner.gateway.arguments import Arguments
from runner.gateway.replies import Reply
from runner.model.decision import Verdict
from runner.model.errors import Refused
from runner.requests.client_tools import client_submission

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.answer import Answer
    from runner.model.submission import Submission

NOBODY = "Nobody has answered in time. Nothing was run. Ask again later, or do without."

TOO_LATE = "The agent's program waits no longer."
MAY_HAVE_RUN = "The agent's program no longer waits for an answer; it may have run this."
"""Of one that went away: some run their tool where the answer takes too long."""


def own_submission(agent: str, given: Mapping[str, object] | None) -> Submission:
    """Return the submission of a call of `approve`. Raises Refused."""
    arguments = Arguments(catalog.APPROVE, given)
    values = arguments.table("input")
    if values is None:
        raise Refused("input is missing.", "Send what the tool would be called with.")
    return client_submission(agent, arguments.required("tool_name"), values, arguments.text("folder") or "")


def is_of_assent(given: Mapping[str, object] | None) -> bool:
    """Return whether a call of `approve` is about a tool of Assent, which asks for itself."""
    return str((given or {}).get("tool_name", "")) in catalog.OWN_NAMES


def allowed(given: Mapping[str, object] | None) -> Reply:
    """Return the reply that lets the client use its tool as it said it would."""
    return _reply({"behavior": "allow", "updatedInput": (given or {}).get("input") or {}})


def denied(why: str) -> Reply:
    return _reply({"behavior": "deny", "message": why})


def decided(answer: Answer, given: Mapping[str, object] | None) -> Reply:
    """Return the reply with the decision of a person or a rule."""
    if answer.decision.verdict is Verdict.APPROVED and not answer.problem:
        return allowed(given)
    return denied(answer.text())


def _reply(data: dict[str, object]) -> Reply:
    """Return a reply of text alone: it is what clients read a permission from."""
    return Reply(json.dumps(data, ensure_ascii=False), {})
