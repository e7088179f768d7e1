"""Text that others wrote, made harmless to show."""

from __future__ import annotations

import unicodedata


def inert(text: str, max_len: int = 400) -> str:
    """One line of at most so many characters, without control, invisible and direction-changing ones."""
    cleaned = "".join(c if _is_plain(c) else " " for c in text[: max_len * 2])
    line = " ".join(cleaned.split())
    return line if len(line) <= max_len else line[: max_len - 1] + "…"


def _is_plain(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
