"""The files of a sandbox that is kept are copied and put back alike in every kind, whatever code has made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.request import Language
from runner.sandbox.workspace_copy import MOST_BYTES, NotCopied, difference
from tests.contract.conftest import alike
from tests.contract.test_session import TRAPS, ran, within

if TYPE_CHECKING:
    from runner.sandbox.contract import Session
    from tests.contract.conftest import Lab

FURNISH = """
import os
open('a.txt', 'w').write('one')
open(b'odd \\xff\\n name', 'w').write('odd')
os.makedirs('data/deep')
open('data/deep/b', 'wb').write(bytes(range(256)) * 4)
open('x' * 200, 'w').write('long')
os.mkdir('shut'); open('shut/in', 'w').write('in'); os.chmod('shut', 0o555)
os.chmod('a.txt', 0o640)
os.makedirs('.packages'); open('.packages/p', 'w').write('1')
"""
CHANGE = """
import os, shutil
open('a.txt', 'w').write('two'); os.chmod('a.txt', 0o777)
os.remove(b'odd \\xff\\n name')
shutil.rmtree('data'); os.symlink('/etc', 'data')
os.chmod('shut', 0o755); os.remove('shut/in'); os.chmod('shut', 0)
os.mkdir('-rf'); open('-rf/--', 'w').write('new'); os.chmod('-rf', 0o500)
open('.packages/p', 'w').write('2')
"""


@alike
def test_files_come_back_as_they_were(lab: Lab) -> None:
    async def body(session: Session) -> None:
        for code in (FURNISH, TRAPS):
            done = await ran(session, code)
            assert not done.stderr, done
        before = await session.copy(lab.folder, (".packages",))
        try:
            assert before.special == (1 if lab.kind != "local" else 2), "tar says nothing of sockets"
            assert (await ran(session, CHANGE)).stderr == ""
            await ran(session, "import os; os.chmod('shut', 0o500)")
            after = await session.copy(lab.folder, (".packages",))
            found = difference(before.entries, after.entries).changes
            assert (found.added, found.changed, found.removed) == (1, 3, 3), found
            after.close()
            await session.put_back(before, lab.folder, (".packages",))
            again = await session.copy(lab.folder, (".packages",))
            again.close()
            assert again.state == before.state, difference(before.entries, again.entries)
            assert (await session.read(".packages/p", 0, 9)).data == b"2"
            done = await ran(session, "cat a.txt shut/in; stat -c %a a.txt shut; touch free", Language.SHELL)
            assert done.stdout == "onein640\n555\n", done
        finally:
            before.close()

    within(lab, body)


CLUTTER = """
import os
open('a', 'w').write('changed')
for n in range(9000): open(f'{n}', 'w').close()
os.chmod('.', 0o500)
"""


def test_neither_a_closed_workspace_nor_thousands_of_files_keep_others_from_coming_back(lab: Lab) -> None:
    async def body(session: Session) -> None:
        await ran(session, "open('a', 'w').write('before')")
        before = await session.copy(lab.folder, ())
        try:
            assert (await ran(session, CLUTTER)).stderr == ""
            await session.put_back(before, lab.folder, ())
            done = await ran(session, "ls; cat a; stat -c %a .; touch free", Language.SHELL)
            assert (done.stdout, done.stderr) == ("a\nbefore755\n", ""), done
        finally:
            before.close()

    within(lab, body)


@alike
def test_what_is_too_large_or_not_to_be_read_is_not_copied(lab: Lab) -> None:
    async def body(session: Session) -> None:
        if lab.kind != "local":  # there no file may be larger than the disk that the sandbox has
            await ran(session, f"import os\nwith open('big', 'wb') as f: f.truncate({MOST_BYTES + 1})")
            with pytest.raises(NotCopied, match="larger than 64 MB"):
                await session.copy(lab.folder, ())
            await ran(session, "import os; os.remove('big')")
        await ran(session, "import os; os.mkdir('d'); open('d/f', 'w'); os.chmod('d/f', 0)")
        if lab.kind != "local":  # the console may be root, who reads everything
            with pytest.raises(NotCopied, match="may not be read"):
                await session.copy(lab.folder, ())
        await session.close()
        with pytest.raises(KnownError):
            await session.copy(lab.folder, ())

    within(lab, body)
