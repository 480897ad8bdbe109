"""Settings: every declaration, the given names (spec E1, E3), what a broken file means, and saving."""

from __future__ import annotations

import stat
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from runner.engine.supply.networking import caps
from runner.model.errors import KnownError
from runner.sandbox.choose import AUTO, NAMES
from runner.settings.declaration import Declared, Kind
from runner.settings.declared import RUNTIMES
from runner.settings.loading import CEILINGS, Loaded, Settings, SettingSource, declared, load, save
from runner.system import durable
from runner.system.places import Places, resources

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from runner.settings.declaration import Value

ALL = pytest.mark.parametrize("one", declared(), ids=lambda one: one.name)

GIVEN_VARIABLES = {
    "SANDBOX_TYPE": ("local", "sandbox_type", "local"),
    "SANDBOX_TIMEOUT_SEC": ("45", "timeout_seconds", 45.0),
    "SANDBOX_MAX_OUTPUT_KB": ("12", "max_output_kb", 12),
    "SANDBOX_BLOCK_DANGEROUS_IMPORTS": ("true", "block_dangerous_imports", True),
    "SANDBOX_STORE_CODE": ("never", "store_code", "never"),
    "SANDBOX_SUPPORTED_LANGUAGES": ("python,javascript", "supported_languages", ("python", "javascript")),
    "DOCKER_IMAGE": ("mine:latest", "docker_image", "mine:latest"),
    "DOCKER_NETWORK_ENABLED": ("true", "network_by_default", True),
    "DOCKER_CPU_LIMIT": ("0.25", "docker_cpu_cores", 0.25),
    "DOCKER_MEMORY_LIMIT": ("256m", "docker_memory_mb", 256),
}
"""The given variables (spec E1): an accepted text, the field it sets, and to what."""

GIVEN_FILE = """
security:
  sandbox:
    enabled: false
    runtime: runsc # gVisor runtime
    limits:
      max_memory_mb: 640
      max_cpu_cores: 0.75
      max_disk_mb: 2048
      max_execution_time: 31
      max_output_bytes: 1048577
    network:
      enabled_by_default: true
      allowed_registries:
        pypi: [index.example, files.example]
        npm: [npm.example]
    languages:
      python: {image: "sandbox-python:3.11", default_packages: [numpy]}
      javascript: {image: "sandbox-node:20", default_packages: []}
      shell: {image: "sandbox-shell:latest", default_packages: []}
    hitl:
      enabled: true
      auto_approve_low_risk: false
"""
"""Every name of the given configuration (spec E3)."""
FROM_THE_FILE = {
    "enabled": False,
    "sandbox_type": "gvisor",
    "memory_mb": 640,
    "cpu_cores": 0.75,
    "disk_mb": 2048,
    "timeout_seconds": 31.0,
    "max_output_bytes": 1_048_577,
    "network_by_default": True,
    "pypi_registries": ("index.example", "files.example"),
    "npm_registries": ("npm.example",),
    "python_image": "sandbox-python:3.11",
    "python_packages": ("numpy",),
    "javascript_image": "sandbox-node:20",
    "shell_image": "sandbox-shell:latest",
    "auto_approve_low": False,
}


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.under(home)
    places.make()
    return places


def loaded(places: Places, text: str | bytes, environment: Mapping[str, str] = {}) -> Loaded:
    places.settings.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(places, environment)


def nested(path: str, value: str) -> str:
    """YAML that has `value` at a dotted path; the value stands in the last line."""
    names = path.split(".")
    lines = [f"{'  ' * depth}{name}:" for depth, name in enumerate(names)]
    return "\n".join(lines) + f" {value}\n"


