"""The home folder that a client sees at work: its own state, kept from one session of a project to the next.

Each client has one such layer per project. It is made anew at every start from what the person set outside and from
what a client may keep, by the list in its `WorkFacts`: a hook that a session planted in its settings is gone with the
next one. Nothing comes back to the real home but a renewed log-in.

The layer was written by a program that may be hostile: it is read by descriptors, no link in it is followed, and what
stays is moved as it is, unread. What is outside is the person's, whose links lead where they want.

Worked example, Claude Code in `/p`: `~/.claude/settings.json` is copied, `history.jsonl` and `projects/-p/*.jsonl` are
moved over from the session before, `.claude.json` is the real one without the other projects, and all else is new.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.system.durable import replace_file
from runner.system.file_lock import held
from runner.system.plain_file import read_file
from runner.system.private_folder import make_folder
from runner.system.removal import remove_tree
from runner.work import credentials, layer_files
from runner.work.facts import PROJECT, SLUG, slug
from runner.workspace import entry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.work.facts import CredentialFile, MergedFile, StatePlace, WorkFacts

FOLDER = "homes"
"""Below the folder of the working copies."""
HOME, NEXT, OLD, ABOUT = "home", "next", "old", "about.json"
"""The layer in use, the one that is being made, one that is being removed; in each, what its log-ins were made from."""
MOST_SETTINGS = 8 << 20


@dataclass(frozen=True, slots=True)
class LayerBind:
    """A folder or file of this machine, and where the rings show it."""

    source: Path
    target: Path
    read_only: bool = False


@dataclass
class HomeLayer:
    """The layer of one client and project while a session has it. `finish` ends that, and has to be called."""

    binds: tuple[LayerBind, ...]
    """For the outer ring, in this order: the home first."""
    shell_binds: tuple[LayerBind, ...]
    """For the inner ring: what its shell has to see of the state."""
    kept: bool
    """Whether the next session gets what this one leaves. Not where another session of the project is at work."""
    _folder: Path
    _credentials: tuple[_LogIn, ...]
    _held: contextlib.ExitStack = field(repr=False)

    def finish(self) -> tuple[Path, ...]:
        """Give the layer up once the program has ended; return the files of renewed log-ins, written. Raises OSError.

        A file that has changed outside meanwhile stays as it is there.
        """
        with self._held:
            written = _written_back(self._folder, self._credentials)
            if not self.kept:
                remove_tree(self._folder)
        return written


@dataclass(frozen=True, slots=True)
class _LogIn:
    """A credential file, outside and in the layer."""

    real: Path
    inside: str
    """Below the layer's folder."""
    renewed: tuple[str, ...]
    sha256: str
    """Of what was outside at the start."""


def open_layer(
    homes: Path,
    facts: WorkFacts,
    project: Path,
    home: Path,
    environment: Mapping[str, str],
    instead: Mapping[Path, bytes] | None = None,
) -> HomeLayer:
    """Make the layer of a client for `project` ready. Raises KnownError and OSError.

    `instead` has what is shown in place of files outside. A second session at once gets a layer of its own, made from
    what is outside alone and removed at its end.
    """
    make_folder(homes)
    name = f"{facts.client}-{hashlib.sha256(os.fsencode(project)).hexdigest()[:16]}"
    _remove_left(homes, name)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(held(homes / name, 0))
            kept = True
        except BlockingIOError:
            name, kept = f"{name}+{secrets.token_hex(4)}", False
            stack.enter_context(held(homes / name, 0))
            stack.callback((homes / f"{name}.lock").unlink, missing_ok=True)
        folder = homes / name
        make_folder(folder)
        made = _Making(folder, facts, project, home, environment, instead or {})
        made.make()
        return HomeLayer(
            tuple(made.binds), tuple(made.shell_binds), kept, folder, tuple(made.credentials), stack.pop_all()
        )


