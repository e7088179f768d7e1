"""Who this node is. ``~/.evomap`` holds its id and its secrets in the form that the ``capsid`` program and others read.

A secret belongs to one hub and one node: ``hubs.json`` keeps them apart, so that no hub ever sees another one's.
``node_secret`` holds the one that other tools use; what another tool put there belongs to the hub that A2A_HUB_URL names.
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
_MAX_LOCK_WAIT = 5.0

_NODE_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}\Z")


@dataclass(frozen=True)
class KnownHub:
    """What is stored about a hub after hello."""

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
        def variable(name: str) -> Optional[str]:
            return environment.get(name, "").strip() or None

        self._folder = (home or Path.home()) / ".evomap"
        self._given_secret = node_secret or variable("A2A_NODE_SECRET")
        self._shared_hub = (variable("A2A_HUB_URL") or variable("EVOMAP_HUB_URL") or "").rstrip("/") or None
        given_id = node_id or variable("A2A_NODE_ID")
        self.node_id = _check_node_id(given_id, "node_id") if given_id else self._load_or_create_id()

    def __repr__(self) -> str:
        return f"Identity(node_id={self.node_id!r})"

    def hub(self, url: str) -> KnownHub:
        """Returns what is stored about a hub."""
        hubs = self._read_hubs()
        hub = _as_object(hubs.get(url))
        own = _as_object(_as_object(hub.get("nodes")).get(self.node_id))
        stored = _text_or_none(own.get("node_secret")) or self._read_foreign_secret(hubs, url)
        secret = self._given_secret or stored
        is_own = secret == _text_or_none(own.get("node_secret"))
        version = own.get("node_secret_version")
        return KnownHub(
            secret=secret,
            secret_version=version if is_own and isinstance(version, int) else None,
            hub_node_id=_text_or_none(hub.get("hub_node_id")),
        )

    def remember(self, url: str, known: KnownHub) -> None:
        """Stores what a hub answered to hello. Fields that it left out stay unchanged."""
        with self._hold_lock():
            hubs = self._read_hubs()
            shares = self._should_share_secret(hubs, url)
            hub = {**_as_object(hubs.get(url)), **_without_none(hub_node_id=known.hub_node_id)}
            nodes = dict(_as_object(hub.get("nodes")))
            nodes[self.node_id] = {
                **_as_object(nodes.get(self.node_id)),
                **_without_none(node_secret=known.secret, node_secret_version=known.secret_version),
            }
            hub["nodes"] = nodes
            hubs[url] = hub
            _replace_file(self._folder / "hubs.json", json.dumps(hubs, indent=2))
            if known.secret and shares:
                _replace_file(self._folder / "node_secret", known.secret)

    def _read_foreign_secret(self, hubs: Mapping[str, Any], url: str) -> Optional[str]:
        """A secret for a hub that another tool wrote, if there is one."""
        if self._shared_hub != url or self._read_id_file() != self.node_id:
            return None
        secret = self._read_secret_file()
        return None if secret is None or _is_known_secret(hubs, secret) else secret

    def _should_share_secret(self, hubs: Mapping[str, Any], url: str) -> bool:
        """Whether other tools should find a hub's secret: where they talk to this hub, or to none, and what they would
        lose is known here."""
        if self._given_secret is not None or self._read_id_file() != self.node_id:
            return False
        if self._shared_hub is not None:
            return self._shared_hub == url
        secret = self._read_secret_file()
        return secret is None or _is_known_secret(hubs, secret)

    def _read_secret_file(self) -> Optional[str]:
        text = _read_file(self._folder / "node_secret")
        return text.strip() or None if text is not None else None

    def _read_id_file(self) -> Optional[str]:
        text = _read_file(self._folder / "node_id")
        return text.strip() or None if text is not None else None

    def _load_or_create_id(self) -> str:
        path = self._folder / "node_id"
        stored = self._read_id_file()
        if stored is not None:
            return _check_node_id(stored, str(path))
        self._make_folder()
        fresh = "node_" + secrets.token_hex(8)
        try:
            # Whole and at once; another process may have been first, and then its name is ours.
            temporary = _write_temporary(path, fresh)
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
            raise _unusable_error(path, error) from None
        return _check_node_id(self._read_id_file() or fresh, str(path))

    def _read_hubs(self) -> Dict[str, Any]:
        path = self._folder / "hubs.json"
        text = _read_file(path)
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
            raise _unusable_error(self._folder, error) from None

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        self._make_folder()
        path = self._folder / ".lock"
        try:
            file = open(path, "a+", encoding="utf-8")
        except OSError as error:
            raise _unusable_error(path, error) from None
        with file:
            end = time.monotonic() + _MAX_LOCK_WAIT
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


def _check_node_id(node_id: str, source: str) -> str:
    if _NODE_ID.match(node_id) and not node_id.startswith("hub_"):
        return node_id
    raise IdentityInvalid(
        f"`{source}` holds no name that a node can have.",
        fix="A node's id is made of letters, digits, `_`, `-`, `.` and `:`, and does not begin with `hub_`.",
    )


def _read_file(path: Path) -> Optional[str]:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable_error(path, error) from None


def _replace_file(path: Path, text: str) -> None:
    try:
        os.replace(_write_temporary(path, text), path)
    except OSError as error:
        raise _unusable_error(path, error) from None


def _write_temporary(path: Path, text: str) -> str:
    """A file beside the path with this text, readable by its owner alone."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return name


def _unusable_error(path: Path, error: Exception) -> IdentityInvalid:
    reason = getattr(error, "strerror", None) or type(error).__name__
    return IdentityInvalid(f"`{path}` cannot be used: {reason}.", fix="Check the folder's permissions, or give `home=`.")


def _as_object(value: object) -> Dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text_or_none(value: object) -> Optional[str]:
    return value if isinstance(value, str) and value else None


def _without_none(**members: object) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _is_known_secret(hubs: Mapping[str, Any], secret: str) -> bool:
    """Whether any hub gave this secret to any node."""
    nodes = (_as_object(_as_object(hub).get("nodes")).values() for hub in hubs.values())
    return any(_as_object(node).get("node_secret") == secret for some in nodes for node in some)


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
