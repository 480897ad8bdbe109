"""The files that may hold the address of a console, as text: `assent mcp` starts without `pathlib`, which takes longer.

`Places` has the same ones as paths.
"""

from __future__ import annotations

import os

DOOR = "door.json"


def standard() -> tuple[str, ...]:
    """Return the files of the standard places, in the order in which they are read."""
    if root := os.environ.get("ASSENT_HOME"):
        return known(f"{root}/runtime", None)
    home = os.path.expanduser("~")
    return known(session_folder(home), home)


def session_folder(home: str) -> str:
    """Return the folder of what lasts as long as the session, which is that of the state where there is none."""
    session, state = (os.environ.get(name, "") for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME"))
    above = next((one for one in (session, state) if one.startswith("/")), f"{home}/.local/state")
    return f"{above}/assent"


def known(session: str, home: str | None) -> tuple[str, ...]:
    """Return the files that may hold an address; `home` is None where everything is below `ASSENT_HOME`.

    Most clients start the bridge without the variables of the session.
    """
    folders = (session,) if home is None else (session, f"/run/user/{os.getuid()}/assent", at_home(home))
    return tuple(dict.fromkeys(f"{folder}/{DOOR}" for folder in folders))


def at_home(home: str) -> str:
    """Return the folder that is found without any variable."""
    return f"{home}/.local/state/assent"
