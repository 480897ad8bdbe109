"""Names are looked up as they were allowed, and not with a search domain of this machine behind them."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from runner.network import dialing

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("host", "asked"),
    [
        ("searched.example", "searched.example."),
        ("mirror", "mirror"),
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("own.example", "own.example"),
        ("alias.example", "alias.example"),
        ("commented.example", "commented.example."),
    ],
)
def test_a_name_with_a_dot_is_whole_unless_the_file_of_hosts_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, asked: str
) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n192.0.2.7\tOwn.example alias.example # commented.example\n")
    monkeypatch.setattr(dialing, "HOSTS", hosts)
    seen = []

    def getaddrinfo(name: str, port: int, **_more: object) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        seen.append(name)
        return [(socket.AF_INET, 0, 0, "", ("192.0.2.7", port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert dialing.addresses_of(host, 443) == ["192.0.2.7"]
    assert seen == [asked]


def test_without_a_file_of_hosts_every_name_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialing, "HOSTS", tmp_path / "nothing")
    assert not dialing._has_hosts_file("own.example")
