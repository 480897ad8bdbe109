"""One made-up credential of each kind that is taken out of artifacts, for the self-test; none was ever valid.

Each is put together when it is wanted, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

from typing import NamedTuple

_MIXED = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3kL5mN7pQ9rS1tU3vW5xY7zA9bC1dE3fG5hJ7"
_HEX = "3f9a0c47be1d528860e7d4a9b1c2f3e4" * 2
_UPPER = "Q7RJ3MZK9XW2VB5N"
_LOWER = "qhzkvbnmwxcrtyplfgdsjaeo"


class Sample(NamedTuple):
    """A text with a credential in it, and the part of it that must be gone."""

    text: str
    secret: str


def samples() -> dict[str, Sample]:
    """Return a sample for each kind, by the name that the detectors give it."""
    found = {
        "AWS Access Key": ("AKIA" + _UPPER, _UPPER),
        "AWS Secret Key": ("wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY", "bPxRfiCYEXAMPLEKEY"),
        "Age Key": ("AGE-SECRET-KEY-1" + _UPPER * 4, _UPPER * 3),
        "Anthropic Key": ("sk-ant-" + _MIXED[:40], _MIXED[:40]),
        "Artifactory Credentials": ("x: AKC" + _MIXED[:20] + " ", _MIXED[:20]),
        "Assent Token": ("assent_" + _MIXED[:43], _MIXED[:43]),
        "Azure Storage Account access key": ("AccountKey=" + (_MIXED * 2)[:88], (_MIXED * 2)[:88]),
        "Basic Auth Credentials": ("postgres://app:" + "s3cr3tpassw0rd@db.local/x", "s3cr3tpassw0rd"),
        "Basic Credentials": ("Authorization: Basic " + "dXNlcjpodW50ZXIyaHVudGVy", "dXNlcjpodW50ZXIyaHVudGVy"),
        "Bearer Token": ("Authorization: Bearer " + _MIXED[:30], _MIXED[:30]),
        "Cloudant Credentials": ("cloudant_key = '" + _HEX + "'", _HEX),
        "Discord Bot Token": ("M" + _MIXED[:23] + "." + _MIXED[:6] + "." + _MIXED[:27], _MIXED[:27]),
        "Docker Token": ("dckr_pat_" + _MIXED[:27], _MIXED[:27]),
        "GitHub Fine-grained Token": ("github_pat_" + _MIXED[:40], _MIXED[:40]),
        "GitHub Token": ("ghp_" + _MIXED[:36], _MIXED[:36]),
        "GitLab Token": ("glpat-" + _MIXED[:20], _MIXED[:20]),
        "Google Key": ("AIza" + _MIXED[:35], _MIXED[:35]),
        "High Entropy String": ("seed = '" + _HEX[:32] + "'", _HEX[:32]),
        "Hugging Face Token": ("hf_" + _MIXED[:34], _MIXED[:34]),
        "IBM COS HMAC Credentials": ("cos_hmac_secret_access_key = '" + _HEX[:48] + "'", _HEX[:48]),
        "IBM Cloud IAM Key": ("ibm_cloud_iam_api_key = '" + _MIXED[:44] + "'", _MIXED[:44]),
        "JSON Web Token": ("eyJ" + _MIXED[:20] + ".eyJ" + _MIXED[:30] + "." + _MIXED[:40], _MIXED[:30]),
        "Mailchimp Access Key": (_HEX[:32] + "-us12", _HEX[:32]),
        "NPM tokens": ("//registry.example/:_authToken=npm_" + _MIXED[:36], _MIXED[:36]),
        "OpenAI Token": ("sk-proj-" + _MIXED[:20] + "T3BlbkFJ" + _MIXED[:20], _MIXED[:20]),
        "Private Key": (f"-----BEGIN PRIVATE KEY-----\n{_MIXED}\n-----END PRIVATE KEY-----", _MIXED),
        "PyPI Token": ("pypi-" + _MIXED[:60], _MIXED[:60]),
        "Secret Keyword": ("login(password='" + "hunter2hunter2')", "hunter2hunter2"),
        "SendGrid API Key": ("SG." + _MIXED[:22] + "." + _MIXED[:43], _MIXED[:43]),
        "Slack Token": ("xoxb-" + "123456789012-123456789012-" + _LOWER, _LOWER),
        "SoftLayer Credentials": ("softlayer_api_key = '" + _HEX + "'", _HEX),
        "Square OAuth Secret": ("sq0csp-" + _MIXED[:43], _MIXED[:43]),
        "Stripe Access Key": ("sk_live_" + _MIXED[:24], _MIXED[:24]),
        "Telegram Bot Token": ("1234567890:" + _MIXED[:35], _MIXED[:35]),
        "Token": ("access_token = " + _MIXED[:30], _MIXED[:30]),
        "Twilio API Key": ("SK" + _HEX[:32], _HEX[:32]),
        "Vault Token": ("hvs." + _MIXED[:24], _MIXED[:24]),
        "npm Token": ("npm_" + _MIXED[:36], _MIXED[:36]),
    }
    return {kind: Sample(*each) for kind, each in found.items()}
