"""Builds a wheel of a source archive with nothing but what was planned for it (PEP 517). Runs as code in a sandbox."""

import importlib
import json
import os
import re
import shutil
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MISSING = 4
"""Status where the backend asks for what was not planned."""


def main(given: "dict[str, Any]") -> None:
    workspace = os.getcwd()
    # Out of the folder of the packages, from which nothing is imported that was not approved as a module.
    source = os.path.join(workspace, ".build")
    shutil.move(given["source"], source)
    packages = os.path.dirname(given["source"])
    sys.path[:] = [one for one in sys.path if not one.endswith(("site-packages", "dist-packages")) and one != workspace]
    sys.path[:0] = [os.path.join(source, one) for one in given["path"]]
    os.environ["PATH"] = os.path.join(packages, "bin") + os.pathsep + os.environ["PATH"]
    os.environ["PYTHONPATH"] = packages
    os.chdir(source)
    os.mkdir(given["out"])
    module, _, attributes = given["backend"].partition(":")
    backend: Any = importlib.import_module(module)
    for name in filter(None, attributes.split(".")):
        backend = getattr(backend, name)
    ask = getattr(backend, "get_requires_for_build_wheel", None)
    if ask is not None and (missing := [one for one in ask() if _name(one) not in given["planned"]]):
        with open(os.path.join(given["out"], given["asked"]), "w") as file:
            json.dump(missing, file)
        _tidy(workspace, packages, given["out"])
        sys.stderr.write(f"The build asks for what was not planned: {', '.join(map(str, missing))}\n")
        sys.exit(MISSING)
    backend.build_wheel(given["out"])
    _tidy(workspace, packages, given["out"])


def _name(requirement: "Any") -> str:
    match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", str(requirement))
    return re.sub(r"[-_.]+", "-", match[1]).lower() if match else ""


def _tidy(workspace: str, *left: str) -> None:
    """Remove all but what is `left`: what stays is taken out of the sandbox."""
    os.chdir(workspace)
    for entry in os.scandir(workspace):
        if entry.path not in left and entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)


if __name__ == "__main__":
    main(globals()["build"])
