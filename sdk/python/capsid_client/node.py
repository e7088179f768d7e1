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

#: The longest wait for a busy hub, in seconds.
MAX_WAIT = 20.0

_HELLO_CODES = frozenset(["node_secret_required", "node_secret_not_set", "unknown_node", "node_not_found"])

_ENVELOPE_FIELDS = frozenset(
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

    def known_hub(self) -> KnownHub:
        """Returns what is stored about the hub."""
        return self.identity.hub(self.url)

    def hello(self, payload: Mapping[str, object]) -> Dict[str, Any]:
        """Says hello and stores the secret that the hub gives; returns the rest of the answer."""
        greeting = {"capabilities": {}, "env_fingerprint": env_fingerprint(), **payload}
        answer = self._send("hello", greeting, self.known_hub())
        if answer.get("status") == "rejected":
            reason = str(answer.get("reason", "rejected"))
            raise build_refusal(200, reason, "The hub does not take this node.", None, answer)
        secret, version = answer.pop("node_secret", None), answer.get("node_secret_version")
        name = answer.get("hub_node_id")
        learned = KnownHub(
            secret=secret if isinstance(secret, str) and secret else None,
            secret_version=version if isinstance(version, int) else None,
            hub_node_id=name if isinstance(name, str) and name else None,
        )
        self.identity.remember(self.url, learned)
        return answer

    def message(self, kind: str, payload: Mapping[str, object]) -> Dict[str, Any]:
        """Sends a message of the protocol and returns the payload of the answer."""
        try:
            return self._send(kind, payload, self.known_hub())
        except HubRefused as problem:
            if problem.hub_code not in _HELLO_CODES:
                raise
        self.hello({})
        return self._send(kind, payload, self.known_hub())

    def message_with_text(self, kind: str, payload: Mapping[str, object]) -> Tuple[Dict[str, Any], str]:
        """The same, with the answer as it came."""
        try:
            return self._send_with_text(kind, payload, self.known_hub())
        except HubRefused as problem:
            if problem.hub_code not in _HELLO_CODES:
                raise
        self.hello({})
        return self._send_with_text(kind, payload, self.known_hub())

    def signature(self, gene_id: str, capsule_id: str) -> Optional[str]:
        """Computes the signature that proves that this node made a bundle."""
        secret = self.known_hub().secret
        if secret is None:
            return None
        text = "|".join(sorted([gene_id, capsule_id]))
        return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()

    def get(self, path: str, query: Query = (), token: Optional[str] = None) -> Any:
        """Sends a GET as the node, or with the token of an account; an empty token sends none."""
        pairs = [(name, _format_query_value(value)) for name, value in query if value is not None]
        return self._rest("GET", path + ("?" + urlencode(pairs) if pairs else ""), None, token)

    def post(self, path: str, body: Mapping[str, object], token: Optional[str] = None) -> Any:
        """Sends a POST of plain JSON."""
        present = {name: value for name, value in body.items() if value is not None}
        return self._rest("POST", path, encode_json(present), token)

    def _rest(self, method: str, path: str, body: Optional[bytes], token: Optional[str]) -> Any:
        try:
            return self._call(method, path, body, self.known_hub(), token, is_repeatable=method == "GET").body
        except HubRefused as problem:
            if token is not None or problem.hub_code not in _HELLO_CODES:
                raise
        self.hello({})
        return self._call(method, path, body, self.known_hub(), token, is_repeatable=method == "GET").body

    def _send(self, kind: str, payload: Mapping[str, object], known_hub: KnownHub) -> Dict[str, Any]:
        return self._send_with_text(kind, payload, known_hub)[0]

    def _send_with_text(
        self, kind: str, payload: Mapping[str, object], known_hub: KnownHub
    ) -> Tuple[Dict[str, Any], str]:
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
        came = self._call("POST", f"/a2a/{kind}", encode_json(message), known_hub, None, is_repeatable=True)
        answer = came.body
        if not isinstance(answer, dict):
            raise self.transport.invalid_answer("its answer is no object")
        if "protocol" not in answer:
            return answer, came.text
        sender, expected = answer.get("sender_id"), known_hub.hub_node_id
        if isinstance(sender, str) and expected is not None and sender != expected:
            names = f"it calls itself `{inert(sender, 80)}`, and was `{inert(expected, 80)}` before"
            raise self.transport.invalid_answer(names)
        inner = answer.get("payload")
        rest = {k: v for k, v in answer.items() if k not in _ENVELOPE_FIELDS}
        return (inner if isinstance(inner, dict) else rest), came.text

    def _call(
        self,
        method: str,
        path: str,
        body: Optional[bytes],
        known_hub: KnownHub,
        token: Optional[str],
        *,
        is_repeatable: bool,
    ) -> Answer:
        """Sends a request, retries it while the hub asks to wait, and raises a refusal.

        Without an answer the hub may have done the work: only a request with `is_repeatable` is sent again then.
        """
        headers = {}
        if token is None and known_hub.secret and known_hub.secret_version is not None:
            headers["X-EvoMap-Node-Secret-Version"] = str(known_hub.secret_version)
        tries = 0
        while True:
            problem: CapsidError
            wait: Optional[float] = 0.3 * 3**tries
            try:
                bearer = known_hub.secret if token is None else token or None
                answer = self.transport.call(method, path, body=body, bearer=bearer, headers=headers)
            except HubUnreachable as error:
                problem = error
                wait = wait if is_repeatable else None
            else:
                if answer.ok:
                    return answer
                problem = read_refusal(answer)
                is_busy = answer.status in (429, 502, 503, 504)
                wait = (wait if answer.retry_after is None else answer.retry_after) if is_busy else None
            if wait is None or wait > MAX_WAIT or tries >= self.transport.settings.retries:
                raise problem
            log.debug("%s %s: %s; trying again in %.1f s", method, path.partition("?")[0], problem.code, wait)
            time.sleep(wait)
            tries += 1


def encode_json(value: Mapping[str, object]) -> bytes:
    """Encodes a value as it is sent."""
    try:
        return json.dumps(value, allow_nan=False, default=_encode_mapping).encode("ascii")
    except (ValueError, RecursionError):
        raise InputInvalid("What is to be sent holds a number or a structure that JSON cannot.") from None


def _encode_mapping(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise InputInvalid(f"A value of the type `{type(value).__name__}` has no form in JSON.")


def _format_query_value(value: Union[str, int, float, bool, None]) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _as_object(value: object) -> Dict[str, Any]:
    return value if isinstance(value, dict) else {}


def quote_segment(text: str) -> str:
    """Quotes a text as one segment of a path."""
    if not isinstance(text, str) or not text or text in (".", ".."):
        raise InputInvalid("An id is a text that is not empty.")
    return quote(text, safe="-._~", encoding="utf-8", errors="replace")


def read_refusal(answer: Answer) -> HubRefused:
    """Reads the refusal of a hub, with its texts made inert."""
    body = _as_object(answer.body)
    inner, correction = _as_object(body.get("payload")), _as_object(body.get("correction"))
    codes = [body.get("error"), body.get("reason"), inner.get("error"), inner.get("reason")]
    code = next((inert(text) for text in codes if isinstance(text, str) and text), f"http_{answer.status}")
    words = [correction.get("problem"), body.get("message")]
    message = next((inert(text) for text in words if isinstance(text, str)), "It gave no reason.")
    fix = correction.get("fix")
    fix = inert(fix) if isinstance(fix, str) else None
    if answer.status == 429:
        wait = answer.retry_after
        wait_text = f" It asks to wait {wait:g} s." if wait is not None else ""
        return RateLimited(
            f"The hub takes no more for now (`{code}`).{wait_text}",
            retry_after=wait,
            fix=fix or "Try again later.",
            status=429,
            hub_code=code,
            answer=body,
        )
    return build_refusal(answer.status, code, message, fix, body)


def build_refusal(
    status: int, code: str, message: str, fix: Optional[str], answer: Mapping[str, Any]
) -> HubRefused:
    """Builds the exception that fits the code of a refusal."""
    is_secret = code == "node_secret_invalid" or "rotation_requires_current_secret" in code
    kind = NodeSecretRefused if is_secret else HubRefused
    text = f"The hub refused ({status} `{inert(code, 80)}`): {message}"
    return kind(text, fix=fix, status=status, hub_code=code, answer=answer)
