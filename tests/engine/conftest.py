"""The stage of several files here."""

from tests.stages.kept import house

__all__ = ["house"]