def another(one: Declared) -> tuple[str, Value]:
    """A text that is accepted, and the value it stands for, which is not the default."""
    match one.kind:
        case Kind.BOOL:
            return ("no", False) if one.default else ("yes", True)
        case Kind.WHOLE | Kind.NUMBER:
            assert isinstance(one.default, int | float) and one.minimum is not None
            # Halfway to the lower bound: below every ceiling, too.
            number = (one.default + one.minimum) / 2 if one.default > one.minimum else one.minimum + 20
            value = int(number) if one.kind is Kind.WHOLE else number
            return str(value), value
        case Kind.CHOICE:
            word = next(choice for choice in one.choices if choice != one.default)
            return word, word
        case Kind.LIST:
            word = one.choices[0] if one.choices else "something"
            return word, (word,)
        case Kind.TEXT:
            return "/somewhere/else", "/somewhere/else"


def wrong(one: Declared) -> tuple[str, str]:
    """A text that is refused, and what is said of it; empty where every text is good."""
    match one.kind:
        case Kind.BOOL:
            return "maybe", "'maybe' is neither true nor false"
        case Kind.WHOLE | Kind.NUMBER:
            return "1e30", "1e+30 is not between "
        case Kind.CHOICE:
            return "sideways", f"'sideways' is none of {', '.join(one.choices)}"
        case Kind.LIST:
            return ("sideways", "'sideways' is none of ") if one.choices else ("", "")
        case Kind.TEXT:
            return "", ""


# ---- each declaration ----


@ALL
def test_a_declaration_is_whole_and_its_default_valid(one: Declared) -> None:
    assert one.parse(one.default) == one.default
    assert type(one.parse(one.default)) is type(one.default)
    assert one.sentence.endswith(".") and one.group and one.yaml
    assert one.shown(one.default)


@ALL
def test_each_of_its_variables_sets_it(one: Declared, places: Places) -> None:
    text, value = another(one)
    for name in one.environment:
        found = load(places, {name: text})
        assert getattr(found.settings, one.name) == value
        assert found.sources[one.name] is SettingSource.ENVIRONMENT
        assert found.problems == ()


@ALL
def test_each_of_its_places_in_the_file_sets_it(one: Declared, places: Places) -> None:
    text, value = another(one)
    for path in one.yaml:
        found = loaded(places, nested(path, text))
        assert getattr(found.settings, one.name) == value
        assert found.sources[one.name] is SettingSource.YAML
        assert found.problems == ()


@ALL
def test_what_it_cannot_be_is_refused_by_name_and_line(one: Declared, places: Places) -> None:
    text, told = wrong(one)
    if not text:
        text, told = "{a: b}", "a single value or a list is needed"
    path = one.yaml[0]
    found = loaded(places, nested(path, text))
    assert found.problems[0].startswith(f"assent.yaml, line {path.count('.') + 1}: {path}: {told}")
    assert found.problems[0].endswith(f" In its place counts: {one.shown(one.default)}.")
    assert found.settings == Settings()
    assert found.ask_everything
    if told.startswith("a single"):
        return
    name = one.environment[0]
    (problem,) = loaded(places, "", {name: text}).problems
    assert problem.startswith(f"{name}: {told}")


@ALL
def test_what_the_dialog_saves_is_read_back(one: Declared, places: Places) -> None:
    _, value = another(one)
    save(places, {one.name: value})
    found = load(places, {})
    assert getattr(found.settings, one.name) == value
    assert found.problems == ()
    save(places, {one.name: None})
    assert load(places, {}).sources[one.name] is SettingSource.DEFAULT


def test_no_two_declarations_share_a_name() -> None:
    for names in (
        [path for one in declared() for path in one.yaml],
        [n for one in declared() for n in one.environment],
    ):
        assert len(names) == len(set(names))


# ---- the given names ----


def test_the_given_variables_work(places: Places) -> None:
    found = load(places, {name: text for name, (text, _, _) in GIVEN_VARIABLES.items()})
    assert found.problems == ()
    values = asdict(found.settings)
    assert {field: values[field] for _, field, _ in GIVEN_VARIABLES.values()} == {
        field: value for _, field, value in GIVEN_VARIABLES.values()
    }


