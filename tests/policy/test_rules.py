"""Rules: their given form (spec E3), the order, and what an unreadable file means."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.model.assessment import Assessment, Level
from runner.model.decision import Ask, Decision, Verdict
from runner.model.plan import Plan, PlannedPackage, Registry
from runner.model.request import BROUGHT, Isolation, KnownFile, Language, Limits, NetworkMode, Request, Tool
from runner.model.sent_files import SentFiles
from runner.policy.decide import Policy
from runner.policy.rulefile import read
from runner.policy.rules import Action
from runner.settings.loading import Settings
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

    from runner.policy.rules import Rules

CODE = Request("1", "claude", Tool.CODE_EXECUTE, 0.0, Language.SHELL, "rm -rf build")
INFO = Request("2", "claude", Tool.CODE_SANDBOX_INFO, 0.0)
HIGH = Assessment(Level.HIGH, ("any code",))
LOW = Assessment(Level.LOW, ("metadata",))
SOURCE_DOCUMENT = r"""
rules:
  - tools: [code_execute]
    risk: critical
    conditions: [{param: network_enabled, equals: true}]
    timeout: 30
    description: Code execution with network access
  - tools: [code_execute]
    risk: CRITICAL
    conditions:
      - param: code
        matches: '(?i)(rm\s+-rf|curl.*\|\s*sh|eval\(|exec\()'
    timeout: 20
    description: Dangerous code patterns detected
  - tools: [code_execute]
    risk: HIGH
    require_approval: true
    timeout: 60
