"""The registries of this machine: read from files and variables, never shown with credentials."""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING

import pytest

from runner.model.network import Destination
from runner.network import pip_settings
from runner.network.authorities import SYSTEM_ONLY
from runner.network.config_files import Surroundings
from runner.network.registries import NO_INDEX, NO_NPM, NO_PIP, Registries, of_this_machine, of_tools

if TYPE_CHECKING:
    from pathlib import Path

INDEX_SOURCE = """
class PackageIndex:
    pass

PyPI = PackageIndex("https://index.example/", file_storage_domain="files.example")
TestPyPI = PackageIndex("https://test.example/", file_storage_domain="test-files.example")
"""
DEFINITIONS = """
  registry: new Definition('registry', {
    default: 'https://npm.example/',
    type: url,
"""


class Machine:
    """A machine with a home and programs of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.environ = {"PATH": str(root / "usr/bin"), "XDG_CONFIG_DIRS": str(root / "xdg")}
        self.home.mkdir()

    def write(self, place: str, text: str) -> Path:
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def program(self, name: str) -> None:
        self.write(f"usr/bin/{name}", "#!/bin/sh\nexit 1\n").chmod(0o755)

    def with_pip(self) -> None:
        self.program("pip3")
        self.write("usr/lib/python3.13/site-packages/pip/_internal/models/index.py", INDEX_SOURCE)

    def with_npm(self) -> None:
        self.write("usr/lib/node_modules/npm/bin/npm-cli.js", "").chmod(0o755)
        self.write("usr/lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions/definitions.js", DEFINITIONS)
        (self.root / "usr/bin").mkdir(exist_ok=True)
        (self.root / "usr/bin/npm").symlink_to("../lib/node_modules/npm/bin/npm-cli.js")
        self.program("node")

    def read(self, pypi: tuple[str, ...] = (), npm: tuple[str, ...] = ()) -> Registries:
        return of_this_machine(pypi, npm, Surroundings(self.environ, self.home))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    # The pip of the interpreter that runs the tests must not answer for the made-up machine.
    for name in ("prefix", "base_prefix"):
        monkeypatch.setattr(f"runner.network.pip_settings.sys.{name}", str(tmp_path / "no-python"))
    monkeypatch.setattr(pip_settings, "SYSTEM_WHEELS", tmp_path / "usr/share/python-wheels")
    monkeypatch.setattr(pip_settings.sysconfig, "get_path", lambda _name: str(tmp_path / "stdlib"))
    monkeypatch.setattr(pip_settings.sysconfig, "get_config_var", lambda _name: None)
    return Machine(tmp_path)


def hosts(*names: str) -> tuple[Destination, ...]:
    return tuple(sorted(map(Destination.parse, names)))


def test_where_nothing_is_configured_the_installed_programs_say_their_defaults(machine: Machine) -> None:
    machine.with_pip()
    machine.with_npm()
    found = machine.read()
    assert found.pypi == ("https://index.example/simple",)
    assert found.npm == ("https://npm.example/",)
    assert found.pypi_hosts == hosts("files.example", "index.example")
    assert found.destinations == hosts("files.example", "index.example", "npm.example")
    assert found.problems == ()


def test_without_pip_and_npm_the_person_is_asked_to_name_the_hosts(machine: Machine) -> None:
    found = machine.read()
    assert found.destinations == ()
    assert found.problems == (NO_PIP, NO_NPM) and found.absent == ("pip", "npm")
    # Named by a person, neither is missed.
    assert machine.read(("https://set.example/",), ("https://set.example/npm",)).absent == ()


@pytest.mark.parametrize(
    "place", ["stdlib/ensurepip/_bundled", "usr/lib/python3.13/ensurepip/_bundled", "usr/share/python-wheels"]
)
def test_the_wheel_that_a_python_or_the_system_carries_says_it_too(machine: Machine, place: str) -> None:
    machine.program("python3")
    wheel = machine.write(f"{place}/pip-25.0-py3-none-any.whl", "")
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("pip/_internal/models/index.py", INDEX_SOURCE)
    assert machine.read().pypi == ("https://index.example/simple",)


@pytest.mark.parametrize("text", ["", "(", "PyPI = 1", "PyPI = PackageIndex(url)", "\0"])
def test_a_source_that_is_not_understood_says_nothing(machine: Machine, text: str) -> None:
    machine.with_pip()
    machine.write("usr/lib/python3.13/site-packages/pip/_internal/models/index.py", text)
    assert machine.read().pypi == ()


def test_files_and_variables_count_in_pips_order(machine: Machine) -> None:
    machine.with_pip()
    places = ("xdg/pip/pip.conf", "home/.pip/pip.conf", "home/.config/pip/pip.conf", "usr/pip.conf", "named.conf")
    for number, place in enumerate(places):
        machine.write(place, f"[global]\nindex-url = https://i{number}.example/simple\n")
        if place == "named.conf":
            machine.environ["PIP_CONFIG_FILE"] = str(machine.root / place)
        assert machine.read().pypi == (f"https://i{number}.example/simple",)
    machine.environ["PIP_INDEX_URL"] = "https://variable.example/simple"
    assert machine.read().pypi == ("https://variable.example/simple",)
    machine.environ["PIP_INDEX_URL"] = ""
    assert machine.read().pypi == ("https://i4.example/simple",)


def test_a_named_file_replaces_that_of_the_user(machine: Machine) -> None:
    machine.write("home/.config/pip/pip.conf", "[global]\nextra-index-url = https://user.example/\n")
    machine.environ["PIP_CONFIG_FILE"] = str(machine.write("n.conf", "[global]\nindex-url=https://n.example/\n"))
    assert machine.read().pypi == ("https://n.example/",)
    machine.environ["PIP_CONFIG_FILE"] = "/dev/null"
    assert machine.read().pypi == ()


def test_sections_of_commands_outweigh_the_global_one(machine: Machine) -> None:
    machine.write("home/.pip/pip.conf", "[install]\nindex_url = https://install.example/\n")
    machine.write("usr/pip.conf", "[global]\nindex-url = https://global.example/\n")
    machine.with_pip()
    assert machine.read().pypi == ("https://install.example/",)


def test_only_places_on_hosts_count(machine: Machine) -> None:
    machine.write(
        "home/.config/pip/pip.conf",
        "[global]\nfind-links = https://links.example/\n  /opt/wheels\n"
        "extra-index-url = file:///opt/simple\n  http://plain.example:8080/simple https://more.example/simple\n"
        "index-url = /opt/index\n",
    )
    found = machine.read()
    assert found.pypi == ("http://plain.example:8080/simple", "https://more.example/simple")
    assert found.pypi_hosts == hosts("plain.example:8080", "more.example")


def test_what_a_person_names_counts_before_what_pip_has_by_default(machine: Machine) -> None:
    machine.with_pip()
    machine.environ["PIP_EXTRA_INDEX_URL"] = "https://corp.example/simple https://second.example/simple"
    default, corp = "https://index.example/simple", ("https://corp.example/simple", "https://second.example/simple")
    assert machine.read().pypi == (*corp, default)
    assert machine.read(("https://set.example/",)).pypi == ("https://set.example/", *corp, default)
    # Also where it is written down, and however.
    machine.environ["PIP_INDEX_URL"] = corp[0]
    machine.environ["PIP_EXTRA_INDEX_URL"] = f"https://INDEX.example:443/simple/ {corp[1]}"
    found = machine.read(("https://set.example/", default))
    assert found.pypi == ("https://set.example/", corp[1], corp[0], default)
    assert set(hosts("files.example")) <= set(found.pypi_hosts)


def test_of_those_that_are_written_down_the_further_ones_come_first(machine: Machine) -> None:
    machine.write(
        "home/.config/pip/pip.conf", "[global]\nindex-url = https://a.example/\nextra-index-url = https://b.example/\n"
    )
    found = machine.read()
    assert found.pypi == ("https://b.example/", "https://a.example/")


def test_no_index_means_none(machine: Machine) -> None:
    machine.with_pip()
    machine.environ |= {"PIP_NO_INDEX": "1", "PIP_EXTRA_INDEX_URL": "https://more.example/"}
    found = machine.read()
    assert found.pypi == () and found.problems[0] == NO_INDEX and found.absent == ("npm",)


@pytest.mark.parametrize("text", ["no section\n", "[global]\n[global]\n", "[global\n", "\0\xff"])
def test_a_file_that_is_not_understood_is_named_and_the_others_count(machine: Machine, text: str) -> None:
    broken = machine.write("home/.pip/pip.conf", text)
    machine.write("home/.config/pip/pip.conf", "[global]\nindex-url = https://i.example/\n")
    found = machine.read()
    assert found.pypi == ("https://i.example/",)
    assert any(str(broken) in problem for problem in found.problems)


def test_npms_settings_count_in_its_order(machine: Machine) -> None:
    machine.with_npm()
    places = ("usr/lib/node_modules/npm/npmrc", "usr/etc/npmrc", "home/.npmrc")
    for number, place in enumerate(places):
        machine.write(place, f"; a comment\n# another\nregistry = https://n{number}.example/\n")
        assert machine.read().npm == (f"https://n{number}.example/",)
    machine.environ["NPM_CONFIG_REGISTRY"] = "https://variable.example/"
    assert machine.read().npm == ("https://variable.example/",)


def test_npms_files_may_be_elsewhere(machine: Machine) -> None:
    machine.environ["npm_config_userconfig"] = str(machine.write("u", "@a:registry='https://u.example/'\n"))
    machine.environ["NPM_CONFIG_GLOBALCONFIG"] = str(machine.write("g", 'registry="https://g.example/" \n'))
    assert machine.read().npm == ("https://g.example/", "https://u.example/")


def test_npms_scopes_have_registries_of_their_own(machine: Machine) -> None:
    machine.environ["HOST_OF_B"] = "b.example"
    machine.write(
        "home/.npmrc",
        "@a:registry=https://a.example/\n@b:registry=https://${HOST_OF_B}/\n@c:registry=https://${NOT_SET}/\n"
        "registry=https://n.example/ ; the main one\n[section]\n@d:registry=https://d.example/\n",
    )
    found = machine.read()
    assert found.npm[:3] == ("https://n.example/", "https://a.example/", "https://b.example/")
    assert found.scopes[:2] == (("@a", "https://a.example/"), ("@b", "https://b.example/"))
    assert found.npm_hosts == hosts("a.example", "b.example", "n.example")
    assert any("cannot be used" in problem for problem in found.problems)


def test_the_settings_name_more_hosts(machine: Machine) -> None:
    machine.environ["PIP_INDEX_URL"] = "https://i.example/simple"
    found = machine.read(("https://mirror.example:8443/simple", "files.example"), ("n.example:8080", "not a host"))
    assert found.pypi == ("https://mirror.example:8443/simple", "https://i.example/simple")
    assert found.pypi_hosts == hosts("i.example", "mirror.example:8443", "files.example")
    assert found.npm_hosts == hosts("n.example:8080")
    assert found.problems == ("The address of a registry cannot be used: it is not a host name.",)


def test_credentials_are_used_and_never_shown(machine: Machine) -> None:
    machine.environ["PIP_INDEX_URL"] = "https://user:s%40cret@i.example/simple"
    machine.environ["PIP_EXTRA_INDEX_URL"] = "https://net.example/simple"
    machine.write("home/.netrc", "machine net.example login user password s@cret\n")
    machine.write(
        "home/.npmrc",
        "registry=https://n.example/npm/\n//n.example/npm/:_authToken=s@cret\n"
        "//b.example/:username=user\n//b.example/:_password=c0BjcmV0\n//c.example/:_auth=dXNlcjpzQGNyZXQ=\n",
    )
    found = machine.read()
    assert "https://i.example/simple" in found.pypi
    basic = "Basic dXNlcjpzQGNyZXQ="
    assert found.authorization("https://i.example/simple/six/") == basic
    assert found.authorization("https://net.example:443/simple/") == basic
    assert found.authorization("https://n.example/npm/a") == "Bearer s@cret"
    assert found.authorization("https://b.example/x") == found.authorization("https://c.example/") == basic
    for elsewhere in (
        "https://i.example/other/",
        "https://i.example/simplex",
        "https://i.example:8443/simple/",
        "http://i.example/simple/",
        "http://n.example/npm/a",
        "https://evil.example/simple/",
        "https://i.example.evil.example/simple/",
        "https://i.example@evil.example/simple/",
    ):
        assert found.authorization(elsewhere) == ""
    for text in (repr(found), str(found.destinations), str(found.pypi), str(found.npm), str(found.problems)):
        assert "cret" not in text and "dXNl" not in text


def test_a_token_goes_unencrypted_only_where_its_registry_is(machine: Machine) -> None:
    machine.write("home/.npmrc", "registry=http://n.example/\n//n.example/:_authToken=token\n")
    assert machine.read().authorization("http://n.example/a") == "Bearer token"


def test_a_file_that_may_not_be_read_is_named(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    around = Surroundings(machine.environ, machine.home)
    assert around.text(machine.home) == ""
    assert around.problems == [f"{machine.home} cannot be read: Is a directory."]


def test_nothing_is_run(machine: Machine) -> None:
    for name in ("pip3", "pip", "npm", "node", "python3"):
        machine.write(f"usr/bin/{name}", f"#!/bin/sh\ntouch {machine.root}/ran\n").chmod(0o755)
    machine.read()
    assert not (machine.root / "ran").exists()


def test_certificates_are_those_that_pip_and_npm_trust(machine: Machine) -> None:
    machine.with_pip()
    machine.with_npm()
    machine.environ["PIP_CONFIG_FILE"] = os.devnull  # also past the /etc/pip.conf of where this runs
    assert machine.read().pypi_authorities == machine.read().npm_authorities == SYSTEM_ONLY
    machine.environ["CURL_CA_BUNDLE"] = "/c.pem"
    assert machine.read().pypi_authorities.files == ("/c.pem",)
    machine.environ["REQUESTS_CA_BUNDLE"] = "/r.pem"
    assert machine.read().pypi_authorities.files == ("/r.pem",)
    machine.environ["PIP_CONFIG_FILE"] = str(machine.write("pip.conf", "[global]\ncert = ~/pip.pem\n"))
    assert machine.read().pypi_authorities.files == (str(machine.home / "pip.pem"),)
    machine.environ["PIP_CERT"] = "/p.pem"
    assert machine.read().pypi_authorities.files == ("/p.pem",)
    assert machine.read().npm_authorities == SYSTEM_ONLY
    pem = "-----BEGIN CERTIFICATE-----"
    machine.write("home/.npmrc", f'cafile=/npm.pem\nca="{pem}\\nA"\nca[]={pem}B\nca[]={pem}C\n')
    machine.environ["NODE_EXTRA_CA_CERTS"] = "/node.pem"
    trusted = machine.read().npm_authorities
    assert trusted.files == ("/npm.pem", "/node.pem")
    assert trusted.text.split("\n") == [pem, "A", f"{pem}B", f"{pem}C"]
    assert machine.read().pypi_authorities.files == ("/p.pem",)


def test_the_registry_of_a_scope_that_cannot_be_asked_is_not_left_out(machine: Machine) -> None:
    """Otherwise its packages would be asked of the registry for everybody."""
    machine.with_npm()
    machine.write("home/.npmrc", "@corp:registry=registry.corp/npm\n")
    assert machine.read().scopes == (("@corp", ""),)


def test_the_default_of_a_tool_is_offered_where_it_does_not_count(machine: Machine) -> None:
    around = Surroundings(machine.environ, machine.home)
    pip, npm = of_tools(machine.read(), around)
    assert (pip.counts, pip.default, pip.problem) == ((), (), NO_PIP)
    assert (npm.counts, npm.default, npm.problem) == ((), (), NO_NPM)
    machine.with_pip()
    machine.with_npm()
    pip, npm = of_tools(machine.read(), around)
    assert pip.counts == ("files.example", "index.example") and (pip.default, pip.problem) == ((), "")
    assert npm.counts == ("npm.example",) and (npm.default, npm.problem) == ((), "")
    machine.write("home/.config/pip/pip.conf", "[global]\nindex-url = https://corp.example/pypi/\n")
    machine.write("home/.npmrc", "registry=https://corp.example/npm/\n")
    pip, npm = of_tools(machine.read(), around)
    assert (pip.counts, pip.default) == (("corp.example",), ("https://index.example/simple", "files.example"))
    assert (npm.counts, npm.default) == (("corp.example",), ("https://npm.example/",))
    pip, npm = of_tools(machine.read(pip.default, npm.default), around)
    assert (pip.default, npm.default) == ((), ()), "it is in the setting"
