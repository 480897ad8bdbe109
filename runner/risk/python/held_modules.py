"""Modules under other names: `posix` for `os`, and those that a module holds, such as `random._os`."""

from __future__ import annotations

from runner.model.modules import is_standard
from runner.risk.model.outline_data import words

SAME = {"posix": "os", "nt": "os", "_io": "io", "_socket": "socket", "_pickle": "pickle", "_posixshmem": "os"}
HELD = words(
    "os sys shutil subprocess socket io builtins pty ctypes importlib posix codecs tempfile pickle marshal pathlib"
)
OWN = words("asyncio")
"""Modules in which these names stand for something else."""
PATHS = words("PosixPath WindowsPath")


def full_name(module: str, name: str) -> str:
    """Return the full name of what `module` holds as `name`; a module that it holds is that module itself."""
    module = SAME.get(module, module)
    plain = name.lstrip("_")
    if plain in HELD:
        top = module.partition(".")[0]
        if plain != module and top not in OWN and is_standard(top):
            return SAME.get(plain, plain)
    if module == "pathlib" and name in PATHS:
        name = "Path"
    return f"{module}.{name}"
