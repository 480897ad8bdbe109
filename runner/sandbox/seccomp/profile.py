"""Reads a seccomp profile in Docker's JSON form into what it says of each system call on this machine.

The form: https://docs.docker.com/engine/security/seccomp/ and `types.go` of github.com/moby/profiles/seccomp. What is
not known there is refused and not passed over, since a name that is spelled wrong would forbid nothing.
"""

from __future__ import annotations

import json
import platform
import re
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_RULES = 5000
"""Most pairs of a rule and a name; Docker's own profile has some 450."""
MACHINES = {"x86_64": ("amd64", "SCMP_ARCH_X86_64"), "aarch64": ("arm64", "SCMP_ARCH_AARCH64")}
"""What Go, and what libseccomp call the machine."""
ALLOWING = frozenset({"SCMP_ACT_ALLOW", "SCMP_ACT_LOG"})
FORBIDDING = frozenset(
    {"SCMP_ACT_ERRNO", "SCMP_ACT_KILL", "SCMP_ACT_KILL_THREAD", "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_TRAP"}
)
UNANSWERED = frozenset({"SCMP_ACT_NOTIFY", "SCMP_ACT_TRACE"})
"""They leave the answer to another program; there is none."""
COMPARISONS = ("NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ")
NOT_PERMITTED, MOST_ERRNO = 1, 4095
ARGUMENTS = 6
TOP = frozenset({"defaultAction", "defaultErrnoRet", "archMap", "architectures", "syscalls", "comment", "flags"})
RULE = frozenset({"name", "names", "action", "errnoRet", "args", "comment", "includes", "excludes"})
CONDITION = frozenset({"index", "value", "valueTwo", "op"})
FILTER = frozenset({"caps", "arches", "minKernel"})
REMEDY = "Correct the profile, or take it out of the settings."
_CALL = re.compile(r"[a-z_][a-z0-9_]{0,63}", re.ASCII)
_KERNEL = re.compile(r"(\d{1,4})\.(\d{1,4})", re.ASCII)


class UnusableProfile(KnownError):
    """The profile cannot count, and why."""

    def __init__(self, what: str, remedy: str = REMEDY) -> None:
        super().__init__(what, remedy)


@dataclass(frozen=True, slots=True, order=True)
class ArgumentTest:
    """One comparison of an argument of a call, as libseccomp makes it: of all 64 bits, without a sign."""

    index: int
    op: str
    """One of `COMPARISONS`."""
    value: int
    """For MASKED_EQ the mask."""
    two: int = 0
    """For MASKED_EQ what is left then; else it says nothing."""

    def holds(self, given: int) -> bool:
        """Return whether it holds where the argument is `given`."""
        match self.op:
            case "NE":
                return given != self.value
            case "LT":
                return given < self.value
            case "LE":
                return given <= self.value
            case "EQ":
                return given == self.value
            case "GE":
                return given >= self.value
            case "GT":
                return given > self.value
            case _:
                return given & self.value == self.two


ArgumentTests = frozenset[ArgumentTest]
"""All of them have to hold."""


@dataclass(frozen=True, slots=True)
class SeccompAction:
    name: str
    errno: int | None = None
    """What a call that is refused with an error says."""

    @property
    def allows(self) -> bool:
        return self.name in ALLOWING