@pytest.mark.parametrize("kind", ["local", "docker", "e2b"])
def test_the_given_sandboxes_are_known(places: Places, kind: str) -> None:
    assert load(places, {"SANDBOX_TYPE": kind}).settings.sandbox_type == kind


def test_the_given_file_works(places: Places) -> None:
    found = loaded(places, GIVEN_FILE)
    assert found.problems == ()
    values = asdict(found.settings)
    assert {name: values[name] for name in FROM_THE_FILE} == FROM_THE_FILE


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("Index.Example.org., index.example.org", ("index.example.org",)),
        ("index.example.org:8443", ("index.example.org:8443",)),
        ("https://index.example.org/simple/", ("https://index.example.org/simple/",)),
        ("http://10.0.0.5:3141/root/pypi", ("http://10.0.0.5:3141/root/pypi",)),
    ],
)
def test_registries_are_hosts_or_urls(places: Places, given: str, value: tuple[str, ...]) -> None:
    found = load(places, {"ASSENT_PYPI_REGISTRIES": given})
    assert (found.settings.pypi_registries, found.problems) == (value, ())


@pytest.mark.parametrize("given", ["a b", "index.example.org/simple", "file:///srv", "https://", "2130706433", "*"])
def test_a_registry_that_names_no_host_is_a_problem(places: Places, given: str) -> None:
    found = load(places, {"ASSENT_NPM_REGISTRIES": given})
    (problem,) = found.problems
    assert "names no host" in problem and found.settings.npm_registries == ()


def test_the_caps_of_the_network_are_settings(places: Places) -> None:
    text = "security: {sandbox: {network: {max_sent_mb: 5, max_received_mb: 2 GB, max_connections: 3}}}"
    found = loaded(places, text)
    assert found.problems == ()
    bounds = caps(found.settings)
    assert (bounds.sent, bounds.received, bounds.connections) == (5 << 20, 2 << 30, 3)
    assert loaded(places, "security: {sandbox: {network: {max_connections: 0}}}").problems


def test_what_does_nothing_says_so(places: Places) -> None:
    remarks = load(places, {"ASSENT_SHELL_PACKAGES": "jq"}).remarks
    path = "security.sandbox.languages.shell.default_packages"
    assert remarks == (f"{path} has no effect: there are none for Bash.",)
    assert loaded(places, GIVEN_FILE).remarks == (), "an empty list asks for nothing"


@pytest.mark.parametrize("variable", ["SANDBOX_TYPE", "ASSENT_WEAKEST_ISOLATION_HIGH"])
def test_a_wrong_choice_is_told_of_those_that_work(places: Places, variable: str) -> None:
    (problem,) = load(places, {variable: "vm"}).problems
    assert "is none of" in problem and "gvisor-direct" in problem
    assert "e2b" in problem, "that works, too"


@pytest.mark.parametrize(
    ("variable", "value"),
    [("SANDBOX_TYPE", "e2b"), ("SANDBOX_TYPE", "cloud"), ("ASSENT_WEAKEST_ISOLATION_HIGH", "cloud")],
)
def test_the_words_of_the_documents_for_a_sandbox_elsewhere_mean_e2b(places: Places, variable: str, value: str) -> None:
    found = load(places, {variable: value})
    assert (found.remarks, found.problems) == ((), ())
    assert "e2b" in (found.settings.sandbox_type, found.settings.weakest_isolation_high)


@pytest.mark.parametrize("value", ["local", "docker", "gvisor", "runsc", "e2b", "Docker", "E2B"])
def test_each_name_of_a_sandbox_in_the_documents_is_one(places: Places, value: str) -> None:
    found = load(places, {"SANDBOX_TYPE": value})
    assert (found.remarks, found.problems) == ((), ())
    assert found.settings.sandbox_type in NAMES


