"""The person's answer about the keyring of the desktop: Assent asks before it opens it for the first time."""

from __future__ import annotations

import contextlib
import json
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.system.durable import replace_file
from runner.system.plain_file import read_file
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from runner.system.places import Places


class KeyringAnswer(StrEnum):
    """Whether secrets may be kept in the keyring."""

    ALLOWED = "allowed"
    UNASKED = "unasked"
    """This is a new installation and the person has not been asked yet."""
    REFUSED = "refused"


def read_answer(places: Places) -> KeyringAnswer:
    """Return the answer. Where there is no file nobody has to be asked: the window was never opened, or long ago.

    A file that cannot be read has no answer in it, so the keyring is not opened.
    """
    try:
        return KeyringAnswer(json.loads(read_file(places.keyring_answer).decode("utf-8"))["keyring"])
    except FileNotFoundError:
        return KeyringAnswer.ALLOWED
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return KeyringAnswer.UNASKED


def write_answer(places: Places, answer: KeyringAnswer) -> None:
    """Keep the answer. Raises KnownError where it cannot be written."""
    file = places.keyring_answer
    try:
        make_folder(file.parent)
        replace_file(file, json.dumps({"keyring": answer}) + "\n")
    except OSError as error:
        raise KnownError(
            f"Your answer could not be written to {file}: {error.strerror or error}.",
            "Free disk space or give yourself the right to write there.",
        ) from error


def begin_unasked(places: Places) -> None:
    """Note that the person of this new installation has still to be asked; an answer that is there stays.

    Where it cannot be written the keyring is opened without it, as the secrets then have no other place.
    """
    if not places.keyring_answer.exists():
        with contextlib.suppress(KnownError):
            write_answer(places, KeyringAnswer.UNASKED)
