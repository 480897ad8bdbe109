"""Credentials are taken out of artifacts, wherever they stand, and little else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from runner.audit.files.redact import LEFT_OUT, redacted

AWS = "AKIA" + "IOSFODNN7EXAMPLQ"
GITHUB = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
SLACK = "xoxb-" + "123456789012-123456789012-abcdefghijklmnopqrstuvwx"
JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
OPENAI = "sk-proj-" + "abcdefghijklmnopqrst" + "T3BlbkFJ" + "abcdefghijklmnopqrst"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"key = '{AWS}'", AWS),
        (f"export TOKEN={GITHUB}", GITHUB),
        (f"post(url, token='{SLACK}')", SLACK),
        (f"Authorization: Bearer {JWT}", JWT),
        (f"OPENAI_API_KEY={OPENAI}", OPENAI),
        ("Authorization: Bearer 0a1b2c3d4e5f60718293", "0a1b2c3d4e5f60718293"),
        ("login(user='me', password='hunter2hunter2')", "hunter2hunter2"),
        (
            "ASSENT " + "assent_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9f",
            "fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9f",
        ),
        ("wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY", "bPxRfiCYEXAMPLEKEY"),
        ("Authorization: Basic dXNlcjpodW50ZXIyaHVudGVyMg==", "dXNlcjpodW50ZXIyaHVudGVyMg"),
        ("hvs." + "CAESIJ3k2l1m4n5o6p7q8r9s0t1u2v3w4x5y6z7", "CAESIJ3k2l1m4n5o6p7q8r9s0"),
        ("npm_" + "abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnopqrstuvwxyz0123456789"),
        ("dckr_pat_" + "abcdefghijklmnopqrstuvwxyz0", "abcdefghijklmnopqrstuvwxyz0"),
        ("pypi-" + "AgEIcHlwaS5vcmcCJGFiY2RlZmdoLTEyMzQtNTY3OC05MGFi", "AgEIcHlwaS5vcmcCJGFiY2RlZmdoLTEyMzQ"),
        ("AGE-SECRET-KEY-1" + "Q" * 58, "Q" * 58),
        ("postgres://app:s3cr3tpassw0rd@db.local/x", "s3cr3tpassw0rd"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----", "b3BlbnNzaC1rZXk"),
        ("k = '-----BEGIN PRIVATE KEY-----\\nMIIEvQ\\n-----END PRIVATE KEY-----'", "MIIEvQ"),
        ("seed = '3f9a0c47be1d528860e7d4a9b1c2f3e4'", "3f9a0c47be1d528860e7d4a9b1c2f3e4"),
    ],
)
def test_credentials_in_code_and_output(text: str, secret: str) -> None:
    for name in ("code", "stdout"):
        kept = redacted({name: f"import os\n{text}\nprint('done')"})
        assert secret not in kept.data[name]
        assert "[redacted: " in kept.data[name]
        assert kept.data[name].startswith("import os\n")
        assert kept.data[name].endswith("\nprint('done')")
        assert kept.kinds


def test_a_private_key_without_an_end_takes_the_rest_along() -> None:
    kept = redacted({"stdout": "cat key\n-----BEGIN RSA PRIVATE KEY-----\nMIIEcut\nMIIEmore"})
    assert kept.data["stdout"] == "cat key\n[redacted: Private Key]"


def test_what_the_code_names_its_output_does_not_show() -> None:
    kept = redacted({"code": "password = 'correct horse'", "result": {"stdout": "I am correct horse."}})
    assert kept.data["result"]["stdout"] == "I am [redacted: Secret Keyword]."


def test_what_code_calls_its_password_stays_visible_where_it_is_not_a_string_by_itself() -> None:
    kept = redacted({"code": "password = 'rm -rf'\nlogin('rm -rf')\nos.system('rm -rf /home')"}).data["code"]
    secret = "'[redacted: Secret Keyword]'"
    assert kept == f"password = {secret}\nlogin({secret})\nos.system('rm -rf /home')"


def test_values_under_a_telling_name() -> None:
    kept = redacted({"value": {"db_password": "hunter2", "rows": [{"api_key": "abcd1234"}]}, "n": 1, "none": None})
    assert kept.data["value"]["db_password"] == "[redacted: Secret Keyword]"
    assert kept.data["value"]["rows"][0]["api_key"] == "[redacted: Secret Keyword]"
    assert (kept.data["n"], kept.data["none"]) == (1, None)


def test_two_on_one_line() -> None:
    kept = redacted({"code": "f(password='first-one', db_password='second-one')"})
    assert "first-one" not in kept.data["code"]
    assert "second-one" not in kept.data["code"]


def test_unquoted_assignment_counts_in_output_but_not_in_quoting_languages() -> None:
    line = "PASSWORD=swordfish"
    assert "swordfish" not in redacted({"stdout": line}).data["stdout"]
    assert redacted({"code": "password = getpass.getpass()"}).data["code"] == "password = getpass.getpass()"
    assert "swordfish" not in redacted({"code": line}, source=frozenset()).data["code"]


ORDINARY = """
commit = "Basic understanding of authorization: basic"
path = /usr/lib/python3/dist-packages/requests/Session
sha = 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12
import hashlib, json
from pathlib import Path
names = ["alpha", "beta", "gamma"]
digest = hashlib.sha256(b"abc").hexdigest()
id = "6f1c2a9e-1f52-4f0e-9a3d-0c8f1b2d3e4f"
for path in Path("/usr/lib/python3/dist-packages").glob("*.py"):
    print(path, path.stat().st_size)
tokens = tokenizer.encode(text)
print("password:", "*" * 8)
""".strip()


def test_ordinary_code_stays_as_it_is() -> None:
    kept = redacted({"code": ORDINARY, "stdout": "total 12\n-rw-r--r-- 1 root root 5 Jan 1 a.txt\n10.0.0.1\n"})
    assert kept.data == {"code": ORDINARY, "stdout": "total 12\n-rw-r--r-- 1 root root 5 Jan 1 a.txt\n10.0.0.1\n"}
    assert (kept.kinds, kept.complete) == ((), True)


def test_a_credential_across_the_cut_of_a_long_line() -> None:
    for before in (1500, 1536, 2030, 2040, 3000):
        text = "x " * (before // 2) + GITHUB + " y" * 3000
        assert GITHUB not in redacted({"stdout": text}).data["stdout"]


@pytest.mark.parametrize(
    "text", ["password" * 40_000, "eyJ" * 100_000, ("password " + " " * 2000) * 150, "'a\"" * 100_000, " " * 300_000]
)
@pytest.mark.timeout(60)
def test_text_made_to_be_slow_is_left_out_in_time(text: str) -> None:
    kept = redacted({"stdout": text, "stderr": text[:-1]}, seconds=0.3)
    assert kept.data["stdout"] in (text, LEFT_OUT)
    assert kept.data["stderr"] in (text[:-1], LEFT_OUT)


def test_wide_gaps_cost_no_more_than_words() -> None:
    """Some detectors need time in the cube of a gap: without care this takes a hundred times as long."""
    assert redacted({"stdout": ("password " + " " * 2000) * 150}).complete


def test_text_for_which_there_is_no_time_is_not_let_through() -> None:
    kept = redacted({"stdout": "password='hunter2hunter2'"}, seconds=-1)
    assert kept.data["stdout"] == LEFT_OUT
    assert not kept.complete


def test_the_library_is_imported_with_the_first_artifact_only() -> None:
    check = "import sys, runner.audit.files.artifacts; assert 'detect_secrets' not in sys.modules"
    subprocess.run([sys.executable, "-c", check], check=True)
