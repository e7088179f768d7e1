"""Assets as a hub served them, byte for byte: what ``read_proof`` is computed over."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any, Dict, Iterator, Tuple

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"


def compute_read_proof(nonce: str, text: str) -> str:
    """Computes the proof that an asset was read: the HMAC-SHA256 of its bytes as they were served."""
    return hmac.new(nonce.encode(), text.encode(), hashlib.sha256).hexdigest()


def find_asset_texts(answer: str) -> Dict[str, str]:
    """Returns the text of each asset in an answer to a fetch, by its id. What cannot be read that way is left out."""
    try:
        members = dict(_members(answer, _skip(answer, 0)))
        inner = members.get("payload", (0, 0))[0]
        if inner and answer[inner] == "{":
            members = {**members, **dict(_members(answer, inner))}
        texts: Dict[str, str] = {}
        for name in ("results", "assets"):
            start = members.get(name, (0, 0))[0]
            if start and answer[start] == "[":
                texts.update(_named_texts(answer, start))
        return texts
    except (ValueError, IndexError, RecursionError):
        return {}


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _value_end(text: str, at: int) -> Tuple[Any, int]:
    return _DECODER.raw_decode(text, at)


def _members(text: str, at: int) -> Iterator[Tuple[str, Tuple[int, int]]]:
    """The members of the object at a place: the name, and where the value begins and ends."""
    if text[at] != "{":
        return
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, at = _value_end(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, end = _value_end(text, start)
        yield str(name), (start, end)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _named_texts(text: str, at: int) -> Dict[str, str]:
    texts: Dict[str, str] = {}
    at = _skip(text, at + 1)
    while text[at] != "]":
        value, end = _value_end(text, at)
        if isinstance(value, dict) and isinstance(value.get("asset_id"), str):
            texts[value["asset_id"]] = text[at:end]
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return texts
