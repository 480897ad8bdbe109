"""Loads and saves the settings: environment over file over security level over default (spec O1, O6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from runner.model.errors import KnownError
from runner.settings.declared import Settings, declared
from runner.settings.levels import level_values
from runner.system import document
from runner.system.document import Node, Unreadable
from runner.system.durable import replace_file
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from runner.settings.declaration import Declared, Value
    from runner.system.places import Places

__all__ = ["HITL_RULES", "SCHEMA", "Loaded", "SettingSource", "Settings", "declared", "load", "save"]

SCHEMA = 1
HITL_RULES = "security.sandbox.hitl.rules"
HITL_ENABLED = "security.sandbox.hitl.enabled"
CEILINGS = (
    ("timeout_seconds", "max_timeout_seconds"),
    ("memory_mb", "max_memory_mb"),
    ("docker_memory_mb", "max_memory_mb"),
    ("disk_mb", "max_disk_mb"),
    ("max_output_bytes", "max_output_limit_bytes"),
)
PREFIXES = ("ASSENT_", "SANDBOX_")
NOT_SETTINGS = frozenset({"ASSENT_HOME", "ASSENT_TOKEN", "ASSENT_REQUIRE_ALL"})
"""Variables with our prefix that are no settings."""


class SettingSource(StrEnum):
    DEFAULT = "default"
    LEVEL = "security level"
    YAML = "file"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force, and where they come from."""

    settings: Settings
    problems: tuple[str, ...] = ()
    """Errors, one sentence each. While there is one, every request is asked about (spec O6)."""
    remarks: tuple[str, ...] = ()
    """Remarks without effect, one sentence each."""
    sources: Mapping[str, SettingSource] = field(default_factory=dict)
    """Where each field's value comes from."""
    rules: Node | None = None
    """The value of `security.sandbox.hitl.rules`, for `runner.policy.rules`."""

    @property
    def ask_everything(self) -> bool:
        return bool(self.problems)


def load(places: Places, environment: Mapping[str, str]) -> Loaded:
    """Return the settings in force. Never raises: invalid values are left out and reported in `problems`."""
    return _Loading(places.settings.name).run(places, environment)


