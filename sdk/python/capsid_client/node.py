"""A node that talks to one hub: messages in their envelope, plain calls, and what to do when the hub asks for a secret."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
import time
from datetime import datetime, timezone
from typing import Any, Dict, Iterable, Mapping, Optional, Tuple, Union
from urllib.parse import quote, urlencode

from .assets import env_fingerprint
from .errors import CapsidError, HubRefused, HubUnreachable, InputInvalid, NodeSecretRefused, RateLimited
from .http import Answer, Transport
from .identity import Identity, KnownHub
from .text import inert

log = logging.getLogger("capsid_client")

#: The longest that is waited for a hub that is busy, in seconds.
LONGEST_WAIT = 20.0

_WANTS_HELLO = frozenset(["node_secret_required", "node_secret_not_set", "unknown_node", "node_not_found"])

_ENVELOPE = frozenset(
    ["protocol", "protocol_version", "message_type", "message_id", "sender_id", "timestamp", "payload"]
)

Query = Iterable[Tuple[str, Union[str, int, float, bool, None]]]


class Node:
    """One node and its hub. It says hello by itself when the hub wants it."""

    def __init__(self, transport: Transport, identity: Identity) -> None:
        self.transport = transport
        self.identity = identity

    @property
    def url(self) -> str:
        """The hub's address."""
        return self.transport.settings.url

    def known(self) -> KnownHub:
        """What is known of the hub."""
        return self.identity.hub(self.url)

    def hello(self, payload: Mapping[str, object]) -> Dict[str, Any]:
        """Says hello and keeps the secret that the hub gives; gives everything else that it said."""
        said = self._send("hello", {"capabilities": {}, "env_fingerprint": env_fingerprint(), **payload}, self.known())
        if said.get("status") == "rejected":
            raise refused(200, str(said.get("reason", "rejected")), "The hub does not take this node.", None, said)
        secret, version, name = said.pop("node_secret", None), said.get("node_secret_version"), said.get("hub_node_id")
        told = KnownHub(
            secret=secret if isinstance(secret, str) and secret else None,
            secret_version=version if isinstance(version, int) else None,
            hub_node_id=name if isinstance(name, str) and name else None,
        )
        self.identity.remember(self.url, told)
        return said

    def message(self, kind: str, payload: Mapping[str, object]) -> Dict[str, Any]:
        """Sends a message of the protocol and gives the payload of the answer."""
        try:
            return self._send(kind, payload, self.known())
        except HubRefused as problem:
            if problem.hub_code not in _WANTS_HELLO:
                raise
        self.hello({})
        return self._send(kind, payload, self.known())

    def signature(self, gene_id: str, capsule_id: str) -> Optional[str]:
        """The proof that this node made a bundle."""
        secret = self.known().secret
        if secret is None:
            return None
        text = "|".join(sorted([gene_id, capsule_id]))
        return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()

    def get(self, path: str, query: Query = (), token: Optional[str] = None) -> Any:
        """A GET, by the node, or by a person with a token; an empty one stands for nobody."""
        pairs = [(name, _plain(value)) for name, value in query if value is not None]
        return self._rest("GET", path + ("?" + urlencode(pairs) if pairs else ""), None, token)

    def post(self, path: str, body: Mapping[str, object], token: Optional[str] = None) -> Any:
        """A POST of plain JSON."""
        kept = {name: value for name, value in body.items() if value is not None}
        return self._rest("POST", path, encoded(kept), token)

    def _rest(self, method: str, path: str, body: Optional[bytes], token: Optional[str]) -> Any:
        try:
            return self._call(method, path, body, self.known(), token, again=method == "GET").body
        except HubRefused as problem:
            if token is not None or problem.hub_code not in _WANTS_HELLO:
                raise
        self.hello({})
        return self._call(method, path, body, self.known(), token, again=method == "GET").body

    def _send(self, kind: str, payload: Mapping[str, object], known: KnownHub) -> Dict[str, Any]:
        # One id for all tries of one message: the hub does what it asks for once.
        message = {
            "protocol": "gep-a2a",
            "protocol_version": "1.0.0",
            "message_type": kind,
            "message_id": f"msg_{int(time.time() * 1000)}_{secrets.token_hex(4)}",
            "sender_id": self.identity.node_id,
            "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "payload": payload,
        }
        answer = self._call("POST", f"/a2a/{kind}", encoded(message), known, None, again=True).body
        if not isinstance(answer, dict):
            raise self.transport.odd("its answer is no object")
        if "protocol" not in answer:
            return answer
        sender, expected = answer.get("sender_id"), known.hub_node_id
        if isinstance(sender, str) and expected is not None and sender != expected:
            raise self.transport.odd(f"it calls itself `{inert(sender, 80)}`, and was `{inert(expected, 80)}` before")
        inner = answer.get("payload")
        return inner if isinstance(inner, dict) else {k: v for k, v in answer.items() if k not in _ENVELOPE}

    def _call(
        self, method: str, path: str, body: Optional[bytes], known: KnownHub, token: Optional[str], *, again: bool
    ) -> Answer:
        """Makes a call, again where the hub asks to wait, and raises a refusal.

        Where no answer came, the hub may have done what was asked for: only what is done once is asked `again`.
        """
        headers = {}
        if token is None and known.secret and known.secret_version is not None:
            headers["X-EvoMap-Node-Secret-Version"] = str(known.secret_version)
        tries = 0
        while True:
            problem: CapsidError
            wait: Optional[float] = 0.3 * 3**tries
            try:
                bearer = known.secret if token is None else token or None
                answer = self.transport.call(method, path, body=body, bearer=bearer, headers=headers)
            except HubUnreachable as error:
                problem = error
                wait = wait if again else None
            else:
                if answer.ok:
                    return answer
                problem = refusal(answer)
                is_busy = answer.status in (429, 502, 503, 504)
                wait = (wait if answer.retry_after is None else answer.retry_after) if is_busy else None
            if wait is None or wait > LONGEST_WAIT or tries >= self.transport.settings.retries:
                raise problem
            log.debug("%s %s: %s; trying again in %.1f s", method, path.partition("?")[0], problem.code, wait)
            time.sleep(wait)
            tries += 1


