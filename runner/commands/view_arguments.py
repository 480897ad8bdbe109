"""Arguments for the view of a contained program: project, further paths, variables and hosts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.network import Destination, UnusableHost

if TYPE_CHECKING:
    import argparse

    from runner.system.places import Places


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    parser.add_argument("--folder", metavar="FOLDER", help="the project; otherwise the repository or folder you are in")
    parser.add_argument("--allow", action="append", default=[], metavar="HOST", help="a host that it may reach")
    parser.add_argument("--show", action="append", default=[], metavar="PATH", help="a further path that it may read")
    parser.add_argument("--env", action="append", default=[], metavar="NAME", help="a further variable that it gets")


def project_of(given: str | None, places: Places) -> Path:
    """Return the project: the folder that is named, else the repository that this folder is in, else this folder.

    A repository above that is another account's is none (git's rule, `safe.directory`): anybody may make one in /tmp,
    and the project would be all that is there. Raises KnownError.
    """
    try:
        here = Path(os.path.realpath(os.getcwd()))
        owner = here.stat().st_uid
    except FileNotFoundError as error:
        raise KnownError("The folder that you are in is not there any more.", "Go into another one.") from error
    if given is None:
        project = next((one for one in (here, *here.parents) if _is_repository(one, {os.geteuid(), owner})), here)
    else:
        project = Path(os.path.realpath(given))
        if project != here and project not in here.parents:
            try:
                os.chdir(project)
            except OSError as error:
                raise KnownError(f"{given} is no folder that can be gone into: {error.strerror}.") from error
    home = Path(os.path.realpath(os.path.expanduser("~")))
    if project == home or project in home.parents:
        raise KnownError(f"{project} is not a project: it holds more than that.", "Go into the folder of one.")
    _check_not_ours(project, places)
    return project


def _is_repository(folder: Path, accounts: set[int]) -> bool:
    """Return whether a repository of one of `accounts` is in `folder`."""
    try:
        return (folder / ".git").stat().st_uid in accounts
    except OSError:
        return False


def path_of(path: str, places: Places) -> str:
    whole = os.path.realpath(os.path.expanduser(path))
    if not os.path.exists(whole):
        raise KnownError(f"There is no {path} to be shown.")
    _check_not_ours(Path(whole), places)
    return whole


def _check_not_ours(path: Path, places: Places) -> None:
    """Raise KnownError where a path is one of Assent's own files or holds them: keys and tokens are among them."""
    for folder in (places.config, places.data, places.state, places.runtime):
        real = Path(os.path.realpath(folder))
        if path == real or path in real.parents or real in path.parents:
            raise KnownError(f"{path} holds Assent's own files: no command may see them.", "Name another folder.")


def variable_of(name: str) -> str:
    try:
        return os.environ[name]
    except KeyError as error:
        raise KnownError(f"There is no variable {name} to hand on.") from error


def host_of(text: str) -> Destination:
    try:
        return Destination.parse(text)
    except UnusableHost as error:
        raise KnownError(f"“{text}” cannot be allowed: {error}.", "Name a host, such as example.com.") from error