def test_the_page_of_the_places_has_every_name_and_no_other() -> None:
    page = (resources() / "help" / "beyond.md").read_text("utf-8").partition("| `SANDBOX_TYPE` |")[2]
    rows = [line.split("|")[1] for line in page.partition("\n\n")[0].splitlines()[2:]]
    said = {name.strip(" `") for row in rows for name in row.split(",")}
    assert said == {AUTO, *NAMES, *(word for word, _ in RUNTIMES)}


@pytest.mark.parametrize("value", ["kubernetes", "podman", "firecracker"])
def test_a_name_of_what_is_not_there_is_refused_with_those_that_are(places: Places, value: str) -> None:
    (problem,) = load(places, {"SANDBOX_TYPE": value}).problems
    assert problem.startswith(f"SANDBOX_TYPE: '{value}' is none of {', '.join((AUTO, *NAMES))}.")


# ---- which one counts ----


def test_environment_over_file_over_level_over_default(places: Places) -> None:
    text = "security:\n  level: strict\n  sandbox:\n    limits: {max_memory_mb: 300, max_execution_time: 7}\n"
    found = loaded(places, text, {"SANDBOX_TIMEOUT_SEC": "8"})
    assert found.problems == ()
    assert (found.settings.timeout_seconds, found.sources["timeout_seconds"]) == (8.0, SettingSource.ENVIRONMENT)
    assert (found.settings.memory_mb, found.sources["memory_mb"]) == (300, SettingSource.YAML)
    assert (found.settings.weakest_isolation_high, found.sources["weakest_isolation_high"]) == (
        "docker",
        SettingSource.LEVEL,
    )
    assert (found.settings.disk_mb, found.sources["disk_mb"]) == (1024, SettingSource.DEFAULT)


@pytest.mark.parametrize(
    ("level", "seconds", "memory"), [("permissive", 60, 1024), ("standard", 30, 512), ("strict", 10, 256)]
)
def test_levels_are_those_of_the_second_document(places: Places, level: str, seconds: float, memory: int) -> None:
    settings = load(places, {"SANDBOX_SECURITY_LEVEL": level}).settings
    assert (settings.timeout_seconds, settings.memory_mb) == (seconds, memory)


def test_a_refused_value_is_reported_with_what_counts_at_the_level(places: Places) -> None:
    found = loaded(places, "security:\n  level: strict\n  sandbox:\n    limits: {max_memory_mb: lots}\n")
    assert found.problems == (
        "assent.yaml, line 4: security.sandbox.limits.max_memory_mb: 'lots' is not a number."
        " In its place counts: 256 MB.",
    )
    assert found.settings.memory_mb == 256


@pytest.mark.parametrize(("limit", "ceiling"), CEILINGS)
def test_no_limit_is_above_its_ceiling(places: Places, limit: str, ceiling: str) -> None:
    """The default gives way without a word; what somebody wrote is told."""
    found = load(places, {f"ASSENT_{ceiling.upper()}": "1024" if "output" in ceiling else "20"})
    most = getattr(found.settings, ceiling)
    assert getattr(found.settings, limit) == min(most, getattr(Settings(), limit))
    assert found.problems == ()
    found = load(places, {f"ASSENT_{ceiling.upper()}": f"{most:g}", f"ASSENT_{limit.upper()}": f"{most * 2:g}"})
    assert getattr(found.settings, limit) == most
    assert found.problems[0].startswith(f"ASSENT_{limit.upper()}: ")
    assert " is above security.sandbox.ceilings." in found.problems[0]


def test_the_memory_of_a_container_is_not_above_that_of_any_run(places: Places) -> None:
    found = load(places, {"DOCKER_MEMORY_LIMIT": "8g", "ASSENT_MAX_MEMORY_MB": "1024"})
    assert found.settings.docker_memory_mb == 1024
    assert found.problems[0].startswith("DOCKER_MEMORY_LIMIT: 8192 MB is above ")


def test_an_empty_variable_is_none(places: Places) -> None:
    assert load(places, {"SANDBOX_TYPE": "  ", "SANDBOX_TIMEOUT_SEC": ""}).settings == Settings()