def encoded(value: Mapping[str, object]) -> bytes:
    """A value as it is sent."""
    try:
        return json.dumps(value, allow_nan=False, default=_refuse).encode("ascii")
    except (ValueError, RecursionError):
        raise InputInvalid("What is to be sent holds a number or a structure that JSON cannot.") from None


def _refuse(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise InputInvalid(f"A value of the type `{type(value).__name__}` has no form in JSON.")


def _plain(value: Union[str, int, float, bool, None]) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _object(value: object) -> Dict[str, Any]:
    return value if isinstance(value, dict) else {}


def segment(text: str) -> str:
    """A text as one part of a path."""
    if not isinstance(text, str) or not text or text in (".", ".."):
        raise InputInvalid("An id is a text that is not empty.")
    return quote(text, safe="-._~", encoding="utf-8", errors="replace")


def refusal(answer: Answer) -> HubRefused:
    """What a hub that refuses says, in its own words as far as they can be trusted to be words."""
    body = _object(answer.body)
    inner, correction = _object(body.get("payload")), _object(body.get("correction"))
    codes = [body.get("error"), body.get("reason"), inner.get("error"), inner.get("reason")]
    code = next((inert(text) for text in codes if isinstance(text, str) and text), f"http_{answer.status}")
    words = [correction.get("problem"), body.get("message")]
    message = next((inert(text) for text in words if isinstance(text, str)), "It gave no reason.")
    fix = correction.get("fix")
    fix = inert(fix) if isinstance(fix, str) else None
    if answer.status == 429:
        wait = answer.retry_after
        said = f" It asks to wait {wait:g} s." if wait is not None else ""
        return RateLimited(
            f"The hub takes no more for now (`{code}`).{said}",
            retry_after=wait,
            fix=fix or "Try again later.",
            status=429,
            hub_code=code,
            answer=body,
        )
    return refused(answer.status, code, message, fix, body)


def refused(
    status: int, code: str, message: str, fix: Optional[str], answer: Mapping[str, Any]
) -> HubRefused:
    """A refusal of the kind that its code stands for."""
    is_secret = code == "node_secret_invalid" or "rotation_requires_current_secret" in code
    kind = NodeSecretRefused if is_secret else HubRefused
    text = f"The hub refused ({status} `{inert(code, 80)}`): {message}"
    return kind(text, fix=fix, status=status, hub_code=code, answer=answer)
