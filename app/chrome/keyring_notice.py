"""Says at the top of the window where secrets are kept, when that is not the keyring (spec K5)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.link.background import Errands
from app.parts.notice import Tone
from runner.identity.keyring_answer import KeyringAnswer
from runner.identity.secrets import Secrets, Vault, Where
from runner.model.translation import to_translate, tr, translated
from runner.settings.loading import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.chrome.banners import Banners
    from runner.system.places import Places

BANNER = "vault"
UNASKED = "keyring"
FIRST_STEPS = to_translate("First steps")
UNSIGNED = tr("The history is not signed yet: Assent has not asked whether it may use your keyring.")


class VaultNotice(QObject):
    """A keyring may take its time to answer, or ask for its password: it is asked on a thread of its own."""

    def __init__(
        self,
        banners: Banners,
        places: Places,
        secrets: Callable[[], Secrets | None],
        parent: QObject | None = None,
    ) -> None:
        """`secrets` gives those of the engine, None as long as there is none."""
        super().__init__(parent)
        self._banners = banners
        self._places = places
        self._secrets = secrets
        self.asking = False
        """Whether a page of the window asks about the keyring just now, so that no banner has to."""
        self._told_unasked = False
        self._errands = Errands("vault", self)

    @Slot()
    def look_again(self) -> None:
        """Find out where secrets go now, and say so."""
        self._errands.send(self._where, self._tell, self._failed)

    @Slot(str)
    def give_way(self, page: str) -> None:
        """Stop saying that nobody has been asked when the `page` that asks is shown."""
        if page == FIRST_STEPS:
            self._told_unasked = False
            self._banners.unsay(UNASKED)

    def _where(self) -> Where:
        if (used := self._secrets()) is not None:
            return used.where
        return Secrets(self._places, load(self._places, os.environ).settings).where

    def _tell(self, where: Where) -> None:
        words = f"{where.explanation} {where.remedy}".strip()
        unasked = where.kind is Vault.MEMORY and where.answer is KeyringAnswer.UNASKED
        if self._told_unasked and not unasked:
            self._told_unasked = False
            self._banners.unsay(UNASKED)
        match where.kind:
            case Vault.KEYRING:
                self._banners.unsay(BANNER)
            case Vault.MEMORY if unasked:
                if not self.asking and not self._told_unasked:  # once: who has closed it has read it
                    self._told_unasked = True
                    self._banners.say(UNASKED, Tone.INFO, UNSIGNED, translated(FIRST_STEPS))
            case Vault.MEMORY if where.answer is KeyringAnswer.REFUSED:
                self._banners.say(BANNER, Tone.INFO, words, tr("Settings"))
            case Vault.FILE:
                self._banners.say(BANNER, Tone.INFO, words)
            case Vault.MEMORY:
                self._banners.say(BANNER, Tone.WARN, words, tr("Settings"))

    def _failed(self, error: Exception) -> None:
        self._banners.say(
            BANNER, Tone.WARN, tr("Where secrets are kept could not be found out: {error}", error=error), tr("Settings")
        )