def test_asking_cannot_be_switched_off(places: Places) -> None:
    found = loaded(places, "security:\n  sandbox:\n    hitl: {enabled: no}\n")
    assert found.problems[0].startswith("assent.yaml, line 3: security.sandbox.hitl.enabled cannot be turned off.")


def test_a_misspelled_variable_is_remarked(places: Places) -> None:
    found = load(places, {"SANDBOX_TIMEOUT": "5", "DOCKER_HOST": "its own", "ASSENT_HOME": "x", "ASSENT_TOKEN": "x"})
    assert found.remarks == ("The environment variable SANDBOX_TIMEOUT is no setting of Assent.",)
    assert not found.ask_everything


# ---- a broken file ----


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("security: [1", "line 1: expected ',' or ']'"),
        ("theme: 1\n\ttab: 2", "line 2: found character"),
        (b"security:\n  level: \xff\xfe", "line 2: not UTF-8 text."),
        ("a: \x07", "special characters"),
        ("just words", "line 1: expected names with values."),
        ("- a\n- b\n", "line 1: expected names with values."),
        ("security: 3", "line 1: security needs names with values below it."),
        ("? [a]\n: 1", "line 1: a name must be a single word."),
        ("security: &loop\n  level: *loop", "line 2: too many values."),
        ("a: " + "[" * 60 + "]" * 60, "is nested too deeply."),
        ("a: " + "[" * 50_000, "is nested too deeply."),
        ("x" * 300_000, "has more than 262,144 bytes."),
        ("schema: 2\nsecurity: {level: strict}\n", "line 1: the file has schema 2, this Assent reads schema 1."),
        ("security: {level: strict}\nschema: [1]\n", "line 2: schema must be 1."),
        ("security.level: strict", "line 1: security.level must be written name below name"),
        ("security: {level: strict}\nsecurity: {}\n", "line 2: security is there twice, so neither counts."),
        ("gateway:\n  port: 1\n  port: 2\n", "line 3: gateway.port is there twice, so neither counts."),
        ("gateway: {port: !!python/object/apply:os.abort []}", "line 1: gateway.port: "),
        ("gateway: {port: " + "9" * 400 + "}", "is not a number. In its place counts: 17317."),
        ("security: {sandbox: {limits: {max_memory_mb: " + "9" * 400 + "}}}", "In its place counts: 512 MB."),
        ("security: {sandbox: {limits: {max_execution_time: .nan}}}", "'.nan' is not a number"),
        ("security: {sandbox: {limits: {max_execution_time: -.inf}}}", "'-.inf' is not a number"),
        ("security: {sandbox: {limits: {max_memory_mb: 20.5}}}", "'20.5' is not a whole number"),
        ('security: {sandbox: {image: "a\\nb"}}', "holds characters that cannot be shown"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_read_counts_for_nothing_and_asks_for_everything(
    places: Places, text: str | bytes, told: str
) -> None:
    found = loaded(places, text)
    assert len(found.problems) == 1
    assert found.problems[0].startswith("assent.yaml")
    assert told in found.problems[0]
    assert found.settings == Settings()
    assert found.ask_everything


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("secutiry: {}", "line 1: secutiry is no setting. Is security meant?"),
        ("security:\n  sanbox: {}", "line 2: security.sanbox is no setting. Is security.sandbox meant?"),
        (
            "security:\n  sandbox:\n    limits:\n      max_memory: 1",
            "security.sandbox.limits.max_memory is no setting. Is security.sandbox.limits.max_memory_mb meant?",
        ),
        (
            "security:\n  sandbox: {max_execution_time: 3}",
            "security.sandbox.max_execution_time is no setting. Is security.sandbox.limits.max_execution_time meant?",
        ),
        ("timeout_seconds: 3", "timeout_seconds is no setting. Is security.sandbox.limits.max_execution_time meant?"),
        ("zebra: 3", "line 1: zebra is no setting."),
        ('"a\\nb": 3', r"line 1: 'a\nb' is no setting."),
    ],
)
def test_an_unknown_name_is_reported_with_the_nearest(places: Places, text: str, told: str) -> None:
    (problem,) = loaded(places, text).problems
    assert problem.endswith(told)


