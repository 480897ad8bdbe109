"""Words for what is changed at a service or on a machine: set, opened, scaled or paid, and with which settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.model.verdict import Verb
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE
from runner.risk.trace.remote import gives_rights
from runner.risk.trace.shown import SECRETIVE
from runner.risk.trace.things import package_of
from runner.risk.verdict.destroyed import CAPITALS
from runner.risk.verdict.naming import Named, identifier, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.risk.model.acts import Act
    from runner.risk.model.value import Value
    from runner.risk.rules.targets import Targets

DEEPEST, MOST_LOOKED_AT = 7, 120
LONGEST_SETTING = 34
MOST_GIVEN, MOST_BESIDE = 3, 2
"""Settings that are named of a change, and beside the one that decides."""
TELLS_NOTHING = words(
    "id comment comments description note title label tags caller_reference callerreference requestid clienttoken "
    "idempotencykey callback headers fields projection region per_page page"
)
"""Settings that are for people, or for how something is asked."""
BY_ITSELF = words("days years hours seconds value name count status enabled date effect type")
"""Settings that say little without what they are of."""
PLAIN = expression(r"[\w./:@*+ -]{1,60}")


def configures(act: Act, targets: Targets) -> tuple[Verb, Named]:
    """Return the words for what an act changes."""
    target, where = act.get("target").text, act.get("at").text
    if where == "git":
        return _changes(f"sets {identifier(target)} of git to {quoted(act.get('value').text)}")
    if "copies" in act.fields:
        return _changes(f"copies {quoted(target)} to {quoted(act.get('to').text)}")
    if where in COSTS:
        what = f" ({quoted(target)})" if target.strip(HOLE) else ""
        each = " (again and again)" if is_again(act) else ""
        return _changes(f"{COSTS[where]} by {_call_of(act)}{what}{each}")
    if act.get("opens").text:
        return _changes(_opened(act))
    if where == "devices" and "unguards" in act.fields:
        return _changes(f"ends a protection ({quoted(act.get('unguards').text)})")
    if act.get("password").text:
        return _changes(f"sets passwords of accounts by {identifier(_library_of(act))}")
    return _changes(_changed(act))


def _changes(words: str) -> tuple[Verb, Named]:
    return Verb.CHANGES_SYSTEM, Named(words)


def _opened(act: Act) -> str:
    """Say of what is opened to others, or of who gets every right, by which setting."""
    opens, target, where = act.get("opens").text, act.get("target").text, act.get("at").text
    known = target.strip(HOLE)
    by = f" by {_call_of(act)}"
    others = [one for one in settings_in_words(act.get("with"), target) if opens not in one]
    if gives_rights(opens):
        beside = f", {', '.join(others[:MOST_BESIDE])}" if others else ""
        whom = f"{quoted(target)} every right" if known else f"somebody every right{by}"
        return f"gives {whom} ({quoted(opens)}{beside})"
    where = f"at {quoted(_library_of(act), 30)}" if where == "service" else f"in {where}"
    opened = quoted(target) if known else "each that it finds" if is_again(act) else "something"
    by = by if "." in act.name else ""
    if opens.partition(":")[0].lower() in PUBLIC:
        return f"makes {opened} {where} public{by} ({quoted(opens)})"
    beside = f"{others[0]}, " if others and not known else ""
    return f"opens {opened} {where} to others{'' if known else by} ({beside}{quoted(opens)})"


def _changed(act: Act) -> str:
    """Say what is changed, and with which settings, where they stand in the code."""
    target, where = act.get("target").text, act.get("at").text
    known = target.strip(HOLE)
    by = f" by {_call_of(act)}" if "." in act.name or not known else ""
    if where == "service" or ("." in act.name and where == "the cloud" and not act.name.startswith(CLOUDS)):
        where = f"data at {quoted(_library_of(act), 30)}"
    each = " for each that it finds" if is_again(act) and not known and "with" in act.fields else ""
    given = ([quoted(target)] if known else []) + settings_in_words(act.get("with"), target)
    age = act.get("expires").text
    given = given[: 1 if age else MOST_GIVEN]
    said = f" ({', '.join(given)})" if given else ""
    expires = f", by which it deletes by itself what is old ({quoted(age)})" if age else ""
    return f"changes {where}{by}{each}{said}{expires}"


def _library_of(act: Act) -> str:
    return package_of(act.name.replace("()", ""))


def settings_in_words(given: Value, target: str) -> list[str]:
    """Return settings as `“Action: UPSERT”`, the outer ones first, without one that has the text `target`."""
    found: dict[str, None] = {}
    for key, value in _leaves(given, "", 0, [MOST_LOOKED_AT]):
        known = value.exact or ""
        if not known and value.name in ("True", "False", "true", "false"):
            known = value.name.lower()
        elif not known and value.number is not None:
            known = f"{value.number:g}"
        if (
            SECRETIVE.search(key) is None
            and known
            and known != target
            and HOLE not in known
            and PLAIN.fullmatch(known) is not None
        ):
            found[quoted(f"{key}: {known}" if key else known, LONGEST_SETTING)] = None
    return [*found]


def _leaves(given: Value, key: str, depth: int, left: list[int]) -> Iterator[tuple[str, Value]]:
    left[0] -= 1
    if depth > DEEPEST or left[0] < 0:
        return
    if given.items is None and not given.fields:
        yield key, given
        return
    for one in given.items or ():
        yield from _leaves(one, key, depth + 1, left)
    for name, value in (given.fields or {}).items():
        if name.lower() in TELLS_NOTHING or name == "?":
            continue
        outer = f"{key}.{name}" if key and name.lower() in BY_ITSELF else name
        yield from _leaves(
            value, outer.rpartition(".")[0].rpartition(".")[2] + "." + name if "." in outer else outer, depth + 1, left
        )


CLOUDS = (
    *("@aws-sdk/", "aws-sdk", "@azure/", "@google-cloud/", "@kubernetes/", "@linode/", "@pulumi/", "boto3", "botocore"),
    *("azure", "google", "kubernetes", "ibm", "oci", "openstack", "libcloud", "digitalocean", "hcloud", "cloudflare"),
)
"""What the names of libraries begin with that are for a cloud or a cluster; others are for one service."""


def is_again(act: Act) -> bool:
    """Return whether an act is done in a loop."""
    return "repeated" in act.labels


def _call_of(act: Act) -> str:
    """Name the method by which something is changed; one that says no more than `create` with what it is of."""
    *before, last = act.name.replace("()", "").replace("[]", "").split(".")
    with_owner = before and not CAPITALS.search(last) and "_" not in last and OF_CALL.fullmatch(before[-1]) is not None
    return identifier(f"{before[-1]}.{last}" if with_owner else last)


OF_CALL = expression(r"[A-Za-z]\w{2,40}")
PUBLIC = words("private visibility public is_public acl publicread publicaccess publiclyaccessible")
"""Settings by which something is for everybody to see."""
COSTS = {"payments": "moves money", "rent": "rents machines or names, which costs money,"}
