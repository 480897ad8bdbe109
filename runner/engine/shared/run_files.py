"""Stores the artifact of a run and the files that it created, beside the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.audit.files import artifacts
from runner.sandbox.contract import Bounds, Collect

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.audit.files.captures import Captures
    from runner.model.assessment import Assessment
    from runner.model.decision import Decision
    from runner.model.request import Request
    from runner.model.result import Result
    from runner.settings.loading import Settings
    from runner.system.places import Places

REHEARSED = Bounds(20, 4 << 20, 8 << 20)
"""How much is collected of the files of one rehearsal, at most."""


def rehearsal_of(request_id: str) -> str:
    """Return the id under which the rehearsal of a request runs and stores its files: a real run may follow it."""
    return f"{request_id}-rehearsal"


def trial_of(request_id: str) -> str:
    """Return the id under which a request is tried with stand-ins."""
    return f"{request_id}-trial"


class RunFiles:
    """The store for artifacts and created files, as the settings describe it."""

    def __init__(self, places: Places, captures: Captures, settings: Callable[[], Settings]) -> None:
        self._places = places
        self._captures = captures
        self._settings = settings

    def bounds(self) -> Bounds | None:
        """Return the bounds for files that are collected from a run; None where none are collected."""
        settings = self._settings()
        if not settings.collect_files:
            return None
        return Bounds(settings.collect_most, settings.collect_file_mb << 20, settings.collect_all_mb << 20)

    def collect(self, request_id: str) -> Collect | None:
        """Return the destination for files that a run creates; None where none are collected. Raises OSError."""
        bounds = self.bounds()
        return None if bounds is None else Collect(self._captures.draft(request_id), bounds)

    def collect_rehearsed(self, request_id: str) -> Collect | None:
        """Return the same for a rehearsal, with narrower bounds: nobody has decided that it may fill the disk.

        Raises OSError.
        """
        bounds = self.bounds()
        if bounds is None:
            return None
        most = Bounds(
            min(bounds.files, REHEARSED.files),
            min(bounds.file_bytes, REHEARSED.file_bytes),
            min(bounds.all_bytes, REHEARSED.all_bytes),
        )
        return Collect(self._captures.draft(rehearsal_of(request_id)), most)

    def drop_rehearsed(self, request_id: str) -> None:
        """Remove the files of a rehearsal that nobody gets."""
        self._captures.drop(rehearsal_of(request_id))

    def store(
        self, request: Request, assessment: Assessment | None, decision: Decision | None, result: Result
    ) -> dict[str, object]:
        """Store the artifact of a run as `SANDBOX_STORE_CODE` says; return what the ledger records about it.

        Raises OSError and KnownError.
        """
        drafted = rehearsal_of(request.id) if result.meta.rehearsed else request.id
        path = None
        try:
            path = artifacts.store(self._places, self._settings().store_code, request, assessment, decision, result)
        finally:
            self._captures.keep(drafted, result.files, lasting=path is not None)
        if path is None:
            return {"artifact": ""}
        return {"artifact": str(path), "artifact_sha256": artifacts.fingerprint(path)}
