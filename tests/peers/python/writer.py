"""Reads JSON texts and floats from standard input and answers with what Python's own encoder makes of them.

A line `f BITS` asks for the double with those 16 hex digits; the answer is its text.
A line `d TEXT` asks for a document (TEXT is its text as a JSON string); the answer is a list of four texts in JSON
(canonical, canonical in ASCII, spaced, indented), or `null` where Python refuses the document.
"""

import json
import re
import struct
import sys

HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def mended(value):
    """Sealed texts are UTF-8, so half a surrogate pair becomes U+FFFD."""
    if isinstance(value, str):
        return HALF_A_PAIR.sub("\ufffd", value)
    if isinstance(value, list):
        return [mended(item) for item in value]
    return value


def mended_object(pairs):
    return {mended(name): mended(value) for name, value in pairs}


def document(text):
    try:
        value = mended(json.loads(text, object_pairs_hook=mended_object))
    except ValueError:
        return None
    dense = {"sort_keys": True, "separators": (",", ":")}
    return [
        json.dumps(value, ensure_ascii=False, **dense),
        json.dumps(value, **dense),
        json.dumps(value, ensure_ascii=False),
        json.dumps(value, ensure_ascii=False, indent=2),
    ]


for line in sys.stdin.buffer:
    kind, body = line.rstrip(b"\n").split(b" ", 1)
    if kind == b"f":
        print(json.dumps(struct.unpack(">d", bytes.fromhex(body.decode()))[0]))
    else:
        print(json.dumps(document(json.loads(body))))