"""


def rules(tmp_path: Path, text: str) -> Rules:
    places = Places.under(tmp_path)
    places.make()
    (places.config / "rules.yaml").write_text(text)
    return read(places)


def policy(found: Rules) -> Policy:
    return Policy(Settings(), found, ask_everything=bool(found.problems))


def test_the_rules_of_the_source_document_work(tmp_path: Path) -> None:
    asked = policy(rules(tmp_path, SOURCE_DOCUMENT))
    raised = asked.weigh(CODE, HIGH)
    assert raised.level is Level.CRITICAL
    decided = asked.decide(CODE, raised)
    assert isinstance(decided, Ask) and decided.window == 20
    network = Request("1", "a", Tool.CODE_EXECUTE, 0.0, Language.SHELL, "ls", network=NetworkMode.REGISTRIES)
    decided = asked.decide(network, HIGH)
    assert isinstance(decided, Ask) and decided.window == 30


ONLINE = replace(
    CODE,
    network=NetworkMode.DOMAINS,
    domains=("*.files.example", "api.example.org", "api.example.org:8443"),
    limits=Limits(memory_mb=256, disk_mb=64, output_bytes=4096),
    isolation=Isolation.DOCKER,
    context='{"rows": 3}',
    stdin="one\ntwo",
)
WRITE = replace(
    Request("3", "claude", Tool.CODE_WRITE_FILE, 0.0, code="a,b", files=("notes/a.txt",)), executable=True, sandbox="k7"
)
PLANNED = replace(
    CODE,
    packages=("requests>=2",),
    plan=Plan(
        Registry.PYPI,
        ("index.test",),
        (
            PlannedPackage("requests", "2.34.0", "requests.whl", "0" * 64, 9, "https://index.test/r"),
            PlannedPackage("urllib3", "2.7.0", "urllib3.whl", "1" * 64, 9, "https://index.test/u"),
        ),
    ),
)


@pytest.mark.parametrize(
    ("request_", "condition", "holds"),
    [
        (ONLINE, "{param: domain, equals: api.example.org}", True),
        (ONLINE, "{param: domain, equals: API.example.ORG.}", True),
        (ONLINE, "{param: allowed_domains, equals: 'api.example.org:8443'}", True),
        (ONLINE, "{param: domain, equals: 'api.example.org:80'}", False),
        (ONLINE, "{param: domain, equals: example.org}", False),
        (ONLINE, "{param: domain, equals: evil-api.example.org}", False),
        # A wildcard of the request reaches the rule's host, and one of the rule stands for all names below it.
        (ONLINE, "{param: domain, equals: cdn.files.example}", True),
        (ONLINE, "{param: domain, equals: files.example}", False),
        (ONLINE, "{param: domain, equals: '*.example.org'}", True),
        (ONLINE, "{param: domain, equals: '*.cdn.files.example'}", True),
        (ONLINE, "{param: domain, equals: '*.org.example'}", False),
        (ONLINE, "{param: domain, matches: '(^|[.])example[.]org'}", True),
        (ONLINE, "{param: domain, matches: '^files'}", False),
        (CODE, "{param: domain, matches: ''}", False),
        (ONLINE, "{param: max_memory_mb, equals: 256}", True),
        (ONLINE, "{param: max_memory_mb, equals: 25}", False),
        (ONLINE, "{param: max_disk_mb, equals: 64.0}", True),
        (ONLINE, "{param: max_output_bytes, equals: 4096}", True),
        (ONLINE, "{param: isolation, equals: docker}", True),
        (ONLINE, "{param: context, matches: '\"rows\": 3'}", True),
        (ONLINE, "{param: stdin, matches: two$}", True),
        (WRITE, "{param: file_path, matches: '^notes/'}", True),
        (WRITE, "{param: path, equals: a.txt}", False),
        (WRITE, "{param: content, equals: 'a,b'}", True),
        (CODE, "{param: content, matches: rm}", False),
        (WRITE, "{param: executable, equals: yes}", True),
        (CODE, "{param: executable, equals: yes}", False),
        (WRITE, "{param: sandbox_id, equals: k7}", True),
        (CODE, "{param: sandbox_id, equals: ''}", True),
        (PLANNED, "{param: package, equals: urllib3}", True),
        (PLANNED, "{param: package, equals: urllib3==2.7.0}", True),
        (PLANNED, "{param: packages, matches: '^requests>='}", True),
        (PLANNED, "{param: package, equals: url}", False),
        (PLANNED, "{param: registry, equals: pypi}", True),
        (CODE, "{param: registry, equals: pypi}", False),
    ],
)
def test_a_rule_can_name_every_parameter(tmp_path: Path, request_: Request, condition: str, holds: bool) -> None:
    found = rules(tmp_path, f"rules: [{{name: this, action: deny, conditions: [{condition}]}}]")
    assert found.problems == ()
    assert (policy(found).rule(request_) is not None) is holds


@pytest.mark.parametrize("value", ["'https://a.example'", "'*'", "'a b'", "2130706433"])
def test_a_condition_on_what_is_no_host_is_a_problem(tmp_path: Path, value: str) -> None:
    found = rules(tmp_path, f"rules: [{{conditions: [{{param: domain, equals: {value}}}]}}]")
    (problem,) = found.problems
    assert "equals names no host" in problem and "line 1" in problem


def test_a_request_of_an_earlier_version_with_another_kind_of_domain_is_still_read(tmp_path: Path) -> None:
    found = rules(tmp_path, "rules: [{name: this, conditions: [{param: domain, matches: example}]}]")
    assert policy(found).rule(replace(ONLINE, domains=("https://a.example/x",))) is not None


def test_a_rule_never_lowers_the_level(tmp_path: Path) -> None:
    found = rules(tmp_path, "rules: [{tools: [code_execute], level: LOW}]")
    assert policy(found).weigh(CODE, HIGH) == HIGH


def test_allowing_code_still_asks(tmp_path: Path) -> None:
    found = rules(tmp_path, "rules: [{action: allow}]")
    assert isinstance(policy(found).decide(CODE, HIGH), Ask)
    decided = policy(found).decide(INFO, Assessment(Level.MEDIUM, ("files",)))
    assert isinstance(decided, Decision) and decided.verdict is Verdict.APPROVED


def test_the_first_rule_counts_and_deny_beats_allow(tmp_path: Path) -> None:
    found = rules(tmp_path, "rules: [{name: a, action: allow}, {name: b, action: ask}, {name: c, action: deny}]")
    rule = found.match("claude", "code_execute", {})
    assert rule is not None and (rule.name, rule.action) == ("c", Action.DENY)
    found = rules(tmp_path, "rules: [{name: b, action: ask}, {name: c, action: deny}]")
    rule = found.match("claude", "code_execute", {})
    assert rule is not None and rule.name == "b"


def test_denied_by_rule_says_which_and_why(tmp_path: Path) -> None:
    found = rules(tmp_path, "rules: [{name: no-shell, action: deny, description: Use Python}]")
    decided = policy(found).decide(CODE, HIGH)
    assert isinstance(decided, Decision)
    assert (decided.verdict, decided.rule, decided.reason) == (Verdict.DENIED, "no-shell", "Use Python")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rules: [", "line 1"),
        ("rules:\n  - tols: [x]", "line 2: tols is no part of a rule"),
        ("rules:\n  - conditions:\n    - {param: code, matches: '('}", "line 3"),
        ("rules: [{level: SEVERE}]", "'SEVERE' is not one of"),
        ("rules: [{timeout: -1}]", "timeout must be seconds"),
        ("rules: {a: b}", "rules must be a list"),
        ("other: 1", "other is not known here"),
        ("rules: [{action: approve}]", "'approve' is not one of"),
        ("rules: [{action: deny}]\nrules: []", "line 2: rules is there twice"),
        ("schema: 2\nrules: []", "line 1: this Assent reads schema 1"),
        ("rules:\n  - {tools: [code_exec], action: deny}", "line 2: no tool is called 'code_exec'"),
        ("rules:\n  - conditions: [{param: comand, equals: rm}]", "line 2: there is no parameter 'comand'"),
        ("rules:\n  - conditions: [{param: code, equals: a, equals: b}]", "line 2: equals is there twice"),
    ],
)
def test_what_cannot_be_read_asks_for_everything_and_says_where(tmp_path: Path, text: str, told: str) -> None:
    found = rules(tmp_path, text)
    assert told in found.problems[0]
    assert isinstance(policy(found).decide(INFO, LOW), Ask)


def test_no_pattern_can_hang(tmp_path: Path) -> None:
    found = rules(tmp_path, "rules: [{conditions: [{param: code, matches: '(a+)+$'}], action: deny}]")
    assert found.match("x", "code_execute", {"code": "a" * 50_000 + "!"}) is None


def test_low_passes_unasked_unless_switched_off() -> None:
    from runner.policy.rules import Rules

    decided = Policy(Settings(), Rules()).decide(INFO, LOW)
    assert isinstance(decided, Decision) and decided.verdict is Verdict.APPROVED
    assert isinstance(Policy(Settings(auto_approve_low=False), Rules()).decide(INFO, LOW), Ask)


def test_files_of_a_project_never_leave_unasked() -> None:
    from dataclasses import replace

    from runner.policy.rules import Rule, Rules

    there = replace(CODE, isolation=Isolation.E2B)
    sending = replace(there, sends=SentFiles())
    allowing = Rules((Rule("mine", Action.ALLOW),))
    for policy in (Policy(Settings(), Rules()), Policy(Settings(), allowing)):
        assert isinstance(policy.decide(there, LOW), Decision)
        assert isinstance(policy.decide(sending, LOW), Ask)
        assert "leave this machine" in policy.closed_to_grants(sending, Level.LOW)
        assert not policy.closed_to_grants(there, Level.LOW)


def test_critical_is_blocked_on_the_local_sandbox_and_not_on_docker() -> None:
    from dataclasses import replace

    from runner.policy.rules import Rules

    decider = Policy(Settings(), Rules())
    assert "docker or stronger" in decider.blocked(CODE, Level.CRITICAL)
    assert decider.blocked(CODE, Level.HIGH) == ""
    assert decider.blocked(replace(CODE, isolation=Isolation.DOCKER), Level.CRITICAL) == ""
    online = replace(CODE, network=NetworkMode.REGISTRIES)
    said = decider.blocked(online, Level.CRITICAL)
    assert "asks for docker or stronger. Network access is always CRITICAL." in said
    assert '"Minimum sandbox for CRITICAL" in Settings' in said, "the setting that helps"
    assert Policy(Settings(weakest_isolation_critical="local"), Rules()).blocked(online, Level.CRITICAL) == ""
    assert decider.blocked(replace(online, isolation=Isolation.GVISOR), Level.CRITICAL) == ""


@pytest.mark.parametrize("tool", [Tool.CODE_EXECUTE, Tool.CODE_CREATE_SANDBOX])
def test_what_no_setting_changes_is_said_first(tool: Tool) -> None:
    from runner.policy.rules import Rules

    online = replace(CODE, tool=tool, network=NetworkMode.REGISTRIES, isolation=Isolation.PROCESS)
    lenient = Policy(Settings(weakest_isolation_critical="process"), Rules())
    said = lenient.blocked(online, Level.CRITICAL)
    assert said and "Settings" not in said and "Deny it" in said
    assert lenient.blocked(replace(online, network=NetworkMode.NONE), Level.CRITICAL) == ""


def test_nothing_is_approved_as_plain_processes_unless_the_settings_say_so() -> None:
    from runner.policy.rules import Rules

    plain = replace(CODE, isolation=Isolation.PROCESS)
    for level in (Level.LOW, Level.MEDIUM, Level.HIGH):
        assert "not run on the process sandbox: your policy asks for local or" in Policy(Settings(), Rules()).blocked(
            plain, level
        )
    assert "asks for docker or stronger" in Policy(Settings(), Rules()).blocked(plain, Level.CRITICAL)
    assert Policy(Settings(), Rules()).closed_to_grants(plain, Level.HIGH)
    vouched = Policy(Settings(weakest_isolation_high="process", weakest_isolation_medium="process"), Rules())
    assert [vouched.blocked(plain, level) for level in (Level.LOW, Level.MEDIUM, Level.HIGH)] == ["", "", ""]
    assert vouched.blocked(plain, Level.CRITICAL)


@pytest.mark.parametrize(
    "condition",
    [
        r"{param: file_path, matches: '\.sh$'}",
        r"{param: path, equals: tools/run.sh}",
        "{param: content, matches: 'rm -rf'}",
        "{param: code, matches: 'rm -rf'}",
        "{param: executable, equals: true}",
        "{param: sandbox_id, equals: 3f9c}",
    ],
)
def test_rules_see_files(tmp_path: Path, condition: str) -> None:
    found = policy(rules(tmp_path, f"rules: [{{action: deny, conditions: [{condition}]}}]"))
    assert not found.asks_everything
    other = Request("1", "a", Tool.CODE_WRITE_FILE, 0.0, code="x", files=("notes.txt",), sandbox="77aa")
    write = replace(other, code="rm -rf build", files=("tools/run.sh",), sandbox="3f9c", executable=True)
    decided = found.decide(write, HIGH)
    assert isinstance(decided, Decision) and decided.verdict is Verdict.DENIED
    assert isinstance(found.decide(other, HIGH), Ask)


def test_rules_see_the_memory_that_is_asked_for(tmp_path: Path) -> None:
    found = policy(rules(tmp_path, "rules: [{action: deny, conditions: [{param: max_memory_mb, equals: 4096}]}]"))
    assert isinstance(found.decide(replace(CODE, limits=Limits(memory_mb=4096)), HIGH), Decision)
    assert isinstance(found.decide(CODE, HIGH), Ask)


@pytest.mark.parametrize(
    "condition", ["{param: known_files, equals: sub/evil.py}", "{param: known_content, matches: rm}"]
)
def test_rules_see_files_that_code_starts(tmp_path: Path, condition: str) -> None:
    found = policy(rules(tmp_path, f"rules: [{{action: deny, conditions: [{condition}]}}]"))
    assert not found.asks_everything
    plain, evil = KnownFile("plain.py", "print(1)"), KnownFile("sub/evil.py", "rm")
    decided = found.decide(replace(CODE, known=(plain, evil)), HIGH)
    assert isinstance(decided, Decision) and decided.verdict is Verdict.DENIED
    assert isinstance(found.decide(replace(CODE, known=(plain,)), HIGH), Ask)


@pytest.mark.parametrize(
    ("param", "handed"), [("stdin", {"stdin": "cat ~/.ssh/id_rsa"}), ("context", {"context": '{"a": [".ssh/id_rsa"]}'})]
)
def test_rules_see_input_and_variables(tmp_path: Path, param: str, handed: dict[str, str]) -> None:
    text = f"rules: [{{action: deny, conditions: [{{param: {param}, matches: 'id_rsa'}}]}}]"
    found = policy(rules(tmp_path, text))
    assert not found.asks_everything
    decided = found.decide(replace(CODE, code="sh", **handed), HIGH)
    assert isinstance(decided, Decision) and decided.verdict is Verdict.DENIED
    assert isinstance(found.decide(replace(CODE, code="cat id_rsa"), HIGH), Ask)


def test_what_e2b_is_worth_is_for_the_person_to_say() -> None:
    from runner.policy.rules import Rules

    there = replace(CODE, isolation=Isolation.E2B)
    usual = Policy(Settings(), Rules())
    assert usual.blocked(there, Level.HIGH) == "", "as good as the local sandbox, unless something else is said"
    said = usual.blocked(there, Level.CRITICAL)
    assert "asks for docker or stronger. E2B counts as local there (e2b.counts_as)." in said
    trusted = Policy(Settings(e2b_counts_as="gvisor"), Rules())
    assert trusted.blocked(there, Level.CRITICAL) == ""
    doubted = Policy(Settings(e2b_counts_as="process"), Rules())
    assert "asks for local" in doubted.blocked(there, Level.HIGH)
    nowhere_else = Policy(Settings(weakest_isolation_high="e2b"), Rules())
    assert nowhere_else.blocked(there, Level.HIGH) == ""
    assert "asks for e2b" in nowhere_else.blocked(replace(CODE, isolation=Isolation.GVISOR), Level.HIGH)


def test_what_a_packages_sandbox_is_worth_is_nothing_until_the_person_says_so() -> None:
    from runner.policy.rules import Rules

    there = replace(CODE, isolation=Isolation.PLUGIN, protections=(f"{BROUGHT}tiny of the package tiny 1.0", "x"))
    said = Policy(Settings(), Rules()).blocked(there, Level.MEDIUM)
    assert "asks for local or stronger. tiny of the package tiny 1.0 counts as process there (plugin.counts_as)" in said
    # What was said of E2B is not said of a package.
    assert Policy(Settings(e2b_counts_as="gvisor"), Rules()).blocked(there, Level.MEDIUM) == said
    trusted = Policy(Settings(plugin_counts_as="docker"), Rules())
    assert trusted.blocked(there, Level.CRITICAL) == ""
    networked = replace(there, network=NetworkMode.DOMAINS, domains=("example.org:443",))
    assert "Sandboxes of installed packages get no network" in trusted.blocked(networked, Level.MEDIUM)
