"""What a model pays for and reads: the list of tools, short answers, names it makes up, pictures, hidden characters."""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import replace
from typing import Any

import pytest

from runner.gateway import catalog, pictures
from runner.gateway.arguments import submission
from runner.gateway.replies import answered
from runner.gateway.server import DETAILS, _result
from runner.gateway.tools import Tools
from runner.gateway.waiting import Caller
from runner.model.answer import ASK_FOR_HOSTS, Answer
from runner.model.decision import Decider, Decision, Verdict
from runner.model.errors import KnownError, Refused
from runner.model.network import Contact
from runner.model.plain import plain
from runner.model.request import Language, Tool
from runner.model.result import CapturedFile, Meta, Outcome, Result

APPROVED = Decision(Verdict.APPROVED, Decider.PERSON, "")
PNG = pictures.PNG + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\x08\x02\x00\x00\x00"


def ran(outcome: Outcome = Outcome.OK, **more: Any) -> Answer:
    whole = {"stdout": "", "stderr": "", "exit_code": 0, "duration": 0.1, **more}
    return Answer("r" * 32, APPROVED, Result(outcome, **whole))


def test_the_list_of_tools_stays_within_its_price() -> None:
    seen = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in catalog.TOOLS]
    assert len(json.dumps(seen, separators=(",", ":"))) <= catalog.MOST_CHARACTERS
    assert len(catalog.INSTRUCTIONS) < 500


def test_descriptions_say_what_is_not_there_and_tools_are_loaded_at_once() -> None:
    tools = {tool["name"]: tool for tool in catalog.TOOLS}
    execute = tools["code_execute"]["description"]
    for word in ("project", "No network unless", "10 KB", "code_create_sandbox", "`result`"):
        assert word in execute
    at_once = [name for name, tool in tools.items() if tool.get("_meta", {}).get("anthropic/alwaysLoad")]
    assert at_once == ["code_execute", "code_result"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [("bash", "shell"), ("sh", "shell"), ("py", "python"), ("Node", "javascript"), ("js", "javascript")],
)
def test_names_of_languages_that_models_use(said: str, meant: str) -> None:
    for tool, more in ((Tool.CODE_EXECUTE, {"code": "1"}), (Tool.CODE_CREATE_SANDBOX, {})):
        assert submission("a", tool, {"language": said, **more}).language is Language(meant)


def test_a_language_that_is_none() -> None:
    with pytest.raises(Refused, match="'COBOL'"):
        submission("a", Tool.CODE_EXECUTE, {"language": "COBOL", "code": "1"})


def test_hello_costs_next_to_nothing() -> None:
    meta = Meta(runtime="local", versions={"python": "3.12"}, protections=("no network (namespace)",) * 10)
    reply = answered(ran(stdout="hello 42\n", meta=meta), 10)
    assert reply.text == "hello 42"
    assert reply.data == {"status": "finished", "stdout": "hello 42\n", "duration": 0.1}


def test_how_a_run_went_is_told_only_where_it_says_something() -> None:
    told = {"truncated", "timed_out", "blocked_imports"}
    assert not answered(ran(stdout="hello\n"), 10).data.keys() & told
    assert answered(ran(stdout="x" * 20_000), 10).data["truncated"] is True
    assert answered(ran(meta=Meta(truncated=True)), 10).data["truncated"] is True
    assert answered(ran(value="x" * 20_000), 10).data["truncated"] is True
    assert answered(ran(Outcome.TIMED_OUT, exit_code=-1), 10).data["timed_out"] is True
    blocked = Meta(blocked_imports=("socket", "socket", "a\x1b]0;owned\x07" + "b" * 1000))
    data = answered(ran(Outcome.FAILED, exit_code=1, meta=blocked), 10).data
    assert data["blocked_imports"] == ["socket", (r"a\x1b]0;owned\x07" + "b" * 100)[:100]]
    many = Meta(blocked_imports=tuple(map(str, range(100))))
    assert len(answered(ran(meta=many), 10).data["blocked_imports"]) == 20  # type: ignore[arg-type]


def test_text_and_data_say_the_same_of_a_failure() -> None:
    files = tuple(CapturedFile(f"f{number}", 1, "0" * 64) for number in range(25))
    contacts = (Contact("evil.example", 443, False, "x"),)
    answer = ran(Outcome.FAILED, stderr="oops\n", exit_code=3, error="Exit code 3", files=files, contacts=contacts)
    reply = answered(answer, 10)
    assert reply.text.startswith("stderr:\noops\nError (exit_code=3)\nFiles created: f0 (1 bytes)")
    assert " and 5 more" in reply.text
    assert {**reply.data, "files": 0} == {
        "status": "failed",
        "stderr": "oops\n",
        "exit_code": 3,
        "files": 0,
        "files_not_named": 5,
        "refused_hosts": "evil.example",
        "advice": ASK_FOR_HOSTS,
        "duration": 0.1,
    }
    assert len(reply.data["files"]) == 20  # type: ignore[arg-type]