class _Making:
    """Makes a layer: state of one start."""

    def __init__(
        self,
        folder: Path,
        facts: WorkFacts,
        project: Path,
        home: Path,
        environment: Mapping[str, str],
        instead: Mapping[Path, bytes],
    ) -> None:
        self._folder, self._next = folder, folder / NEXT
        self._facts, self._project = facts, str(project)
        self._instead = {Path(os.path.realpath(path)): data for path, data in instead.items()}
        self._places = [(place, place.at(home, environment)) for place in facts.state]
        self._roots = self._found_roots(home)
        self.binds: list[LayerBind] = []
        self.shell_binds: list[LayerBind] = []
        self.credentials: list[_LogIn] = []

    def make(self) -> None:
        self._finish_earlier()
        for inside in self._roots.values():
            make_folder(self._next / inside)
        self.binds += [LayerBind(self._folder / HOME / inside, root) for root, inside in self._roots.items()]
        for place, real in self._places:
            self._put(place, real, self._inside(real))
        replace_file(self._next / ABOUT, json.dumps([_encoded(one) for one in self.credentials]))
        self._carry_over(self._folder / HOME, self._next)
        with contextlib.suppress(FileNotFoundError):
            (self._folder / HOME).rename(self._folder / OLD)
        self._next.rename(self._folder / HOME)
        remove_tree(self._folder / OLD)

    def _found_roots(self, home: Path) -> dict[Path, str]:
        """Return the folders that the layer stands for, each with its name in the layer: home, and those outside it."""
        roots = {home: "home"}
        for place, real in self._places:
            folder = real if place.merged == () or place.fresh or place.kept else real.parent
            if not any(folder.is_relative_to(root) for root in roots):
                roots[folder] = f"outside-{len(roots)}"
        return roots

    def _inside(self, real: Path) -> str:
        root = next(root for root in self._roots if real.is_relative_to(root))
        return os.path.join(self._roots[root], os.path.relpath(real, root))

    def _finish_earlier(self) -> None:
        """End what a start that was killed has begun, and a session that was: its log-in may be renewed."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            said: list[dict[str, Any]] = json.loads(read_file(self._folder / HOME / ABOUT))
            _written_back(self._folder, tuple(map(_decoded, said)))
        if self._next.is_dir() and (self._folder / HOME).is_dir():
            self._carry_over(self._next, self._folder / HOME)
        elif not (self._folder / HOME).exists() and (self._folder / OLD).is_dir():
            (self._folder / OLD).rename(self._folder / HOME)
            if self._next.is_dir():
                self._carry_over(self._next, self._folder / HOME)
        for name in (NEXT, OLD):
            remove_tree(self._folder / name)

    def _put(self, place: StatePlace, real: Path, inside: str) -> None:
        """Write what of a place comes from outside."""
        target = self._next / inside
        if place.fresh or place.kept or place.shell or place.credentials:
            make_folder(target)
        for pattern in place.fresh:
            for name in layer_files.matching(real, pattern):
                self._copy(real / name, os.path.join(inside, name))
        for pattern in (one for one in place.kept if SLUG in one):
            if not self._has(inside, self._named(pattern)):
                for name in layer_files.matching(real, self._named(pattern)):
                    self._copy(real / name, os.path.join(inside, name))
        for merged in place.merged:
            self._merge(merged, real / merged.path, os.path.normpath(os.path.join(inside, merged.path)))
        for credential in place.credentials:
            self._log_in(credential, real / credential.path, os.path.join(inside, credential.path))
        for name in place.shared:
            if (real / name).is_dir():
                make_folder(self._next / inside / name)
                self.binds.append(LayerBind(real / name, real / name, read_only=True))
        for name in place.shell:
            make_folder(self._next / inside / name)
            self.shell_binds.append(LayerBind(self._folder / HOME / inside / name, real / name))

    def _copy(self, real: Path, inside: str) -> None:
        """Copy a file or folder of the person's; links are followed. What cannot be read is left out."""
        target = self._next / inside
        with contextlib.suppress(FileNotFoundError, PermissionError):
            if real.is_dir():
                if layer_files.is_large(real):
                    make_folder(target)
                    self.binds.append(LayerBind(real, self._outside(inside), read_only=True))
                else:
                    layer_files.copy_tree(real, target, self._instead)
            elif real.is_file():
                if real.stat().st_size > layer_files.MOST_COPIED:
                    make_folder(target.parent)
                    target.touch(0o600)
                    self.binds.append(LayerBind(real, self._outside(inside), read_only=True))
                else:
                    layer_files.copy_file(real, target, self._instead)

    def _outside(self, inside: str) -> Path:
        for root, name in self._roots.items():
            if inside.startswith(name + "/"):
                return root / inside[len(name) + 1 :]
        raise AssertionError(inside)

    def _merge(self, merged: MergedFile, real: Path, inside: str) -> None:
        """Write the settings from outside, with what is kept of the layer's."""
        values = _object(self._instead.get(Path(os.path.realpath(real))) or layer_files.read_real(real, MOST_SETTINGS))
        if merged.by_project:
            projects = values.get(merged.by_project)
            own = projects.get(self._project) if isinstance(projects, dict) else None
            values[merged.by_project] = {} if own is None else {self._project: own}
        layer = _object(layer_files.read_inside(self._folder / HOME, inside, MOST_SETTINGS))
        for path in merged.kept:
            _keep(values, layer, [self._named(key) for key in path])
        make_folder((self._next / inside).parent)
        layer_files.write(self._next / inside, json.dumps(values, indent=2).encode(), 0o600)

    def _log_in(self, credential: CredentialFile, real: Path, inside: str) -> None:
        """Copy a log-in from outside, else keep one that was made inside."""
        data = layer_files.read_real(real, MOST_SETTINGS)
        if data is None:
            data = layer_files.read_inside(self._folder / HOME, inside, credentials.MOST_BYTES)
        else:
            sha256 = hashlib.sha256(data).hexdigest()
            self.credentials.append(_LogIn(real, inside, credential.renewed, sha256))
        if data is not None:
            make_folder((self._next / inside).parent)
            layer_files.write(self._next / inside, data, 0o600)

    def _has(self, inside: str, pattern: str) -> bool:
        """Return whether the layer has anything that a pattern names."""
        with contextlib.suppress(OSError), entry.folder_open(self._folder / HOME) as top:
            return next(layer_files.matching_inside(top, os.path.join(inside, pattern)), None) is not None
        return False

    def _carry_over(self, before: Path, after: Path) -> None:
        """Move what is kept from one layer to another."""
        if not before.is_dir() or before.is_symlink():
            return
        with entry.folder_open(before) as old:
            for place, real in self._places:
                for pattern in place.kept:
                    for path in tuple(
                        layer_files.matching_inside(old, os.path.join(self._inside(real), self._named(pattern)))
                    ):
                        layer_files.move(old, path, after)

    def _named(self, text: str) -> str:
        return text.replace(SLUG, slug(self._project)).replace(PROJECT, self._project)


