"""Gets gVisor's program from Debian 13 to where Assent looks for it, as `assent images --gvisor`."""

from __future__ import annotations

import os
import shlex
import shutil
from contextlib import aclosing
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.container.trial import SINCE
from runner.sandbox.gvisor.program import is_old, version_of
from runner.sandbox.images import program
from runner.sandbox.images.recipe import FOLDER
from runner.sandbox.images.rootfs import INSTALL
from runner.sandbox.images.trouble import known
from runner.sandbox.local import trusted
from runner.system.places import Places
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

SCRIPT = FOLDER / "runsc.sh"
PLACE = "/usr/local/bin/runsc"
"""Where only root can replace it, and where it counts before the one of a package."""


async def fetch(mirror: str = "") -> AsyncGenerator[str]:
    """Put the program in place; what is being done, line by line. `mirror` is Debian's. Raises KnownError."""
    if not shutil.which("mmdebstrap"):
        raise KnownError("gVisor is fetched by mmdebstrap, which is not installed.", INSTALL)
    file = Places.standard().runsc
    new = file.with_name(f"{file.name}.new")
    environment = {**os.environ, **({"MIRROR": mirror} if mirror else {})}
    try:
        make_folder(file.parent)
        async with aclosing(program.lines("sh", str(SCRIPT), str(new), environment=environment)) as lines:
            async for line in lines:
                yield line
    except (program.ProgramFailed, OSError) as failure:
        raise known(failure) from failure
    if is_old(version := version_of(str(new))):
        new.unlink(missing_ok=True)
        raise KnownError(f"The mirror has gVisor of version {version} only.", f"Name one that has it of {SINCE}.")
    new.replace(file)


def next_step(file: Path) -> str:
    """Return the command that puts the program where it is taken; '' where it is taken at its place."""
    return "" if trusted.is_taken(str(file)) else put_in_place(file)


def put_in_place(file: Path) -> str:
    """Return the command that copies `file` to where nobody but root can replace it."""
    return f"sudo install -m 755 {shlex.quote(str(file))} {PLACE}"
