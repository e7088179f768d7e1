"""Text that others wrote, made harmless to show."""

from __future__ import annotations

import unicodedata


def inert(text: str, most: int = 400) -> str:
    """One line of at most so many characters, without control, invisible and direction-changing ones."""
    shown = "".join(c if _is_plain(c) else " " for c in text[: most * 2])
    line = " ".join(shown.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _is_plain(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
