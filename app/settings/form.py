"""The settings that are offered, and what was changed in them but not saved yet."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from app.settings.words import choice, shown_value, title_of
from runner.model import engine_texts
from runner.model.translation import tr
from runner.settings.declared import declared
from runner.settings.levels import level_values
from runner.settings.loading import CEILINGS, SettingSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.settings.declaration import Declared, Value
    from runner.settings.loading import Loaded


class Reset(Enum):
    """Typed in place of a value: take the entry out of the file."""

    RESET = "reset"


class Form:
    """Holds what was typed beside what counts. `environment` is the one that the settings were loaded with."""

    def __init__(self, loaded: Loaded, environment: Mapping[str, str], file: str) -> None:
        self._environment = environment
        self._file = file
        self._typed: dict[str, object] = {}
        self._offered = {one.name: one for one in declared() if not one.idle}
        self.take_over(loaded)

    @property
    def offered(self) -> tuple[Declared, ...]:
        """Settings that do something already, in the order in which they are declared."""
        return tuple(self._offered.values())

    def take_over(self, loaded: Loaded) -> None:
        """Take over the values in force. What was typed stays where it still differs."""
        self.loaded = loaded
        typed, self._typed = self._typed, {}
        for name, raw in typed.items():
            self.put(name, raw)

    # ---- typing ----

    def put(self, name: str, raw: object) -> None:
        """Note that `raw` was typed for `name`; a value in force already is no change."""
        if self.fixed(name) or self._counts_already(name, raw):
            self._typed.pop(name, None)
        else:
            self._typed[name] = raw

    def reset(self, name: str) -> None:
        """Go back to the value without an entry in the file."""
        self.put(name, Reset.RESET)

    def revert(self) -> None:
        """Forget all that was typed."""
        self._typed.clear()

    @property
    def changes(self) -> dict[str, object]:
        """What is to be saved: None takes an entry out of the file."""
        return {name: None if raw is Reset.RESET else raw for name, raw in self._typed.items()}

    @property
    def wrong(self) -> tuple[str, ...]:
        """Names of settings that cannot be saved as typed."""
        return tuple(name for name in self._offered if self.error(name))

    # ---- one setting ----

    def in_force(self, name: str) -> Value:
        value: Value = getattr(self.loaded.settings, name)
        return value

    def source(self, name: str) -> SettingSource:
        return self.loaded.sources.get(name, SettingSource.DEFAULT)

    def changed(self, name: str) -> bool:
        return name in self._typed

    def value(self, name: str) -> Any:
        """Return what would count after saving; what counts now where that cannot be read."""
        raw = self._typed.get(name)
        if raw is Reset.RESET:
            return self._without_entry(name)
        return self.in_force(name) if raw is None or self._unreadable(name, raw) else self._offered[name].parse(raw)

    def fixed(self, name: str) -> str:
        """Return why a setting cannot be changed here; empty when it can."""
        if self.source(name) is not SettingSource.ENVIRONMENT:
            return ""
        return tr(
            "Set by the environment variable {variable}, which counts more than the file.",
            variable=self._variable(name),
        )

    def can_reset(self, name: str) -> bool:
        """Return whether the file has an entry that could go."""
        return self.source(name) is SettingSource.YAML and self._typed.get(name) is not Reset.RESET

    def origin(self, name: str) -> str:
        """Return where the value on screen comes from, in a few words."""
        if name in self._typed:
            before = self.in_force(name)
            return tr(
                "Unsaved. Was: {on_off}",
                on_off=shown_value(self._offered[name], before),
            )
        match self.source(name):
            case SettingSource.DEFAULT:
                return tr("Default")
            case SettingSource.LEVEL:
                return tr(
                    "From security level {security_level}", security_level=choice(self.loaded.settings.security_level)
                )
            case SettingSource.YAML:
                return tr("Set in {file}", file=self._file)
            case _:
                return self.fixed(name)

    def error(self, name: str) -> str:
        """Return what is wrong with what was typed, as a sentence; empty when nothing is."""
        raw = self._typed.get(name)
        if raw is not None and raw is not Reset.RESET and (half := self._unreadable(name, raw)):
            return f"{half[:1].upper()}{half[1:]}."
        return self._over_ceiling(name)

    # ---- inside ----

    def _counts_already(self, name: str, raw: object) -> bool:
        if raw is Reset.RESET:
            return self.source(name) is not SettingSource.YAML
        return not self._unreadable(name, raw) and self._offered[name].parse(raw) == self.in_force(name)

    def _unreadable(self, name: str, raw: object) -> str:
        try:
            self._offered[name].parse(raw)
        except ValueError as error:
            return engine_texts.in_words(str(error))
        return ""

    def _over_ceiling(self, name: str) -> str:
        """Return what is wrong with a limit above its ceiling, which would be a problem in the file; else ''."""
        for limit, ceiling in CEILINGS:
            if name not in (limit, ceiling) or name not in self._typed:
                continue
            own = limit in self._typed or self.source(limit) in (SettingSource.YAML, SettingSource.ENVIRONMENT)
            if own and self.value(limit) > self.value(ceiling):
                other = ceiling if name == limit else limit
                words = tr("more") if name == limit else tr("less")
                shown = shown_value(self._offered[other], self.value(other))
                return tr(
                    "This is {words} than {title_of}, {shown}.", words=words, title_of=title_of(other), shown=shown
                )
        return ""

    def _without_entry(self, name: str) -> Value:
        level = str(self.value("security_level")) if name != "security_level" else ""
        return level_values(level).get(name, self._offered[name].default)

    def _variable(self, name: str) -> str:
        names = self._offered[name].environment
        return next((one for one in names if self._environment.get(one, "").strip()), names[-1])
