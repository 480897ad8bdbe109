"""Values are set in configuration files and taken out again: all else stays to the byte."""

from __future__ import annotations

import pytest

from runner.clients.json_tree import Unparsable
from runner.clients.settings_change import SYNTAXES, Edit, Syntax, applied, taken_back

JSON, TOML, YAML = SYNTAXES[".json"], SYNTAXES[".toml"], SYNTAXES[".yaml"]
SERVER = {"command": '/a "b" c/é', "args": ["mcp"], "env": {"ASSENT_TOKEN": "t"}, "timeout": 200}
HOOK = {"matcher": "*", "hooks": [{"type": "command", "command": 'x || { echo "no" >&2; exit 2; }', "timeout": 6}]}

JSON_TEXTS = [
    '{\n  "a": 1\n}\n',
    '{"a":1}',
    '{ "mcpServers": { "z": {} } }',
    '{\n  // about a\n  "a": 1, // c\n  "b": [1,2,],\n}\n',
    '{\n\t"mcpServers": {\n\t\t"x": {"a": 1}\n\t}\n}',
    '{"mcpServers": {}}',
    '{\r\n  "a": 1\r\n}',
    "{ /* nothing */\n}",
    '{\n  "hooks": {\n    "Pre": ["x"]\n  }\n}',
    '{"mcpServers": {"x": 1}, "hooks": {"Pre": []}, "z": "\\u00e9 // no comment"}',
]
TOML_TEXTS = [
    "",
    'model = "x" # c\n',
    '# h\n[mcpServers.o]\ncommand="y"\n\n# about p\n[p.a]\nz=1\n',
    '[mcpServers]\no = { command = "y" }\n',
    'mcpServers.o.command = "y"\n',
    'text = """\n[mcpServers.assent]\n"""\n',
    '[[hooks.Pre]]\nmatcher = "a"\n\n[z]\na = 1\n',
]
YAML_TEXTS = [
    "GOOSE: a # c\n",
    "mcpServers:\n",
    '# x\nmcpServers:\n  dev:\n    enabled: true # y\n\n  # about b\n  b:\n    type: "x"\n\nlast: 1\n',
    "mcpServers:\n    dev:\n        a: |\n          text\n    # end\n",
]
SERVERS = Edit(("mcpServers", "assent"), SERVER)
HOOKS = Edit(("hooks", "Pre"), HOOK, listed=True)
CASES = [
    *((JSON, text, (SERVERS, HOOKS)) for text in JSON_TEXTS),
    *((TOML, text, (SERVERS, HOOKS)) for text in TOML_TEXTS),
    *((YAML, text, (SERVERS,)) for text in YAML_TEXTS),
]


@pytest.mark.parametrize(("syntax", "text", "edits"), CASES)
def test_what_is_put_in_is_there_and_taking_it_back_leaves_every_byte(
    syntax: Syntax, text: str, edits: tuple[Edit, ...]
) -> None:
    before = syntax.read(text) if text else {}
    after, made = applied(syntax, text, edits)
    values = syntax.read(after)
    assert values["mcpServers"]["assent"] == SERVER
    assert HOOKS not in edits or values["hooks"]["Pre"][-1] == HOOK
    others = {**values["mcpServers"]}
    del others["assent"]
    assert others == (before.get("mcpServers") or {})
    assert applied(syntax, after, edits) == (after, ()), "a second time changes something"
    assert taken_back(syntax, after, made) == text


@pytest.mark.parametrize("syntax", [JSON, TOML, YAML])
def test_an_entry_that_is_there_is_replaced(syntax: Syntax) -> None:
    once, _ = applied(syntax, "", [SERVERS])
    twice, made = applied(syntax, once, [Edit(SERVERS.path, {"command": "other"})])
    assert syntax.read(twice)["mcpServers"] == {"assent": {"command": "other"}}
    assert len(made) == 1


@pytest.mark.parametrize(
    ("syntax", "text", "says"),
    [
        (JSON, '{"a": 1', "line 1"),
        (JSON, '{"a": 1}\n{}', "line 2"),
        (JSON, '{\n"a": 1,\n"a": 2}', "twice"),
        (JSON, '{"mcpServers": []}', "not an object"),
        (JSON, '{"hooks": {"Pre": {}}}', "not a list"),
        (JSON, "[]", "object"),
        (JSON, "[" * 5000, "deep"),
        (JSON, '{"a": "\\q"}', "escape"),
        (TOML, "a = \n", "line 1"),
        (TOML, "mcpServers = 1\n", "not a table"),
        (YAML, "a: [\n", "line 2"),
        (YAML, "- a\n", "names with values"),
        (YAML, "mcpServers: {a: {b: 1}}\n", "cannot be changed"),
        (YAML, "mcpServers: [a]\n", "no entries"),
        (YAML, "[" * 5000, "deep"),
    ],
)
def test_what_cannot_be_changed_is_refused_in_words(syntax: Syntax, text: str, says: str) -> None:
    with pytest.raises(Unparsable, match=says):
        applied(syntax, text, [SERVERS] if syntax is YAML else [SERVERS, HOOKS])


def test_what_a_person_added_in_between_stays() -> None:
    after, made = applied(JSON, "{}", [SERVERS, Edit(("allow",), "mcp__assent", listed=True)])
    later = JSON.add(JSON.put(after, ("mcpServers", "mine"), {}), ("allow",), "theirs")
    assert JSON.read(taken_back(JSON, later, made)) == {"mcpServers": {"mine": {}}, "allow": ["theirs"]}


def test_an_item_of_the_person_that_is_like_ours_stays() -> None:
    allow = Edit(("allow",), "mcp__assent", listed=True)
    text = '{"allow": ["mcp__assent"]}'
    after, made = applied(JSON, text, [allow])
    assert (after, made) == (text, ())
