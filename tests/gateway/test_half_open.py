"""A gateway that opens only half: told, closed properly, and opened by a second try."""

from __future__ import annotations

import errno
import socket
from typing import TYPE_CHECKING

import pytest

from runner.gateway import address_file, server
from runner.model.events import EngineTroubled, TroubleCleared
from runner.system.places import Places
from tests.gateway.house import opened
from tests.gateway.stage import Address

if TYPE_CHECKING:
    from pathlib import Path

    from tests.gateway.house import House


def standing(house: House) -> EngineTroubled | None:
    """The trouble of the gateway, where one stands."""
    return house.engine._bulletin.standing("gateway")


@pytest.mark.asyncio
async def test_an_address_that_cannot_be_written_leaves_the_gateway_open_and_closable(tmp_path: Path) -> None:
    places = Places.under(tmp_path)
    (places.door / "in the way").mkdir(parents=True)
    async with opened(tmp_path) as house:
        trouble = standing(house)
        assert trouble is not None and trouble.what.startswith("The address could not be written")
        await house.works()
        (places.door / "in the way").rmdir()
        places.door.rmdir()
        before = house.engine.parts.address
        await house.engine.open_gateway()
        assert house.engine.parts.address == before
        assert standing(house) is None and TroubleCleared("gateway") in house.heard
        assert address_file.read(places) is not None
        port = Address(before, "").port
    with socket.create_server(("127.0.0.1", port)):
        assert not places.door.exists()


@pytest.mark.asyncio
async def test_a_port_that_could_not_be_opened_is_opened_by_a_second_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_port: int) -> socket.socket:
        raise PermissionError(errno.EACCES, "Permission denied")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    bound = server._bound
    monkeypatch.setattr(server, "_bound", denied)
    async with opened(tmp_path, {"ASSENT_PORT": str(port)}) as house:
        trouble = standing(house)
        assert isinstance(trouble, EngineTroubled) and "cannot listen" in trouble.what
        assert house.engine.parts.address == ""
        monkeypatch.setattr(server, "_bound", bound)
        await house.engine.open_gateway()
        assert Address(house.engine.parts.address, "").port == port
        assert standing(house) is None
