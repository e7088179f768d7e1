"""A light redactor: it removes the most common credentials from what is about to be sent.

It knows the shapes that people paste most. The ``capsid`` program's own redactor knows many more, and also removes what
names a person or a machine; publish with ``capsid node publish`` where that matters.
"""

from __future__ import annotations

import re
from typing import Any, List, Mapping, Pattern

#: What replaces a credential.
REDACTED = "[REDACTED]"

_PRIVATE_KEYS = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|\Z)", re.DOTALL
)

#: Tokens that are known by how they begin.
_TOKENS = re.compile(
    r"\b(?:"
    r"(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|sk-[A-Za-z0-9_-]{20,}"
    r"|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|gh[opusr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}"
    r"|gl(?:pat|dt|rt)-[A-Za-z0-9_-]{20,}"
    r"|npm_[A-Za-z0-9]{36,}|pypi-[A-Za-z0-9_-]{32,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{20,}"
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}"
    r"|hf_[A-Za-z0-9]{30,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|dckr_pat_[A-Za-z0-9_-]{20,}|hvs\.[A-Za-z0-9_-]{24,}|whsec_[A-Za-z0-9+/=]{20,}"
    r"|sess_[a-f0-9]{48,}|ek_[a-f0-9]{48}\b|secret_[A-Za-z0-9]{43}\b|nfp_[A-Za-z0-9]{36,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?"
    r")"
)

#: A password in an address, a credential in a header, and a value that its name gives away.
_NAMED_VALUES: List[Pattern[str]] = [
    re.compile(r"(?P<keep>\b[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s/@:\"'<>]{0,200}:)(?P<value>[^\s/@\"'<>]+)(?=@)"),
    re.compile(
        r"(?i)(?P<keep>\bauthorization[\"'`]?[ \t]*[:=][ \t]*[\"'`]?(?:(?:basic|bearer|token)[ \t]+)?)"
        r"(?P<value>[a-z0-9._~+/=-]{8,})"
    ),
    re.compile(r"(?P<keep>\b[Bb]earer[ \t]+)(?P<value>(?=[^\s]*[0-9])[A-Za-z0-9._~+/=-]{8,})"),
    re.compile(
        r"(?i)(?P<keep>(?:password|passwd|passphrase)[\"'`]?[ \t]*(?:=>|:=|=|:)[ \t]*[\"'`]?)"
        r"(?P<value>[^\s\"'`,;&<>(){}\[\]|\\]{6,})"
    ),
    re.compile(
        r"(?i)(?P<keep>(?:secret|token|api[_-]?key|access[_-]?key|private[_-]?key)[\"'`]?[ \t]*(?:=>|:=|=|:)[ \t]*"
        r"[\"'`]?)(?P<value>(?=[^\s\"'`]*[0-9])[^\s\"'`,;&<>(){}\[\]|\\]{12,})"
    ),
]

#: Members whose whole text is a secret.
_SECRET_NAME = re.compile(
    r"(?i)(?:^|[_.-])(?:password|passwd|passphrase|secret|node_secret|api_?key|access_?token|auth_?token|private_?key)$"
)

#: What stands where a secret could, and is none.
_PLACEHOLDER = re.compile(
    r"(?i)^[$<{%*\[]|your|example|placeholder|changeme|redacted|xxxx|process\.env|os\.environ"
    r"|^(?:required|optional|string|missing|invalid|incorrect|expired|hidden|hashed|prompt|password)[.:!?]?$"
)


def redact_text(text: str) -> str:
    """A text without the credentials that are known by their shape."""
    text = _PRIVATE_KEYS.sub(REDACTED, text)
    text = _TOKENS.sub(REDACTED, text)
    for pattern in _NAMED_VALUES:
        text = pattern.sub(_redact_match, text)
    return text


def redact(value: Any) -> Any:
    """A copy of a JSON value, cleaned: its texts, and whole texts whose name says that they are a secret."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, (list, tuple)):
        return [redact(item) for item in value]
    if isinstance(value, Mapping):
        return {
            redact_text(name) if isinstance(name, str) else name: _redact_member(name, inner)
            for name, inner in value.items()
        }
    return value


def _redact_member(name: object, value: Any) -> Any:
    if isinstance(name, str) and isinstance(value, str) and value and _SECRET_NAME.search(name):
        return REDACTED
    return redact(value)


def _redact_match(match: "re.Match[str]") -> str:
    if _PLACEHOLDER.search(match["value"]):
        return match[0]
    return match["keep"] + REDACTED