@hypothesis(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | st.text(st.sampled_from(" \n:-[]{}&*!|>'\"%#?,a1.e"), max_size=60).map(str.encode))
def test_nothing_in_a_file_stops_the_console(places: Places, data: bytes) -> None:
    found = loaded(places, data)
    assert found.settings == Settings()
    assert all(problem.startswith("assent.yaml") for problem in found.problems)


def test_what_else_is_written_still_counts_beside_a_mistake(places: Places) -> None:
    found = loaded(places, "security: {level: strict}\nwindow: {theme: bright}\n")
    assert found.settings.security_level == "strict"
    assert found.ask_everything


# ---- saving ----

WRITTEN = """\
# My settings.

security: # the engine
  # Strict, because of the last time.
  level: strict # really
  sandbox:
    type: docker   # an older name
window:
  theme: "dark"
# The end.
"""


def test_saving_keeps_everything_else_as_it_was(places: Places) -> None:
    places.settings.write_text(WRITTEN)
    save(places, {"sandbox_type": "local", "port": 4711})
    text = places.settings.read_text()
    for line in WRITTEN.splitlines():
        if "type: docker" not in line:
            assert line in text
    assert "type: local" in text and "# an older name" in text and "runtime" not in text
    assert text.splitlines()[0] == "# My settings."
    assert "schema: 1" in text
    found = load(places, {})
    assert (found.problems, found.settings.sandbox_type, found.settings.port) == ((), "local", 4711)


def test_a_file_of_comments_alone_keeps_them(places: Places) -> None:
    places.settings.write_text("# for later\n")
    save(places, {"theme": "dark"})
    assert places.settings.read_text().startswith("# for later\n")


def test_a_saved_file_is_its_owners_alone(places: Places) -> None:
    places.settings.write_text("schema: 1\n")
    places.settings.chmod(0o644)
    save(places, {"theme": "dark"})
    assert stat.S_IMODE(places.settings.stat().st_mode) == 0o600


def test_a_link_stays_a_link(places: Places, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "assent.yaml"
    target.parent.mkdir()
    target.write_text("# kept\n")
    places.settings.symlink_to(target)
    save(places, {"theme": "dark"})
    assert places.settings.is_symlink()
    assert "theme: dark" in target.read_text()


def test_a_failed_save_leaves_the_old_file_and_nothing_else(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    places.settings.write_text(WRITTEN)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(durable.os, "fsync", full)
    with pytest.raises(KnownError, match="No space left"):
        save(places, {"theme": "light"})
    assert places.settings.read_text() == WRITTEN
    assert [path.name for path in places.config.iterdir()] == ["assent.yaml"]


@pytest.mark.parametrize(
    "text",
    ["security: [1", "a: 1\na: 2\n", "schema: 2\n", "- a\n", "security: 3\n", "security:\n  sandbox: {a: 1, a: 2}\n"],
)
def test_a_file_that_cannot_be_read_is_never_written_over(places: Places, text: str) -> None:
    places.settings.write_text(text)
    with pytest.raises(KnownError):
        save(places, {"timeout_seconds": 5})
    assert places.settings.read_text() == text


@pytest.mark.parametrize(
    ("changes", "told"),
    [({"timeout_seconds": -1}, "-1 is not between 0.1 and 86,400"), ({"tiemout": 1}, "tiemout is no setting")],
)
def test_what_is_no_value_is_not_saved(places: Places, changes: dict[str, object], told: str) -> None:
    with pytest.raises(KnownError, match=told):
        save(places, changes)
    assert not places.settings.exists()