class CallPermission(Enum):
    """What a profile says of one call."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    SOMETIMES = "allowed under conditions"


@dataclass(frozen=True, slots=True)
class CallVerdict:
    """One call."""

    permission: CallPermission
    action: SeccompAction
    when: tuple[ArgumentTests, ...] = ()
    """For SOMETIMES: it is allowed where one of these holds."""


@dataclass(frozen=True, slots=True)
class SeccompProfile:
    """What a profile says on this machine, to a program without capabilities."""

    default: SeccompAction
    calls: Mapping[str, CallVerdict] = field(default_factory=dict)
    """The calls that it names."""


def read(data: bytes, name: str, machine: str = "", kernel: str = "") -> SeccompProfile:
    """Return the profile `data`; `name` is its name in messages. By default for this machine and its kernel.

    Raises UnusableProfile.
    """
    return _Reader(name, machine or platform.machine(), kernel or platform.release()).profile(data)


class _Reader:
    """One reading."""

    def __init__(self, name: str, machine: str, kernel: str) -> None:
        self._name = name
        self._machine = machine
        self._kernel = _version(kernel)

    def profile(self, data: bytes) -> SeccompProfile:
        root = self._mapping(self._json(data), "", TOP)
        if "defaultAction" not in root:
            self._refuse("it is no seccomp profile: it has no defaultAction")
        if root.get("flags"):
            self._refuse("it sets flags, which Assent does not take")
        default = self._action(root["defaultAction"], root.get("defaultErrnoRet"), "defaultAction")
        self._require_machine(root)
        found: dict[str, dict[ArgumentTests, SeccompAction]] = {}
        rules = 0
        for number, raw in enumerate(self._list(root.get("syscalls"), "syscalls"), 1):
            names, conditions, action, counts = self._rule(raw, f"rule {number}")
            rules += len(names)
            if rules > MOST_RULES:
                self._refuse(f"it has more than {MOST_RULES:,} rules")
            for call in names if counts else ():
                if found.setdefault(call, {}).setdefault(conditions, action) != action:
                    self._refuse(f"it says two things of {call}: {action.name}, and another action as well")
        calls = {call: self._call(call, said, default) for call, said in found.items()}
        return SeccompProfile(default, calls)

    def _call(self, name: str, said: Mapping[ArgumentTests, SeccompAction], default: SeccompAction) -> CallVerdict:
        """Return what the rules of one call come to."""
        if len(set(said.values())) > 1:
            self._refuse(f"it both allows and forbids {name}, or forbids it in two ways, by its arguments")
        action = next(iter(said.values()))
        if frozenset() in said:
            return CallVerdict(CallPermission.ALLOWED if action.allows else CallPermission.FORBIDDEN, action)
        if not action.allows or default.allows:
            self._refuse(
                f"it forbids {name} by its arguments"
                if not action.allows
                else f"it allows {name} by its arguments, and every call in any case",
                "Say with which arguments it is allowed, and take an action that forbids as defaultAction.",
            )
        return CallVerdict(CallPermission.SOMETIMES, action, tuple(sorted(said, key=sorted)))

    # ---- one rule ----

    def _rule(self, raw: object, where: str) -> tuple[tuple[str, ...], ArgumentTests, SeccompAction, bool]:
        """Return names, conditions and action of a rule, and whether it counts here."""
        rule = self._mapping(raw, where, RULE)
        names = [*self._list(rule.get("names"), f"names of {where}"), *([rule["name"]] if rule.get("name") else [])]
        if not names or (rule.get("name") and rule.get("names")):
            self._refuse(f"{where} needs names, or one name")
        for one in names:
            if not isinstance(one, str) or not _CALL.fullmatch(one):
                self._refuse(f"{where}: {_short(one)} is the name of no system call")
        action = self._action(rule.get("action"), rule.get("errnoRet"), where)
        conditions = [self._condition(one, where) for one in self._list(rule.get("args"), f"args of {where}")]
        if len({one.index for one in conditions}) < len(conditions):
            # Docker makes rules of their own of these, of which one is enough.
            self._refuse(f"{where} has two conditions for one argument", "Write a rule for each.")
        only, never = (self._filter(rule.get(one), f"{one} of {where}") for one in ("includes", "excludes"))
        counts = self._matches(only, every=True) and not self._matches(never, every=False)
        return tuple(names), frozenset(conditions), action, counts

    def _condition(self, raw: object, where: str) -> ArgumentTest:
        given = self._mapping(raw, f"args of {where}", CONDITION)
        op = given.get("op")
        if not isinstance(op, str) or op.removeprefix("SCMP_CMP_") not in COMPARISONS:
            self._refuse(f"{where}: {_short(op)} is no comparison of an argument")
        index = self._whole(given.get("index"), ARGUMENTS - 1, f"{where}: the index of an argument")
        value, two = (
            self._whole(given.get(one, 0), (1 << 64) - 1, f"{where}: {one} of an argument")
            for one in ("value", "valueTwo")
        )
        op = op.removeprefix("SCMP_CMP_")
        return ArgumentTest(index, op, value, two if op == "MASKED_EQ" else 0)

    def _action(self, raw: object, errno: object, where: str) -> SeccompAction:
        if isinstance(raw, str) and raw in UNANSWERED:
            self._refuse(f"{where}: {raw} leaves the answer to another program, and there is none")
        if not isinstance(raw, str) or raw not in ALLOWING | FORBIDDING:
            self._refuse(f"{where}: {_short(raw)} is no action")
        if raw != "SCMP_ACT_ERRNO":
            return SeccompAction(raw)
        number = NOT_PERMITTED if errno is None else self._whole(errno, MOST_ERRNO, f"errnoRet of {where}")
        return SeccompAction(raw, number)

    # ---- what counts here ----

    def _filter(self, raw: object, where: str) -> Mapping[str, Any]:
        given = self._mapping({} if raw is None else raw, where, FILTER)
        texts = {one: self._list(given.get(one), f"{one}: {where}") for one in ("caps", "arches")}
        if any(not isinstance(text, str) for listed in texts.values() for text in listed):
            self._refuse(f"{where} needs texts")
        least = given.get("minKernel")
        if least and (not isinstance(least, str) or not _KERNEL.fullmatch(least)):
            self._refuse(f"{where}: {_short(least)} is no version of a kernel")
        return {**texts, "minKernel": least}

    def _matches(self, given: Mapping[str, Any], *, every: bool) -> bool:
        """Return whether all of it holds here, or any of it. Code has no capabilities, in every sandbox."""
        said = []
        if given["caps"]:
            said.append(False)
        if given["arches"]:
            said.append(MACHINES.get(self._machine, ("",))[0] in given["arches"])
        if given["minKernel"]:
            said.append(self._kernel >= _version(given["minKernel"]))
        return all(said) if every else any(said)

    def _require_machine(self, root: Mapping[str, Any]) -> None:
        named = [*self._list(root.get("architectures"), "architectures")]
        for one in self._list(root.get("archMap"), "archMap"):
            pair = self._mapping(one, "archMap", frozenset({"architecture", "subArchitectures"}))
            named.append(pair.get("architecture"))
        if named and MACHINES.get(self._machine, ("", ""))[1] not in named:
            self._refuse(f"it says nothing for this machine, which is {self._machine}")

    # ---- JSON ----

    def _json(self, data: bytes) -> object:
        try:
            return json.loads(data.decode("utf-8-sig"), object_pairs_hook=self._pairs, parse_constant=self._constant)
        except UnicodeDecodeError:
            self._refuse("it is not UTF-8 text")
        except RecursionError:
            self._refuse("it is nested too deeply")
        except json.JSONDecodeError as error:
            self._refuse(f"it is not JSON, see line {error.lineno}")
        except ValueError:  # a number of thousands of digits
            self._refuse("it holds a number that is too large")

    def _pairs(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, value in pairs:
            if name in found:
                self._refuse(f"it has {_short(name)} twice in one place")
            found[name] = value
        return found

    def _constant(self, text: str) -> NoReturn:
        self._refuse(f"it is not JSON: {text} is no number")

    def _mapping(self, raw: object, where: str, known: frozenset[str]) -> Mapping[str, Any]:
        at = where or "the file"
        if not isinstance(raw, dict):
            self._refuse("it is no seccomp profile" if not where else f"{at} must be an object with names")
        if strange := next((name for name in raw if name not in known), None):
            self._refuse(f"{at} has {_short(strange)}, which Assent does not know")
        return raw

    def _list(self, raw: object, where: str) -> list[Any]:
        if raw is None:
            return []
        if not isinstance(raw, list):
            self._refuse(f"{where} must be a list")
        return raw

    def _whole(self, raw: object, most: int, what: str) -> int:
        if not isinstance(raw, int) or isinstance(raw, bool) or not 0 <= raw <= most:
            self._refuse(f"{what} is not between 0 and {most:,}")
        return raw

    def _refuse(self, why: str, remedy: str = REMEDY) -> NoReturn:
        raise UnusableProfile(f"The seccomp profile {self._name} does not count: {why}.", remedy)


def _version(text: str) -> tuple[int, int]:
    found = _KERNEL.match(text)
    return (0, 0) if found is None else (int(found[1]), int(found[2]))


def _short(raw: object) -> str:
    text = repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}..."
