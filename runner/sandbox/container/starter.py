"""The start of code in a container, by language: an interpreter that waits, and what it is sent."""

from __future__ import annotations

import functools
import json
import marshal
import shlex
from typing import TYPE_CHECKING

from runner.model.language_support import LANGUAGES
from runner.model.request import Language
from runner.model.workspace import WORKSPACE
from runner.sandbox import languages, networked, report, toolchain
from runner.sandbox.container.frames import MARK
from runner.sandbox.imports import hint
from runner.sandbox.programs import inside, script

if TYPE_CHECKING:
    from runner.model.request import Limits
    from runner.sandbox.container.frames import Words
    from runner.sandbox.contract import Bounds, Job

BASH = ("bash", "--noprofile", "--norc", "-c")
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": WORKSPACE,
    "TMPDIR": "/tmp",
    "LANG": "C.UTF-8",
    "USER": "sandbox",
    "LOGNAME": "sandbox",
}
"""Everything the code finds in its environment, besides what the image itself sets."""


def command(language: Language, limits: Limits, stem: str = f"{WORKSPACE}/main") -> list[str]:
    """Return the command of the interpreter that reads its word, says that it is ready and waits for `orders`.

    The code can read every command, so the word comes by standard input (`introduction`). The code is put at
    `stem`, with the language's ending.
    """
    main = f"{stem}.{LANGUAGES[language].suffix}"
    mark = MARK.decode()
    match language:
        case Language.PYTHON:
            # Under a name of its own: code made by the program's `exec` would share that of a `-c` text.
            run = "import sys; exec(compile(sys.argv.pop(1), '<assent>', 'exec'), {'__name__': 'assent'})"
            return ["python3", "-I", "-B", "-X", "utf8", "-c", run, _text(language), mark, main]
        case Language.JAVASCRIPT:
            heap = f"--max-old-space-size={int(limits.memory_mb * languages.HEAP_SHARE)}"
            return ["node", heap, "-e", _text(language), mark, main]
        case Language.SHELL:
            return [*BASH, _text(language), "assent", mark, main]
        case _:
            tools = toolchain.of(language)
            words = [tools.start, toolchain.CACHE, tools.program, *tools.asks]
            return [*BASH, _text(language), "assent", mark, main, *words]


def watched(words: list[str], language: Language, bounds: Bounds, *, private: bool) -> list[str]:
    """Return `words` started by a keeper, which hands out what the code has left when it has ended.

    `private` keeps the keeper's memory from the code, which runs as the same user: with the word in there it could say
    that the run has ended. gVisor does so itself, and cannot start a file that it may not read.
    """
    numbers = map(str, (bounds.files, bounds.file_bytes, bounds.all_bytes))
    mark, main = MARK.decode(), f"main.{LANGUAGES[language].suffix}"
    keeper = [*BASH, script("handing.sh") + script("keeper.sh"), "keeper", mark, main, *numbers, *words]
    return [*BASH, script("private.sh"), *keeper] if private else keeper


def handing_out(main: str, bounds: Bounds, since: str) -> list[str]:
    """Return the command that writes the files changed since then, when a run in a kept container has ended."""
    numbers = map(str, (bounds.files, bounds.file_bytes, bounds.all_bytes))
    return [*BASH, script("handing.sh") + script("later.sh"), "later", main, *numbers, since]


def introduction(words: Words, *, keeper: bool) -> bytes:
    """Return what is sent as soon as the container has started: the secret words, a line each."""
    lines = (words.keeper, words.interpreter) if keeper else (words.interpreter,)
    return "".join(f"{line}\n" for line in lines).encode()


def orders(job: Job, *, reserved: bool = False, certificates: str = "") -> bytes:
    """Return what the waiting interpreter reads from its standard input before the code does. Raises BadContext.

    `reserved` limits the memory that Python code may reserve, too: gVisor does not hold it to what it writes to.
    Node.js reserves gigabytes, and what a shell starts may, so that is for Python alone.
    `certificates` is the path of the file with them, where the run has a network and this machine has any.
    """
    given = {**languages.guards(job), **(networked.variables(certificates) if job.gate else {})}
    code, stdin = job.code.encode("utf-8", "surrogatepass"), job.stdin.encode("utf-8", "replace")
    match job.language:
        case Language.PYTHON:
            allowed = job.imports.allowed
            values = {
                "code": code,
                "stdin": stdin,
                "memory": job.limits.memory_mb << 20,
                "reserved": reserved,
                "context": languages.context(job),
                "limit": report.limit(job),
                "tables": inside("tables.py") if job.tables else "",
                "own_modules": job.own_modules,
                "modules": languages.known_modules(job),
                "guards": given,
                "allowed": None if allowed is None else list(allowed),
                "blocked": list(job.imports.blocked),
                "hint": hint(job.imports),
                **languages.installation(job, -1, WORKSPACE),
                "trusted": languages.trusted_packages(job, WORKSPACE),
            }
            return _framed(marshal.dumps(values, 2)) + _archives(job)
        case Language.JAVASCRIPT:
            return _framed(
                json.dumps(
                    {
                        "code": job.code,
                        "context": languages.context(job),
                        "stdin": job.stdin,
                        "guards": given,
                        **_bundle(job),
                        **_loading(job),
                    }
                ).encode()
            ) + _archives(job)
        case _:
            names = {**languages.variables(job), **given}.items()
            exports = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in names).encode()
            sizes = (job.limits.memory_mb << 10, len(exports), len(code), len(stdin))
            return b"%d %d %d %d\n" % sizes + exports + code + stdin


def _archives(job: Job) -> bytes:
    """Return the packages, which follow the orders on standard input."""
    return b"" if job.bundle is None else b"".join(archive.data for archive in job.bundle.archives)


def _bundle(job: Job) -> dict[str, object]:
    if job.bundle is None:
        return {}
    return {"bundle": languages.tarballs(job.bundle), "unpack": inside("unpack.cjs")}


def _loading(job: Job) -> dict[str, object]:
    orders = languages.loading(job, WORKSPACE)
    return {} if orders is None else {"orders": orders, "loading": inside("loading.cjs")}


def _framed(data: bytes) -> bytes:
    return b"%08x\n" % len(data) + data


@functools.cache
def _text(language: Language) -> str:
    match language:
        case Language.PYTHON:
            return inside("python.py") + script("waiting.py")
        case Language.JAVASCRIPT:
            return script("waiting.js")
        case Language.SHELL:
            return script("waiting.sh")
        case _:
            return script("compiling.sh")