class _Loading:
    """One reading of file and environment."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._problems: list[str] = []
        self._remarks: list[str] = []
        self._values: dict[str, Value] = {}
        self._sources: dict[str, SettingSource] = {}
        self._where: dict[str, str] = {}
        self._refused: list[tuple[str, Declared]] = []

    def run(self, places: Places, environment: Mapping[str, str]) -> Loaded:
        found = self._found(places)
        self._refuse_unasked(found.get(HITL_ENABLED))
        for one in declared():
            self._sources[one.name] = SettingSource.DEFAULT
            self._from_file(one, found)
            self._from_environment(one, environment)
            if one.idle and self._values.get(one.name, one.default) != one.default:
                self._remarks.append(f"{one.yaml[0]} has no effect: {one.idle}.")
        self._name_strangers(environment)
        self._apply_level()
        self._hold_to_ceilings()
        for problem, one in self._refused:
            kept = one.shown(self._values.get(one.name, one.default))
            self._problems.append(f"{problem}. In its place counts: {kept}.")
        settings = Settings(**self._values)  # type: ignore[arg-type]  # `parse` gave each the type of its field
        rules = found.get(HITL_RULES)
        return Loaded(settings, tuple(self._problems), tuple(self._remarks), self._sources, rules)

    # ---- the file ----

    def _found(self, places: Places) -> dict[str, Node]:
        """Return what the file has, by dotted path."""
        try:
            root = document.read(places.settings)
        except Unreadable as error:
            self._problems.append(error.what)
            return {}
        if root is None:
            return {}
        if foreign := _foreign_schema(root):
            self._problems.append(f"{self._file}, line {foreign[1]}: {foreign[0]}.")
            return {}
        found: dict[str, Node] = {}
        self._walk(root, "", found)
        return found

    def _walk(self, node: Node, prefix: str, found: dict[str, Node]) -> None:
        assert isinstance(node.value, Mapping)
        repeated = dict(node.repeated)
        for key, child in node.value.items():
            path = f"{prefix}{key}"
            if key in repeated:
                # It is unknown which of the two is meant; for a branch the other one may be stricter.
                where = f"{self._file}, line {repeated[key]}"
                self._problems.append(f"{where}: {_short(path)} is there twice, so neither counts.")
            elif "." in key:
                self._problems.append(
                    f"{self._at(child)}: {_short(path)} must be written name below name, without dots."
                )
            elif path in _leaves():
                found[path] = child
            elif path not in _branches():
                self._problems.append(f"{self._at(child)}: {_short(path)} is no setting.{_nearest(path)}")
            elif isinstance(child.value, Mapping):
                self._walk(child, f"{path}.", found)
            elif child.value is not None:
                self._problems.append(f"{self._at(child)}: {path} needs names with values below it.")

    def _from_file(self, one: Declared, found: Mapping[str, Node]) -> None:
        given = [path for path in one.yaml if path in found and found[path].value is not None]
        for path in given[1:]:
            self._remarks.append(f"{self._at(found[path])}: {path} gives way to {given[0]}.")
        if given:
            node = found[given[0]]
            self._take(one, node, f"{self._at(node)}: {given[0]}", SettingSource.YAML)

    def _refuse_unasked(self, node: Node | None) -> None:
        if node is not None and str(node.value).lower() not in ("true", "yes", "on", "1", "none"):
            self._problems.append(
                f"{self._at(node)}: {HITL_ENABLED} cannot be turned off. What may pass unasked is for rules to say."
            )

    def _at(self, node: Node) -> str:
        return f"{self._file}, line {node.line}"

    # ---- the environment ----

    def _from_environment(self, one: Declared, environment: Mapping[str, str]) -> None:
        for name in one.environment:
            if raw := environment.get(name, "").strip():
                self._take(one, raw, name, SettingSource.ENVIRONMENT)
                return

    def _name_strangers(self, environment: Mapping[str, str]) -> None:
        known = {name for one in declared() for name in one.environment} | NOT_SETTINGS
        for name in sorted(environment):
            if name.startswith(PREFIXES) and name not in known:
                self._remarks.append(f"The environment variable {name[:80]} is no setting of Assent.")

    # ---- both ----

    def _take(self, one: Declared, raw: Node | str, where: str, source: SettingSource) -> None:
        try:
            self._values[one.name] = one.parse(_plain(raw) if isinstance(raw, Node) else raw)
        except ValueError as error:
            self._refused.append((f"{where}: {error}", one))
        else:
            self._sources[one.name] = source
            self._where[one.name] = where

    def _apply_level(self) -> None:
        level = str(self._values.get("security_level", Settings().security_level))
        for name, value in level_values(level).items():
            if self._sources[name] is SettingSource.DEFAULT:
                self._values[name] = value
                self._sources[name] = SettingSource.LEVEL

    def _hold_to_ceilings(self) -> None:
        known = {one.name: one for one in declared()}
        for name, ceiling in CEILINGS:
            most: Any = self._values.get(ceiling, known[ceiling].default)
            given: Any = self._values.get(name, known[name].default)
            if given > most:
                if where := self._where.get(name):
                    problem = f"{known[name].shown(given)} is above {known[ceiling].yaml[0]}"
                    self._problems.append(f"{where}: {problem}. In its place counts: {known[name].shown(most)}.")
                self._values[name] = most


# ---- saving ----


def save(places: Places, changes: Mapping[str, object]) -> None:
    """Write `changes` (field to value; None takes the entry out) into the file; everything else in it is unchanged.

    Raises KnownError for an unknown field, a value out of bounds, and a file that cannot be read or written.
    """
    known = {one.name: one for one in declared()}
    values: list[tuple[Declared, Value | None]] = []
    for name, raw in changes.items():
        if name not in known:
            raise KnownError(f"{name} is no setting.", "Look at the list in the help.")
        try:
            values.append((known[name], None if raw is None else known[name].parse(raw)))
        except ValueError as error:
            raise KnownError(f"{name}: {error}.", "Choose another value.") from error
    # A broken file is the person's and is not replaced; one of a later version is not changed.
    if (root := document.read(places.settings)) is not None and (foreign := _foreign_schema(root)):
        raise KnownError(
            f"{places.settings.name}, line {foreign[1]}: {foreign[0]}.",
            "Use the Assent that wrote it, or move it away.",
        )
    try:
        replace_file(places.settings, _rewritten(places, values))
    except OSError as error:
        raise KnownError(
            f"The settings could not be written to {places.settings}: {error.strerror or error}.",
            "Free disk space or give yourself the right to write there, then save again.",
        ) from error


def _rewritten(places: Places, values: Sequence[tuple[Declared, Value | None]]) -> str:
    from io import StringIO

    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.error import YAMLError

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    old = read_file(places.settings).decode("utf-8-sig") if places.settings.exists() else ""
    try:
        root, above = yaml.load(old), ""
    except YAMLError as error:
        # Mostly repeated names: it is unknown which one is to change.
        raise KnownError(document.described(error, places.settings.name), document.REMEDY) from error
    if root is None:
        # The parser drops the comments of a file that has nothing else.
        root, above = CommentedMap(), "".join(line for line in old.splitlines(True) if line.lstrip().startswith("#"))
    if "schema" not in root:
        root.insert(0, "schema", SCHEMA)
    for one, value in values:
        _put(root, one, value, CommentedMap)
    out = StringIO()
    yaml.dump(root, out)
    return above + out.getvalue()


def _put(root: Any, one: Declared, value: Value | None, branch: type) -> None:
    """Set one value in the tree, under the name that the file uses already; None removes every name."""
    present = [path for path in one.yaml if _holder(root, path) is not None]
    if value is None:
        for path in present:
            del _holder(root, path)[path.rpartition(".")[2]]
        return
    *branches, leaf = (present or one.yaml)[0].split(".")
    here = root
    for name in branches:
        if here.get(name) is None:
            here[name] = branch()
        here = here[name]
        if not isinstance(here, Mapping):
            raise KnownError(f"In the settings file {name} has no names below it.", "Correct the file.")
    here[leaf] = list(value) if isinstance(value, tuple) else value


def _holder(root: Any, path: str) -> Any:
    """Return the mapping that has the last name of `path`; None where the file does not have it."""
    *branches, leaf = path.split(".")
    here = root
    for name in branches:
        here = here.get(name) if isinstance(here, Mapping) else None
    return here if isinstance(here, Mapping) and leaf in here else None


# ---- names ----


def _plain(node: Node) -> object:
    """Return a scalar's text or a list of texts. Raises ValueError for anything else."""
    if isinstance(node.value, str):
        return node.value
    if isinstance(node.value, tuple) and all(isinstance(item.value, str) for item in node.value):
        return [item.value for item in node.value]
    raise ValueError("a single value or a list is needed")


