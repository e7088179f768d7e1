"""Who this node is. ``~/.evomap`` holds its id and its secrets in the form that the ``capsid`` program and others read.

A secret belongs to one hub: ``hubs.json`` keeps one for each, so that no hub ever sees another one's. ``node_secret`` holds
that of the hub greeted last, where other tools look for it.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, IO, Iterator, Mapping, Optional

from .errors import CapsidError, IdentityInvalid

#: How long a process waits for another one that writes the identity, in seconds.
_WAIT = 5.0

_NODE_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}\Z")


@dataclass(frozen=True)
class KnownHub:
    """What is known of a hub that was greeted."""

    #: The secret that this hub gave. It is never shown.
    secret: Optional[str] = field(default=None, repr=False)
    secret_version: Optional[int] = None
    #: The name by which the hub signs its answers.
    hub_node_id: Optional[str] = None


class Identity:
    """This node."""

    def __init__(
        self,
        home: Optional[Path] = None,
        *,
        node_id: Optional[str] = None,
        node_secret: Optional[str] = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._folder = (home or Path.home()) / ".evomap"
        self._given_secret = node_secret or environment.get("A2A_NODE_SECRET", "").strip() or None
        given = node_id or environment.get("A2A_NODE_ID", "").strip()
        self.node_id = _checked(given, "node_id") if given else self._kept_or_made()

    def __repr__(self) -> str:
        return f"Identity(node_id={self.node_id!r})"

    def hub(self, url: str) -> KnownHub:
        """What is known of a hub."""
        hubs = self._hubs()
        entry = self._own(hubs, url) or {}
        # What a hub is called does not depend on which node asks.
        named = entry or _object(hubs.get(url))
        version = entry.get("node_secret_version")
        given = self._given_secret
        return KnownHub(
            secret=given or _text(entry.get("node_secret")),
            secret_version=version if isinstance(version, int) and given is None else None,
            hub_node_id=_text(named.get("hub_node_id")),
        )

    def remember(self, url: str, known: KnownHub) -> None:
        """Keeps what a hub said at hello."""
        with self._locked():
            hubs = self._hubs()
            hubs[self._place(hubs, url)] = {
                "node_id": self.node_id,
                "node_secret": known.secret,
                "node_secret_version": known.secret_version,
                "hub_node_id": known.hub_node_id,
            }
            _replace(self._folder / "hubs.json", json.dumps(hubs, indent=2))
            if known.secret and self._given_secret is None and self._stored_id() == self.node_id:
                _replace(self._folder / "node_secret", known.secret)

    def _own(self, hubs: Mapping[str, Any], url: str) -> Optional[Dict[str, Any]]:
        for place in (url, f"{url}#{self.node_id}"):
            entry = _object(hubs.get(place))
            if entry and entry.get("node_id", self.node_id) == self.node_id:
                return entry
        return None

    def _place(self, hubs: Mapping[str, Any], url: str) -> str:
        """Where this node's entry is: under the hub's address, unless another node of this user is there already."""
        entry = _object(hubs.get(url))
        is_free = not entry or entry.get("node_id", self.node_id) == self.node_id
        return url if is_free else f"{url}#{self.node_id}"

    def _stored_id(self) -> Optional[str]:
        text = _read(self._folder / "node_id")
        return text.strip() or None if text is not None else None

    def _kept_or_made(self) -> str:
        path = self._folder / "node_id"
        kept = self._stored_id()
        if kept is not None:
            return _checked(kept, str(path))
        self._make_folder()
        fresh = "node_" + secrets.token_hex(8)
        try:
            # Whole and at once; another process may have been first, and then its name is ours.
            temporary = _temporary(path, fresh)
            try:
                os.link(temporary, path)
            except FileExistsError:
                raise
            except OSError:
                # Some file systems have no links.
                os.rename(temporary, path)
            finally:
                if os.path.exists(temporary):
                    os.unlink(temporary)
        except FileExistsError:
            pass
        except OSError as error:
            raise _unusable(path, error) from None
        return _checked(self._stored_id() or fresh, str(path))

    def _hubs(self) -> Dict[str, Any]:
        path = self._folder / "hubs.json"
        text = _read(path)
        if text is None:
            return {}
        try:
            hubs = json.loads(text)
        except (ValueError, RecursionError):
            hubs = None
        if not isinstance(hubs, dict):
            raise IdentityInvalid(
                f"`{path}` cannot be read as JSON.",
                fix="Move it away and say hello again; the hub may ask the node's owner to reset its secret.",
            )
        return hubs

    def _make_folder(self) -> None:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _unusable(self._folder, error) from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._make_folder()
        path = self._folder / ".lock"
        try:
            file = open(path, "a+", encoding="utf-8")
        except OSError as error:
            raise _unusable(path, error) from None
        with file:
            end = time.monotonic() + _WAIT
            while not _try_lock(file):
                if time.monotonic() > end:
                    raise CapsidError(
                        "The node's identity is in use by another process.",
                        code="store_locked",
                        fix="Wait for it to finish, then try again.",
                    )
                time.sleep(0.01)
            try:
                yield
            finally:
                _unlock(file)


def _checked(node_id: str, place: str) -> str:
    if _NODE_ID.match(node_id) and not node_id.startswith("hub_"):
        return node_id
    raise IdentityInvalid(
        f"`{place}` holds no name that a node can have.",
        fix="A node's id is made of letters, digits, `_`, `-`, `.` and `:`, and does not begin with `hub_`.",
    )


def _read(path: Path) -> Optional[str]:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, error) from None


def _replace(path: Path, text: str) -> None:
    try:
        os.replace(_temporary(path, text), path)
    except OSError as error:
        raise _unusable(path, error) from None


def _temporary(path: Path, text: str) -> str:
    """A file beside the path with this text, readable by its owner alone."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return name


def _unusable(path: Path, error: Exception) -> IdentityInvalid:
    reason = getattr(error, "strerror", None) or type(error).__name__
    return IdentityInvalid(f"`{path}` cannot be used: {reason}.", fix="Check the folder's permissions, or give `home=`.")


def _object(value: object) -> Dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> Optional[str]:
    return value if isinstance(value, str) and value else None


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[str]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: IO[str]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(file: IO[str]) -> bool:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _unlock(file: IO[str]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_UN)