def test_how_a_run_ended_is_said_once() -> None:
    stderr = "half\nExecution timed out after 30 s.\n"
    reply = answered(ran(Outcome.TIMED_OUT, stderr=stderr, exit_code=-1, error="Execution timed out after 30 s"), 10)
    assert reply.text == "stderr:\nhalf\nError (exit_code=-1): Execution timed out after 30 s"
    assert reply.data["stderr"] == "half\n"


HOSTILE = "a\x1b]0;owned\x07b\u202ec\x9b2Jd\rx\U000e0041"


def test_nothing_in_an_answer_commands_a_terminal_or_hides() -> None:
    answer = ran(stdout=HOSTILE, stderr=HOSTILE, value={HOSTILE: [HOSTILE]})
    facts = Answer("r", APPROVED, facts={"content": HOSTILE})
    denied = Answer("r", replace(APPROVED, verdict=Verdict.DENIED, reason=HOSTILE))
    for one in (answer, facts, denied):
        reply = answered(one, 10)
        said = reply.text + json.dumps(reply.data, ensure_ascii=False)
        assert not set(said) & set(HOSTILE.translate({ord(c): None for c in "ab]0;ownedc2Jdx"}))
        assert r"\x1b]0;owned\x07b\u202ec" in reply.text
    assert answered(answer, 10, as_it_is=True).data["stdout"] == HOSTILE


def test_colours_go_and_letters_of_all_languages_stay() -> None:
    assert plain("\x1b[1;31mred\x1b[0m\r\n\tok") == "red\n\tok"
    same = "Grüße, שלום, می‌خواهم, 👩‍👩‍👧, 日本"
    assert plain(same) == same
    assert plain("1%\r2%") == r"1%\x0d2%"


def test_escapes_do_not_make_an_answer_longer_than_its_bound() -> None:
    reply = answered(ran(stdout="\x1b" * 50_000), 10)
    assert len(reply.text) < 11_000 and len(json.dumps(reply.data)) < 22_000


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (PNG[:20], ""),
        (PNG.replace(struct.pack(">I", 640), struct.pack(">I", 60_000)), ""),
        (b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x01\xe0\x02\x80", "image/jpeg"),
        (b"\xff\xd8\xff\xe0\x00\x00\x00\x00\x00\x00\x00\x00", ""),
        (b"\xff\xd8\xff", ""),
        (b"<svg/>", ""),
    ],
)
def test_a_picture_is_what_its_content_says(data: bytes, kind: str) -> None:
    assert pictures.kind_of(data) == kind


class Files:
    """Files of a run, by their hash. `read` counts what was opened."""

    def __init__(self, contents: dict[str, bytes]) -> None:
        self.contents = contents
        self.read: list[str] = []

    def files(self) -> tuple[CapturedFile, ...]:
        return tuple(CapturedFile(path, len(data), path) for path, data in self.contents.items())

    async def captured(self, file: CapturedFile) -> bytes:
        self.read.append(file.path)
        if file.path == "gone.png":
            raise KnownError("It is gone.")
        return self.contents[file.path]


@pytest.mark.asyncio
async def test_pictures_come_with_the_answer_within_a_bound() -> None:
    big = PNG + b"x" * pictures.LARGEST
    store = Files({"data.csv": b"1", "big.png": big, "gone.png": PNG, "no.png": b"text", "plot.PNG": PNG})
    found = await pictures.of_run(ran(files=store.files()).result, store.captured)  # type: ignore[arg-type]
    assert [(file.path, one.kind) for file, one in found] == [("plot.PNG", "image/png")]
    assert store.read == ["gone.png", "no.png", "plot.PNG"]
    many = Files({f"{number}.png": PNG + bytes([number]) for number in range(50)})
    assert len(await pictures.of_run(ran(files=many.files()).result, many.captured)) == pictures.MOST  # type: ignore[arg-type]
    assert len(many.read) <= 2 * pictures.MOST


@pytest.mark.asyncio
@pytest.mark.parametrize("as_it_is", [False, True])
async def test_a_model_gets_pictures_as_pictures_and_a_program_none(as_it_is: bool) -> None:
    store = Files({"plot.png": PNG})
    tools = Tools(store, None, None, None, 10)  # type: ignore[arg-type]
    reply = await tools._reply(ran(stdout="done\n", files=store.files()), Caller("a", 1.0, as_it_is=as_it_is))
    result = _result(reply)
    assert result.meta is not None and result.meta[DETAILS]["outcome"] == "ok"
    if as_it_is:
        assert [part.type for part in result.content] == ["text"] and result.structured_content is not None
        return
    text, picture = result.content
    assert text.type == "text" and text.text.endswith("\nPictures attached: plot.png")
    assert picture.type == "image" and (picture.mime_type, base64.b64decode(picture.data)) == ("image/png", PNG)
    assert result.structured_content is None, "clients that show it would not show the picture"