def _object(data: bytes | None) -> dict[str, Any]:
    """Return a JSON object; an empty one for anything else."""
    try:
        values = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _keep(values: dict[str, Any], layer: dict[str, Any], path: Sequence[str]) -> None:
    """Put the value that the layer has at `path` where there is none."""
    for key in path[:-1]:
        inner = layer.get(key)
        if not isinstance(inner, dict):
            return
        layer = inner
    if path[-1] not in layer:
        return
    for key in path[:-1]:
        outer = values.setdefault(key, {})
        if not isinstance(outer, dict):
            return
        values = outer
    values.setdefault(path[-1], layer[path[-1]])


def _written_back(folder: Path, files: Sequence[_LogIn]) -> tuple[Path, ...]:
    """Write renewed log-ins to where they come from; return those files. Raises OSError."""
    written = []
    for one in files:
        real, inside = (
            layer_files.read_real(one.real, MOST_SETTINGS),
            layer_files.read_inside(folder / HOME, one.inside, credentials.MOST_BYTES),
        )
        if real is None or inside is None or hashlib.sha256(real).hexdigest() != one.sha256:
            continue
        if credentials.is_renewed(real, inside, one.renewed):
            replace_file(one.real, inside.decode("utf-8"))
            written.append(one.real)
    return tuple(written)


def _remove_left(homes: Path, name: str) -> None:
    """Remove the layers of second sessions that were killed."""
    for folder in homes.glob(f"{name}+*"):
        if folder.suffix != ".lock":
            with contextlib.suppress(OSError), held(folder, 0):
                remove_tree(folder)
                folder.with_name(f"{folder.name}.lock").unlink(missing_ok=True)


def _encoded(one: _LogIn) -> dict[str, object]:
    return {"real": str(one.real), "inside": one.inside, "renewed": one.renewed, "sha256": one.sha256}


def _decoded(said: Mapping[str, Any]) -> _LogIn:
    return _LogIn(Path(said["real"]), str(said["inside"]), tuple(said["renewed"]), str(said["sha256"]))
