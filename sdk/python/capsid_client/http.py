"""One HTTP call: bounded in size and time, JSON in and JSON out, no redirects."""

from __future__ import annotations

import base64
import http.client
import io
import json
import socket
import ssl
import time
import urllib.request
from dataclasses import dataclass
from typing import Any, Dict, Optional
from urllib.parse import unquote, urlsplit

from .errors import CapsidError, HubAnswerInvalid, HubUnreachable, InputInvalid
from .settings import Settings
from .text import inert

#: The largest answer that is read.
MAX_ANSWER_LEN = 8 * 1024 * 1024

_VERSION = "0.2.0"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    #: The JSON in the body.
    body: Any
    #: How long the hub asks to wait, in seconds.
    retry_after: Optional[float]
    #: The body as it came.
    text: str = ""

    @property
    def ok(self) -> bool:
        """Whether the hub did what was asked."""
        return 200 <= self.status < 300


class Transport:
    """The way to one hub. Nothing is kept open between calls."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._parts = urlsplit(settings.url)
        self._tls = _tls(settings) if self._parts.scheme == "https" else None

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Optional[bytes] = None,
        bearer: Optional[str] = None,
        headers: Optional[Dict[str, str]] = None,
    ) -> Answer:
        """Makes one call, once. Every answer that is JSON is given, whatever its status."""
        sent = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Connection": "close",
            "User-Agent": f"capsid-client-python/{_VERSION}",
            **(headers or {}),
        }
        if body is not None:
            sent["Content-Type"] = "application/json"
        if bearer is not None:
            sent["Authorization"] = f"Bearer {_check_header_value(bearer)}"
        deadline = time.monotonic() + self.settings.timeout
        try:
            return self._exchange(method, path, body, sent, deadline)
        except CapsidError:
            raise
        except (socket.timeout, TimeoutError):
            raise self._timeout_error() from None
        except ConnectionError as error:
            raise self._unreachable_error(error) from None
        except UnicodeError:
            raise InputInvalid(f"`{self.settings.url}` names a host that cannot be looked up.") from None
        except http.client.HTTPException as error:
            raise self.invalid_answer(f"its answer is no HTTP ({inert(repr(error), 120)})") from None
        except OSError as error:
            raise self._unreachable_error(error) from None

    def _exchange(
        self, method: str, path: str, body: Optional[bytes], headers: Dict[str, str], deadline: float
    ) -> Answer:
        proxy = self._proxy()
        connection = self._connection(proxy)
        target = self._parts.path + path
        if proxy is not None and self._tls is None:
            target = self.settings.url + path
            headers = {**headers, **_proxy_headers(proxy)}
        plain: Optional[socket.socket] = None
        try:
            connection.connect()
            plain = connection.sock
            plain.settimeout(max(deadline - time.monotonic(), 0.001))
            # From here on every single read is held to what is left of the time.
            connection.sock = _DeadlineSocket(plain, deadline)
            connection.request(method, target, body=body, headers=headers)
            return self._read(connection.getresponse())
        finally:
            connection.close()
            if plain is not None:
                plain.close()

    def _read(self, response: http.client.HTTPResponse) -> Answer:
        status = response.status
        if 300 <= status < 400:
            to = inert(response.getheader("Location") or "", 200)
            raise self.invalid_answer(f"it answered {status} and points to `{to}`")
        kind = response.getheader("Content-Type") or ""
        if not _is_json(kind):
            content_type = inert(kind, 60) or "nothing that is named"
            raise self.invalid_answer(f"it answered {status} with {content_type} instead of JSON")
        if (response.getheader("Content-Encoding") or "identity").strip().lower() != "identity":
            raise self.invalid_answer("its answer is compressed, which was not asked for")
        data = response.read(MAX_ANSWER_LEN + 1)
        if len(data) > MAX_ANSWER_LEN:
            raise self.invalid_answer(f"its answer is larger than {MAX_ANSWER_LEN >> 20} MiB")
        if response.length:
            raise self.invalid_answer("its answer broke off")
        body = self._parse_body(data)
        return Answer(status, body, _parse_seconds(response.getheader("Retry-After")), data.decode("utf-8"))

    def _parse_body(self, data: bytes) -> Any:
        try:
            return parse(data.decode("utf-8"))
        except (ValueError, RecursionError):
            raise self.invalid_answer("its JSON cannot be read") from None

    def _connection(self, proxy: Optional[str]) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        timeout = self.settings.timeout
        if proxy is None:
            if self._tls is None:
                return http.client.HTTPConnection(host, port or 80, timeout=timeout)
            return http.client.HTTPSConnection(host, port or 443, timeout=timeout, context=self._tls)
        through = urlsplit(proxy)
        if through.scheme not in ("http", "") or not through.hostname:
            raise InputInvalid(
                "The proxy that the environment names cannot be used.",
                fix="Name one as `http://host:port` in HTTPS_PROXY, or except the hub with NO_PROXY.",
            )
        if self._tls is None:
            return http.client.HTTPConnection(through.hostname, through.port or 80, timeout=timeout)
        tunnel = http.client.HTTPSConnection(
            through.hostname, through.port or 80, timeout=timeout, context=self._tls
        )
        tunnel.set_tunnel(host, port or 443, headers=_proxy_headers(proxy))
        return tunnel

    def _proxy(self) -> Optional[str]:
        # A proxy is for the world outside.
        host = self._parts.hostname or ""
        if self.settings.is_local or urllib.request.proxy_bypass(host):
            return None
        proxies = urllib.request.getproxies()
        proxy = proxies.get(self._parts.scheme) or proxies.get("all")
        if not proxy:
            return None
        return proxy if "://" in proxy else f"http://{proxy}"

    def invalid_answer(self, what: str) -> HubAnswerInvalid:
        """An answer that the protocol does not allow."""
        return HubAnswerInvalid(
            f"`{self.settings.url}` does not answer as a hub: {what}. Nothing of it was used.",
            fix="Check the address; a proxy or another service may stand in front of the hub.",
        )

    def _timeout_error(self) -> HubUnreachable:
        return HubUnreachable(
            f"`{self.settings.url}` did not answer within {self.settings.timeout:g} s.", fix="Try again later."
        )

    def _unreachable_error(self, error: OSError) -> HubUnreachable:
        return HubUnreachable(
            f"`{self.settings.url}` cannot be reached: {inert(str(error), 200)}.",
            fix="Name the authority's certificate with `ca_file` (or CAPSID_CA_FILE) if the hub has one of its own."
            if isinstance(error, ssl.SSLCertVerificationError)
            else "Check the address and the network.",
        )


def parse(text: str) -> Any:
    """Reads JSON as other implementations do: numbers are doubles, and there is no NaN."""
    return json.loads(text, parse_int=_parse_int, parse_constant=_refuse_constant)


def _parse_int(digits: str) -> float:
    # Nobody's number has so many digits; turning them into a whole number would take long.
    return int(digits) if len(digits) <= 400 else float(digits)


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


class _DeadlineSocket:
    """A socket that is given no more time than there is left, however slowly its answers drip."""

    def __init__(self, inner: socket.socket, deadline: float) -> None:
        self._inner = inner
        self._deadline = deadline

    def _set_remaining_timeout(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._inner.settimeout(left)

    def sendall(self, data: bytes) -> None:
        self._set_remaining_timeout()
        self._inner.sendall(data)

    def receive(self, into: memoryview) -> int:
        self._set_remaining_timeout()
        return self._inner.recv_into(into)

    def makefile(self, *_: object, **__: object) -> io.BufferedReader:
        return io.BufferedReader(_DeadlineReader(self))

    def close(self) -> None:
        """Nothing: what was asked is still read after the connection says that it is done with the socket."""


class _DeadlineReader(io.RawIOBase):
    """What is read of such a socket."""

    def __init__(self, source: _DeadlineSocket) -> None:
        super().__init__()
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        return self._source.receive(memoryview(into))


def _tls(settings: Settings) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if settings.ca_file is not None:
        try:
            context.load_verify_locations(cafile=settings.ca_file)
        except (OSError, ssl.SSLError):
            raise InputInvalid(
                f"`{settings.ca_file}` holds no certificate that can be read.",
                fix="Name a PEM file with the certificate of the authority.",
            ) from None
    return context


def _proxy_headers(proxy: str) -> Dict[str, str]:
    parts = urlsplit(proxy)
    if parts.username is None:
        return {}
    credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Proxy-Authorization": "Basic " + base64.b64encode(credentials.encode()).decode()}


def _check_header_value(secret: str) -> str:
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        # Without the value: it is a secret.
        raise InputInvalid("The secret or token holds characters that none has.")
    return secret


def _is_json(kind: str) -> bool:
    kind = kind.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _parse_seconds(text: Optional[str]) -> Optional[float]:
    if text is None or not text.strip().isdecimal() or len(text) > 9:
        return None
    return float(text.strip())
