"""Content addressing: the canonical form of a document, its id, and whether a stored id holds.

The canonical form is that of RFC 8785 as ECMAScript writes it: members sorted by UTF-16 code units at every level, no
white space, numbers in their shortest form, lone surrogates as escapes.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional

from .errors import InputInvalid

#: The deepest document that is taken.
MAX_DEPTH = 200

#: Whole numbers up to here are doubles exactly.
_MAX_EXACT_INT = 2**53 - 1

_SURROGATE = re.compile("[\ud800-\udfff]")


def canonical(value: object) -> str:
    """The canonical JSON text of a value made of dicts, lists, strings, numbers, booleans and ``None``.

    An infinity is written as ``null``, as other implementations do with a number such as ``1e400``. NaN, names that
    are not strings, and objects of other types are refused with :class:`InputInvalid`.
    """
    parts: List[str] = []
    _write_value(value, parts, 0)
    return "".join(parts)


def asset_id(asset: Mapping[str, object]) -> str:
    """The id of an asset: ``sha256:`` and the hash of its canonical form without the top-level ``asset_id``."""
    if not isinstance(asset, Mapping):
        raise InputInvalid("Only objects have ids.", fix="Give a dict.")
    content = {name: value for name, value in asset.items() if name != "asset_id"}
    return "sha256:" + hashlib.sha256(canonical(content).encode("utf-8")).hexdigest()


def stamp_asset(asset: Mapping[str, object]) -> Dict[str, Any]:
    """Returns a copy of an asset with its id as the last member."""
    copied: Dict[str, Any] = {name: value for name, value in asset.items() if name != "asset_id"}
    copied["asset_id"] = asset_id(copied)
    return copied


def stamped(asset: Mapping[str, object]) -> Dict[str, Any]:
    """Deprecated: use :func:`stamp_asset`."""
    warnings.warn("`stamped` is deprecated, use `stamp_asset`", DeprecationWarning, stacklevel=2)
    return stamp_asset(asset)


@dataclass(frozen=True)
class Verdict:
    """What checking an id found. It is true where the id holds."""

    #: ``verified``, ``verified_legacy``, ``mismatch`` or ``missing``.
    state: str
    #: The id in the document.
    stored: Optional[str]
    #: The id that its content has.
    computed: str

    def __bool__(self) -> bool:
        return self.state in ("verified", "verified_legacy")


def verify(asset: Mapping[str, object]) -> Verdict:
    """Checks the id inside an asset. ``verified_legacy`` is one that holds once the member is put back that some
    engines hash and never write."""
    computed = asset_id(asset)
    stored = asset.get("asset_id")
    if not isinstance(stored, str) or not stored:
        return Verdict("missing", None, computed)
    if stored == computed:
        return Verdict("verified", stored, computed)
    legacy = _legacy_form(asset)
    if legacy is not None and asset_id(legacy) == stored:
        return Verdict("verified_legacy", stored, computed)
    return Verdict("mismatch", stored, computed)


def _write_value(value: object, out: List[str], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InputInvalid(f"The document is nested deeper than {MAX_DEPTH} levels.", code="json_too_deep")
    if value is None:
        out.append("null")
    elif value is True:
        out.append("true")
    elif value is False:
        out.append("false")
    elif isinstance(value, str):
        out.append(_quote_text(value))
    elif isinstance(value, (int, float)):
        out.append(_format_number(value))
    elif isinstance(value, Mapping):
        _write_members(value, out, depth)
    elif isinstance(value, (list, tuple)):
        out.append("[")
        for at, item in enumerate(value):
            if at:
                out.append(",")
            _write_value(item, out, depth + 1)
        out.append("]")
    else:
        raise InputInvalid(f"A value of the type `{type(value).__name__}` has no form in JSON.")


def _write_members(members: Mapping[Any, object], out: List[str], depth: int) -> None:
    for name in members:
        if not isinstance(name, str):
            raise InputInvalid("The name of a member is not a string.", fix="Use strings as keys of dicts.")
    out.append("{")
    for at, name in enumerate(sorted(members, key=_utf16_units)):
        if at:
            out.append(",")
        out.append(_quote_text(name))
        out.append(":")
        _write_value(members[name], out, depth + 1)
    out.append("}")


def _utf16_units(text: str) -> bytes:
    """The UTF-16 code units of a text, which compare as bytes."""
    return text.encode("utf-16-be", "surrogatepass")


def _quote_text(text: str) -> str:
    if _SURROGATE.search(text):
        # Two halves that stand side by side are one character.
        text = _utf16_units(text).decode("utf-16-be", "surrogatepass")
    quoted = json.dumps(text, ensure_ascii=False)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", quoted)


def _format_number(number: float) -> str:
    if isinstance(number, int):
        if -_MAX_EXACT_INT <= number <= _MAX_EXACT_INT:
            return int.__repr__(number)
        try:
            number = float(number)
        except OverflowError:
            return "null"
    if number != number:
        raise InputInvalid("NaN has no form in JSON.", fix="Leave the member out, or use null.")
    if number in (float("inf"), float("-inf")):
        return "null"
    if number == 0:
        return "0"
    return ("-" if number < 0 else "") + _format_positive(abs(number))


def _format_positive(number: float) -> str:
    """Number::toString of ECMAScript. Python finds the same shortest digits and only places the point otherwise."""
    mantissa, _, exponent = float.__repr__(number).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = fraction.rstrip("0")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS times ten to the power of `point`.
    point = len(digits) - len(fraction) + int(exponent or 0)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    mantissa_text = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa_text}e{point - 1:+d}"


def _legacy_form(asset: Mapping[str, object]) -> Optional[Dict[str, Any]]:
    """The asset with ``"region": null`` in every fingerprint of an engine that hashed it that way."""
    candidate = _restore_region(asset)
    return candidate if isinstance(candidate, dict) and candidate != asset else None


def _restore_region(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [_restore_region(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    copied = {name: _restore_region(inner) for name, inner in value.items()}
    fingerprint = copied.get("env_fingerprint")
    if isinstance(fingerprint, dict) and "region" not in fingerprint:
        version = fingerprint.get("evolver_version")
        if isinstance(version, str) and version.startswith("1."):
            fingerprint["region"] = None
    return copied