@cache
def _leaves() -> frozenset[str]:
    return frozenset({path for one in declared() for path in one.yaml} | {"schema", HITL_RULES, HITL_ENABLED})


@cache
def _branches() -> frozenset[str]:
    return frozenset(".".join(path.split(".")[:depth]) for path in _leaves() for depth in range(1, path.count(".") + 1))


def _nearest(path: str) -> str:
    """Return a question that names what was probably meant; empty where nothing is near."""
    import difflib

    above, _, word = path.rpartition(".")
    known = sorted(_leaves() | _branches())
    beside = {name.rpartition(".")[2]: name for name in known if name.rpartition(".")[0] == above}
    elsewhere = {name.rpartition(".")[2]: name for name in known} | {one.name: one.yaml[0] for one in declared()}
    for names, likeness in ((beside, 0.7), (elsewhere, 0.85)):
        if near := difflib.get_close_matches(word, names, 1, likeness):
            return f" Is {names[near[0]]} meant?"
    return ""


def _short(path: str) -> str:
    """`path` for a sentence: of bounded length, and quoted where it would not read as a name."""
    shown = path if path.isprintable() and path.strip() == path and path else repr(path)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def _foreign_schema(root: Node) -> tuple[str, int] | None:
    """Return what is wrong with the schema of a file, half a sentence, and its line.

    None where it is ours or not said.
    """
    assert isinstance(root.value, Mapping)
    schema = root.value.get("schema")
    if schema is None or schema.value == str(SCHEMA):
        return None
    if isinstance(schema.value, str) and schema.value.isdecimal():
        return f"the file has schema {_short(schema.value)}, this Assent reads schema {SCHEMA}", schema.line
    return f"schema must be {SCHEMA}", schema.line
