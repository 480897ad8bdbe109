"""Reasons for a build that failed, or the fetching of a program, in words, with what to do."""

from __future__ import annotations

import os
import re
from typing import assert_never

from runner.model.errors import KnownError
from runner.sandbox.images.program import ProgramFailed
from runner.sandbox.images.store import NotLoaded

AGAIN = "then try again."
CAUSES = (
    (
        r"(?m:^)(?>.*?engine: ).*no space left on device",
        "The container engine's disk is full.",
        f"See 'docker system df' for what takes the space, free some, {AGAIN}",
    ),
    (
        r"no space left on device",
        "The disk is full.",
        f"Free some space (an image takes up to 2 GB while it is built), {AGAIN}",
    ),
    (
        r"cannot connect to the docker daemon|error during connect",
        "The container engine does not answer.",
        f"Start it (for example with 'sudo systemctl start docker'), {AGAIN}",
    ),
    (
        r"(?m:^)(?>.*?permission denied).*docker(?:(?!docker|\.sock)\S)*+\.sock",
        "The container engine does not let you in.",
        "Add yourself to the group 'docker' (sudo adduser $USER docker) and log in again.",
    ),
    (
        r"could not resolve|failed to fetch|does not have a release file|unable to connect|connection timed out"
        r"|no such host|network is unreachable",
        "The packages cannot be fetched.",
        f"Check the network, or name a Debian mirror with --mirror, {AGAIN}",
    ),
    (
        r"unable to locate package|has no installation candidate",
        "The Debian mirror does not have a package that is needed.",
        f"Name another one with --mirror, {AGAIN}",
    ),
    (
        r"no_pubkey|not signed|invalid signature|keyring",
        "The signature of the Debian mirror cannot be checked.",
        f"Install debian-archive-keyring, {AGAIN}",
    ),
    (
        r"newuidmap|unshare|user namespace|unable to pick chroot mode",
        "This machine does not let an ordinary user unpack packages.",
        "Install uidmap (apt-get install uidmap), do it as root, or build images with Docker and without mmdebstrap.",
    ),
)
"""A sign in what a program said, in any case -> what is wrong and what to do; the first that fits counts."""


def known(failure: ProgramFailed | NotLoaded | OSError) -> KnownError:
    """Return what to tell a person."""
    match failure:
        case ProgramFailed():
            text, short = "\n".join(failure.tail), _short(failure)
        case NotLoaded():
            text = short = f"engine: {failure}"
        case OSError():
            text, short = os.strerror(failure.errno or 0), str(failure)
        case _:
            assert_never(failure)
    for sign, what, remedy in CAUSES:
        if re.search(sign, text, re.IGNORECASE):
            return KnownError(what, remedy)
    return KnownError(f"It could not be made: {short}.", "Try again.")


def _short(failure: ProgramFailed) -> str:
    """Return the line that says most: mmdebstrap and apt mark theirs."""
    marked = [line for line in failure.tail if line.startswith("E: ")]
    said = (marked or list(failure.tail) or ["it gave no reason"])[0]
    return f"{failure.program}: {said.removeprefix('E: ').rstrip('.')}"
