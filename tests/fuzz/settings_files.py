"""Settings, rules, grants and agents as files: one that cannot be read is reported, and allows nothing."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from runner.identity.agents import Agent, Agents
from runner.model.assessment import Level
from runner.model.request import Language, Tool
from runner.policy.grantfile import Grants, plain
from runner.policy.grants import Grant, Subject
from runner.policy.rulefile import read
from runner.risk.user_rules import read as read_dangers
from runner.settings.loading import load
from runner.system.places import Places
from tests.fuzz.mutation import fuzz

FILES = ("assent.yaml", "rules.yaml", "grants.json", "agents.json", "rules/own.yaml")
GRANT = Grant(
    "one", 1.0, Subject.EXACT, Tool.CODE_EXECUTE, "A title", 3, Level.MEDIUM, "claude", Language.PYTHON, "0" * 64
)
SETTINGS = """\
schema: 1
security:
  level: strict
  sandbox:
    ceilings: {memory_mb: 512}
    hitl: {enabled: true, rules: []}
"""
RULES = """\
schema: 1
rules:
  - name: one
    tools: [code_execute]
    conditions: [{param: code, matches: 'rm +-r'}]
    action: deny
    level: HIGH
    window: 30
"""
DANGERS = """\
schema: 1
rules:
  - id: own.rm
    when: delete
    path: home
    text: '~rm +-r'
    level: high
    capability: destroys files
    reason: It removes.
"""
DOCUMENTS = (
    SETTINGS,
    RULES,
    json.dumps({"schema": 1, "grants": [plain(GRANT)]}),
    json.dumps({"schema": 1, "agents": [asdict(Agent("claude", "0" * 64, 1.5))]}),
    DANGERS,
)
SEEDS = tuple(bytes([number]) + text.encode() for number, text in enumerate(DOCUMENTS))
WORDS = tuple(b'&a |*a|<<: |!!python/object:os.system |- |[|{|{a: |: |\n  |1e999|null|"|-1|9e9'.split(b"|"))


def check(data: bytes) -> None:
    """Fail where a file with `data` is neither read nor reported."""
    which, content = (data[0] % len(FILES), data[1:]) if data else (0, b"")
    with tempfile.TemporaryDirectory(prefix="assent-fuzz-") as folder:
        places = Places.under(Path(folder))
        places.make()
        (places.config / "rules").mkdir()
        for home in (places.config, places.data, places.state):
            path = home / FILES[which]
            if path.parent.is_dir():
                path.write_bytes(content)
        loaded = load(places, {})
        assert all(isinstance(one, str) and one for one in loaded.problems)
        rules = read(places, loaded.rules)
        assert all(isinstance(one, str) and one for one in rules.problems)
        read_dangers(places.config / "rules")
        grants, agents = Grants(places), Agents(places)
        assert not grants.problem or not grants.all()
        assert not agents.problem or not agents.all()


def run(seconds: float, seed: int) -> int:
    return fuzz("settings_files", check, SEEDS, seconds, seed, WORDS)
