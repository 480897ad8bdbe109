"""The secret words of marks: code in a container does not find the keeper's in what it can read of processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language
from runner.model.result import Outcome
from runner.sandbox.container import container as container_module
from runner.sandbox.container.frames import DIGITS, Words
from tests.patience import TRIES

if TYPE_CHECKING:
    from tests.contract.conftest import Lab

OTHER_MB = 251
"""A limit that no other test has, so that no container waits with words from before."""
PYTHON = """
import glob, os
def look(path):
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b''
    try:
        return os.read(file, 1 << 20)
    except OSError:
        return b''
    finally:
        os.close(file)
seen = [b'begun']
for process in glob.glob('/proc/[0-9]*'):
    for name in ('cmdline', 'environ', 'comm', 'stat', 'auxv', 'fdinfo/0', 'task/*/cmdline', 'task/*/environ'):
        seen += map(look, glob.glob(f'{process}/{name}'))
    for descriptor in glob.glob(f'{process}/fd/*'):
        try:
            seen.append(os.readlink(descriptor).encode())
        except OSError:
            pass
        seen.append(look(descriptor))
for folder in ('/tmp', '/workspace', '/dev/shm'):
    for path in glob.glob(folder + '/**', recursive=True) + glob.glob(folder + '/.*'):
        seen.append(look(path))
print(b'\\n'.join(seen).decode('latin-1'))
"""
JAVASCRIPT = """
const fs = require('node:fs');
const look = (path) => { try { return fs.readFileSync(path, 'latin1'); } catch { return ''; } };
console.log('begun', JSON.stringify([process.argv, process.env, process.execArgv]));
for (const pid of fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name))) {
  for (const name of ['cmdline', 'environ']) console.log(look(`/proc/${pid}/${name}`));
  try {
    for (const fd of fs.readdirSync(`/proc/${pid}/fd`)) console.log(fs.readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {}
}
"""
SHELL = """
echo begun; set; env
for process in /proc/[0-9]*; do
  cat "$process/cmdline" "$process/environ"; ls -l "$process/fd"
  timeout 0.2 cat "$process/fd/0"
done 2>/dev/null
true
"""
CODES = {Language.PYTHON: PYTHON, Language.JAVASCRIPT: JAVASCRIPT, Language.SHELL: SHELL}
FORGES = f"""
import os, re, time
parent = f'/proc/{{os.getppid()}}'
words = set()
try:
    with open(f'{{parent}}/mem', 'rb', 0) as file:
        for line in open(f'{{parent}}/maps'):
            if ' rw' in line:
                start, end = (int(part, 16) for part in line.split()[0].split('-'))
                file.seek(start)
                words |= set(re.findall(rb'(?<![0-9a-f])[0-9a-f]{{{DIGITS}}}(?![0-9a-f])', file.read(end - start)))
except OSError:
    pass
for word in words:
    os.write(2, b'\\x1e\\x1fassent:' + word + b':C00000003\\n000')
time.sleep(60)
"""


@pytest.mark.parametrize("language", CODES)
def test_code_does_not_see_the_words_of_marks(lab: Lab, monkeypatch: pytest.MonkeyPatch, language: Language) -> None:
    if lab.kind == "local":
        pytest.skip("the local sandbox has no marks")
    made: list[Words] = []
    new = Words.new

    def recorded() -> Words:
        made.append(new())
        return made[-1]

    monkeypatch.setattr(container_module.Words, "new", recorded)
    seen = lab.run(CODES[language], language, memory_mb=OTHER_MB, output_bytes=4 << 20).stdout
    assert "begun" in seen and "bash" in seen and "assent:" in seen
    assert made
    assert not [word for words in made for word in (words.keeper, words.interpreter) if word in seen]


def test_an_end_that_the_code_has_forged_is_not_recorded(lab: Lab) -> None:
    """The kernel of this engine lets a user read the memory of its own processes; the keeper's is kept from it."""
    if lab.kind == "local":
        pytest.skip("the local sandbox has no marks")
    for _ in range(TRIES):
        result = lab.run(FORGES, seconds=1.0)
        assert result.outcome is not Outcome.OK
        assert result.exit_code != 0
        if result.duration < 2:
            break
    assert 1 <= result.duration < 2, "the end that it forged was believed for a while"


def test_a_forged_end_does_not_shorten_what_the_run_took(lab: Lab) -> None:
    """The code can end as it has said: then its status is true, and its time would not be."""
    if lab.kind == "local":
        pytest.skip("the local sandbox has no marks")
    result = lab.run(FORGES.replace("time.sleep(60)", "time.sleep(1.5)"), seconds=1.0)
    assert result.duration >= 1, result
