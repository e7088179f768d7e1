"""Which hub, and how it is reached."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from typing import Mapping, Optional
from urllib.parse import urlsplit

from .errors import InputInvalid

_URL_FIX = "Give the scheme, the host and the port alone, such as `https://hub.example` or `http://127.0.0.1:4000`."


@dataclass(frozen=True)
class Settings:
    """How a hub is reached."""

    #: The hub's address without a slash at its end.
    url: str
    #: Seconds that one call may take, answer included.
    timeout: float
    #: How often a call is tried again when the hub is busy or away.
    retries: int
    #: A certificate authority beside those of the system, as a PEM file.
    ca_file: Optional[str]

    @property
    def is_local(self) -> bool:
        """Whether the hub runs on this machine."""
        return is_loopback(urlsplit(self.url).hostname or "")


def resolve_settings(
    hub_url: Optional[str],
    *,
    timeout: float,
    retries: int,
    ca_file: Optional[str],
    allow_insecure: Optional[bool],
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """Settings from what was given, and from the variables that existing tools know where nothing was."""

    def variable(*names: str) -> Optional[str]:
        values = (environment.get(name, "").strip() for name in names)
        return next((value for value in values if value), None)

    url = hub_url or variable("A2A_HUB_URL", "EVOMAP_HUB_URL")
    if not url:
        raise InputInvalid(
            "No hub is named, so nothing is sent.",
            code="no_hub",
            fix="Give `Client(hub_url)`, or set A2A_HUB_URL.",
        )
    if allow_insecure is None:
        allowed = variable("CAPSID_HUB_ALLOW_INSECURE"), variable("EVOMAP_HUB_ALLOW_INSECURE")
        allow_insecure = any(value in ("1", "true") for value in allowed)
    if not (isinstance(timeout, (int, float)) and 0 < timeout <= 3600):
        raise InputInvalid("`timeout` must be a number of seconds above 0, at most 3600.")
    if not (isinstance(retries, int) and 0 <= retries <= 10):
        raise InputInvalid("`retries` must be a whole number from 0 to 10.")
    authority = ca_file or variable("CAPSID_CA_FILE")
    return Settings(check_hub_url(url, allow_insecure), float(timeout), retries, authority)


def check_hub_url(url: str, allow_insecure: bool) -> str:
    """An address that can be used, or why it cannot."""

    def invalid_url(what: str) -> InputInvalid:
        return InputInvalid(
            f"`{_without_credentials(url)}` cannot be used as a hub's address: {what}",
            code="hub_url_invalid",
            fix=_URL_FIX,
        )

    bare = url.strip().rstrip("/")
    if any(c.isspace() or not c.isprintable() for c in bare):
        raise invalid_url("it holds white space or control characters.")
    try:
        parts = urlsplit(bare)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise invalid_url("its host or port cannot be read.") from None
    if parts.scheme not in ("http", "https"):
        raise invalid_url("it does not begin with `https://` or `http://`.")
    if not host:
        raise invalid_url("it names no host.")
    if "@" in parts.netloc:
        raise invalid_url("it holds a user name or a password.")
    if "a2a" in parts.path.split("/"):
        raise invalid_url("paths of the protocol begin with `/a2a` already.")
    if "?" in bare or "#" in bare:
        raise invalid_url("it holds a query or a fragment.")
    if parts.scheme == "http" and not allow_insecure and not is_loopback(host):
        raise InputInvalid(
            f"`{bare}` is not encrypted, and what is sent there could be read on the way.",
            code="hub_url_invalid",
            fix="Use `https://`, or give `allow_insecure=True` for a network you trust.",
        )
    return bare


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _without_credentials(url: str) -> str:
    """An address without what may be a password in it."""
    scheme, mark, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return scheme + mark + authority.rpartition("@")[2] + slash + path
