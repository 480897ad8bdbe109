"""Finds installed packages for Python code in a sandbox, and loads only files that are as they were installed."""

import _imp
import sys
from _frozen_importlib_external import ExtensionFileLoader, FileFinder, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any


def offer(folder: str, hashes: "dict[str, str]") -> None:
    """Look for modules in `folder`, behind the standard library. `hashes`: SHA-256 of every file, by its place.

    Whatever else is in there was put there by code, in this run or before, and is not imported.
    """
    import hashlib

    # Held here, so that code that changes a module of the standard library does not reach them.
    sha256, start = hashlib.sha256, len(folder) + 1

    def check(path: str, data: bytes, name: str) -> None:
        if hashes.get(path[start:]) != sha256(data).hexdigest():
            what = f"{path} is not as it was installed, so that it is not imported"
            raise ImportError(what, name=name, path=path)

    class CheckedSource(SourceFileLoader):
        def get_code(self, fullname: str) -> "CodeType":
            """Without compiled files, which could hold anything."""
            path = self.get_filename(fullname)
            data = self.get_data(path)
            check(path, data, fullname)
            code: CodeType = self.source_to_code(data, path)
            return code

    class CheckedExtension(ExtensionFileLoader):
        def create_module(self, spec: "Any") -> "Any":
            with open(self.path, "rb") as file:
                check(self.path, file.read(), spec.name)
            return super().create_module(spec)

    kinds: Any = ((CheckedExtension, _imp.extension_suffixes()), (CheckedSource, [".py"]))
    finder: Callable[[str], Any] = FileFinder.path_hook(*kinds)

    def hook(path: str) -> "Any":
        if path != folder and not path.startswith(folder + "/"):
            raise ImportError
        return finder(path)

    sys.path_hooks.insert(0, hook)
    ends = ("site-packages", "dist-packages")
    at = next((at for at, path in enumerate(sys.path) if path.endswith(ends)), len(sys.path))
    sys.path.insert(at, folder)
