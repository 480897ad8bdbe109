"""Makes one filter of a profile and Assent's own: the profile narrows, and widens by calls that a person named alone.

A call goes through where both let it through. So nothing that the profile says, and nothing that is overlooked in it,
opens what Assent's own keeps closed: another interface of the kernel, another kind of socket, a namespace.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from runner.model.errors import KnownError
from runner.sandbox.programs import seccomp
from runner.sandbox.seccomp.profile import (
    ArgumentTest,
    ArgumentTests,
    CallPermission,
    CallVerdict,
    SeccompAction,
    UnusableProfile,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from runner.sandbox.seccomp.profile import SeccompProfile

NEEDED = ("execve", "exit_group", "mmap", "openat", "read", "write")
"""Without one of these no program starts, says anything or ends."""
ALWAYS: ArgumentTests = frozenset()
SETTING = "security.sandbox.seccomp_allows"


class CallTable(Protocol):
    """What is known of names of calls."""

    def knows(self, name: str) -> bool:
        """Return whether it is the name of a call on any machine."""

    def exists(self, name: str) -> bool:
        """Return whether this machine has the call."""


class WiderProfile(KnownError):
    """The profile allows calls that Assent's own filter forbids, and nobody has said yes to that."""

    def __init__(self, name: str, calls: tuple[str, ...]) -> None:
        one = len(calls) == 1
        what = (
            f"The seccomp profile {name} does not count: it allows {'a call' if one else f'{len(calls)} calls'} that "
            f"Assent's own filter forbids: {', '.join(calls)}."
        )
        super().__init__(what, f"Name {'it' if one else 'them'} in {SETTING} to agree, or take {_it(one)} out.")
        self.calls = calls


def _it(one: bool) -> str:
    return "it" if one else "them"


@dataclass(frozen=True, slots=True)
class SeccompRule:
    """One rule of a filter."""

    names: tuple[str, ...]
    action: SeccompAction
    when: ArgumentTests = ALWAYS


@dataclass(frozen=True, slots=True)
class SeccompFilter:
    """What a profile and Assent's own come to together."""

    default: SeccompAction
    rules: tuple[SeccompRule, ...]
    widened: tuple[str, ...] = ()
    """Calls that Assent's own forbids, that the profile allows and that the person agreed to."""

    def text(self, architectures: Collection[str]) -> str:
        """Return it in Docker's JSON form."""
        made: dict[str, Any] = {
            "defaultAction": self.default.name,
            "archMap": [{"architecture": one, "subArchitectures": []} for one in architectures],
            "syscalls": [_written(rule) for rule in self.rules],
        }
        if self.default.errno is not None:
            made["defaultErrnoRet"] = self.default.errno
        return json.dumps(made, separators=(",", ":"))


def narrowed(profile: SeccompProfile, name: str, agreed: Collection[str], table: CallTable) -> SeccompFilter:
    """Return the filter that is in force with `profile`, whose name in messages is `name`.

    `agreed` are those of the calls that Assent's own forbids which it may allow. Raises WiderProfile, and
    UnusableProfile for one that no program can live with, or that forbids nothing.
    """
    own, refused = _own()
    if profile.default.allows:
        _require_effect(profile, name, table)
    beyond = {call: said for call, said in profile.calls.items() if call not in own and call not in refused}
    wanted = {call: said for call, said in beyond.items() if said.permission is not CallPermission.FORBIDDEN}
    wider = sorted(call for call in wanted if call not in agreed and table.exists(call))
    if wider:
        raise WiderProfile(name, tuple(wider))
    default = SeccompAction("SCMP_ACT_ERRNO", 1) if profile.default.allows else profile.default
    allowed: dict[SeccompAction, dict[ArgumentTests, list[str]]] = {}
    for call, conditions in own.items():
        said = profile.calls.get(call) or CallVerdict(_by_default(profile.default), profile.default)
        action = said.action if said.action.allows else SeccompAction("SCMP_ACT_ALLOW")
        for each in _both(call, said, conditions, name):
            allowed.setdefault(action, {}).setdefault(each, []).append(call)
    widened = tuple(sorted(call for call in wanted if call in agreed))
    for call in widened:
        for each in wanted[call].when or (ALWAYS,):
            allowed.setdefault(wanted[call].action, {}).setdefault(each, []).append(call)
    _require_needed({call for each in allowed.values() for call in each.get(ALWAYS, ())}, name)
    rules = [
        SeccompRule(tuple(calls), action, conditions)
        for action, by_conditions in allowed.items()
        for conditions, calls in by_conditions.items()
    ]
    # Where Assent's own refuses with an error of its own, programs take an older call; at another one they would fail.
    forbidden = refused | {
        call: said.action for call, said in profile.calls.items() if said.permission is CallPermission.FORBIDDEN
    }
    rules += [SeccompRule((call,), action) for call, action in forbidden.items() if action != default]
    return SeccompFilter(default, tuple(rules), widened)


