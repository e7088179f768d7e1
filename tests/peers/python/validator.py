"""Reads documents from standard input, one a line, and answers with the first rule of qp-capsule that each breaks.

The answer is a list of its category and field, or `null` for a record that breaks none.
"""

import json
import sys

from qp_capsule import validate_capsule_dict

for line in sys.stdin.buffer:
    result = validate_capsule_dict(json.loads(line))
    print(json.dumps(None if result.ok else [result.category, result.field]))
