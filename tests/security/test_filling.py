"""Code that tries to fill this machine, or to reach its files, through what is collected of it (spec F2)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from runner.model.request import Language
from runner.sandbox.contract import Bounds, Collect
from tests.contract.conftest import alike, job
from tests.patience import HANGS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from runner.model.result import Result
    from runner.sandbox.contract import Sandbox
    from tests.contract.conftest import Lab

BOUNDS = Bounds(files=20, file_bytes=1 << 20, all_bytes=4 << 20)
AT_ONCE = 4
SECRET = "nobody else may read this"


class Attempt(NamedTuple):
    name: str
    code: str
    language: Language = Language.PYTHON


FORGED = """
import os, re
words = {b'0123456789abcdef'}
parent = f'/proc/{os.getppid()}'
try:
    with open(f'{parent}/mem', 'rb', 0) as file:
        for line in open(f'{parent}/maps'):
            if ' rw' in line:
                start, end = (int(part, 16) for part in line.split()[0].split('-'))
                file.seek(start)
                words |= set(re.findall(rb'(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])', file.read(end - start)))
except OSError:
    pass
for word in words:
    os.write(2, b'\\x1e\\x1fassent:' + word + b':C00000003\\n000' + %s)
while True:
    os.write(2, b'x' * 65536)
"""
EQUAL = "for n in range(60): open(f'f{n}', 'wb').write(bytes([n]) * (1 << 20))"
NAMES = "import os\nopen('a', 'wb').write(b'x' * (1 << 20))\nfor n in range(999): os.link('a', f'l{n}')"
GROWING = "(while :; do cat /etc/passwd; done >>g) & setsid -f sh -c 'while :; do date >>h; done'; sleep 0.2"
DEEP = "import os\nfor n in range(2000): os.mkdir('d'); os.chdir('d'); open('f', 'w').write('x')"
LINKS = """
import os
for n, to in enumerate(('{secret}', '/etc/shadow', '/proc/1/environ', '/dev/zero', '/')):
    os.symlink(to, f'l{n}')
"""
ATTEMPTS = (
    Attempt("sparse files of 10 GB", "for n in range(9): open(f's{n}', 'wb').truncate(10 << 30)"),
    Attempt("empty files without end", "n = 0\nwhile True: open(f'f{n}', 'w').close(); n += 1"),
    Attempt("all of the disk in files just small enough", EQUAL),
    Attempt("one file under a thousand names", NAMES),
    Attempt("files that grow while they are read", GROWING, Language.SHELL),
    Attempt("folders within folders", DEEP),
    Attempt("names of 250 characters", "for n in range(2000): open(f'{n:0250}', 'w').write('x')"),
    Attempt("handing files out itself, without end", FORGED % "b'f9999999999 a\\0\\0'"),
    Attempt("handing out records without end", FORGED % "b'f0 a\\0' * 10000"),
    Attempt("pipes that nobody writes to", "import os\nfor n in range(50): os.mkfifo(f'p{n}')"),
    Attempt("links to files of the host", LINKS),
)


async def tried(sandbox: Sandbox, folder: Path) -> list[Result]:
    """All attempts, a few at a time, each with a folder of its own to be collected in."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, attempt: Attempt) -> Result:
        out = folder / str(number)
        out.mkdir()
        code = attempt.code.replace("{secret}", str(folder / "secret"))
        wanted = job(code, attempt.language, memory_mb=256, disk_mb=64, seconds=1.0, collect=Collect(out, BOUNDS))
        async with turn:
            return await (await sandbox.start(wanted, lambda _usage: None)).finished()

    return await asyncio.gather(*(one(number, attempt) for number, attempt in enumerate(ATTEMPTS)))


@alike
def test_what_is_collected_stays_within_its_bounds(
    lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret").write_text(SECRET)
    results = asyncio.run(tried(lab.sandbox, tmp_path))
    for number, (attempt, result) in enumerate(zip(ATTEMPTS, results, strict=True)):
        stored = list((tmp_path / str(number)).iterdir())
        assert len(result.files) <= BOUNDS.files, attempt.name
        assert sum(path.stat().st_size for path in stored) <= BOUNDS.all_bytes, attempt.name
        assert {path.name for path in stored} == {file.sha256 for file in result.files}, attempt.name
        assert all(SECRET.encode() not in path.read_bytes() for path in stored), attempt.name
        assert len(result.files_left_out) < 20_000, attempt.name
        assert result.duration < HANGS, attempt.name
    assert {path.name for path in tmp_path.iterdir()} == {"secret", *map(str, range(len(ATTEMPTS)))}
    with capsys.disabled():
        print(f"\n{lab.kind}: {len(ATTEMPTS)} attempts to fill this machine through files")
        for attempt, result in zip(ATTEMPTS, results, strict=True):
            print(f"  {attempt.name:45} held: {len(result.files)} collected, {result.outcome.value}")