def _own() -> tuple[dict[str, tuple[ArgumentTests, ...]], dict[str, SeccompAction]]:
    """Return the calls that Assent's own filter allows, each with when; and those that it refuses with an error."""
    found: dict[str, list[ArgumentTests]] = {}
    refused: dict[str, SeccompAction] = {}
    for rule in json.loads(seccomp("sandbox.json"))["syscalls"]:
        when = frozenset(
            ArgumentTest(one["index"], one["op"].removeprefix("SCMP_CMP_"), one["value"], one.get("valueTwo", 0))
            for one in rule.get("args", ())
        )
        for name in rule["names"]:
            if rule["action"] == "SCMP_ACT_ALLOW":
                found.setdefault(name, []).append(when)
            else:
                refused[name] = SeccompAction(rule["action"], rule["errnoRet"])
    return {name: tuple(conditions) for name, conditions in found.items()}, refused


def _by_default(default: SeccompAction) -> CallPermission:
    return CallPermission.ALLOWED if default.allows else CallPermission.FORBIDDEN


def _both(call: str, said: CallVerdict, own: tuple[ArgumentTests, ...], name: str) -> Iterable[ArgumentTests]:
    """Return when a call goes through that both allow, each under conditions. Raises UnusableProfile."""
    if said.permission is CallPermission.FORBIDDEN:
        return ()
    if said.permission is CallPermission.ALLOWED:
        return own
    pairs = [_joined(one, other) for one in said.when for other in own]
    found = dict.fromkeys(each for each in pairs if isinstance(each, frozenset))
    if not found and None in pairs:
        raise UnusableProfile(
            f"The seccomp profile {name} does not count: its conditions for {call} cannot be joined with Assent's own.",
            f"Allow {call} without conditions: Assent's own hold in any case.",
        )
    return found


def _joined(one: ArgumentTests, other: ArgumentTests) -> ArgumentTests | bool | None:
    """Return conditions that hold where both do; False where they never do, None where no rule can say it."""
    if other <= one:
        return one
    merged = {each.index: each for each in other}
    for each in one:
        there = merged.get(each.index)
        if there is None or there == each:
            merged[each.index] = each
        elif there.op == "EQ":
            if not each.holds(there.value):
                return False
        elif each.op == "EQ":
            if not there.holds(each.value):
                return False
            merged[each.index] = each
        else:
            return None
    return frozenset(merged.values())


def _require_effect(profile: SeccompProfile, name: str, table: CallTable) -> None:
    """Raise UnusableProfile where a profile that allows by default forbids nothing, or something that nobody knows."""
    forbidden = [call for call, said in profile.calls.items() if said.permission is CallPermission.FORBIDDEN]
    if not forbidden:
        raise UnusableProfile(f"The seccomp profile {name} does not count: it forbids nothing.")
    if unknown := [call for call in forbidden if not table.knows(call)]:
        raise UnusableProfile(
            f"The seccomp profile {name} does not count: it forbids {', '.join(unknown)}, and no system call is known "
            "by that name here.",
            "Correct the name: as it is, nothing would be forbidden by it.",
        )


def _require_needed(there: set[str], name: str) -> None:
    if missing := [call for call in NEEDED if call not in there]:
        raise UnusableProfile(
            f"The seccomp profile {name} does not count: it forbids {', '.join(missing)}, without which no program "
            "starts or ends."
        )


def _written(rule: SeccompRule) -> dict[str, Any]:
    made: dict[str, Any] = {"names": list(rule.names), "action": rule.action.name}
    if rule.action.errno is not None:
        made["errnoRet"] = rule.action.errno
    if rule.when:
        made["args"] = [
            {"index": one.index, "op": f"SCMP_CMP_{one.op}", "value": one.value, "valueTwo": one.two}
            for one in sorted(rule.when)
        ]
    return made
