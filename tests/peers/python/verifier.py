"""Reads chains from standard input, one a line, and answers with what qp-capsule says of each.

A line is a list: the signer's public key, and the sealed records. The answer is `null` for a chain whose hashes, links
and signatures hold, and else the place of the first record that does not. A record that it cannot even read is one.
"""

import json
import sys

from qp_capsule import Capsule, Seal
from qp_capsule.cli import verify_chain

for line in sys.stdin.buffer:
    key, records = json.loads(line)
    capsules, unreadable = [], None
    for place, record in enumerate(records):
        try:
            capsules.append(Capsule.from_sealed_dict(record))
        except (AttributeError, KeyError, TypeError, ValueError):
            unreadable = place
            break
    result = verify_chain(capsules, level="signatures", seal=Seal(), public_key=key)
    print(json.dumps(unreadable if result.valid else result.errors[0].sequence))
