"""The files by which a networked program looks up names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES: Mapping[str, bytes] = {
    "/etc/resolv.conf": b"nameserver 127.0.0.1\n",
    "/etc/hosts": b"127.0.0.1\tlocalhost\n::1\tlocalhost\n",
    "/etc/nsswitch.conf": b"hosts: files dns\n",
}
"""What a networked run finds besides the certificates: names lead to our listeners."""
