"""Publish what worked, and find it again. Start a hub with `capsid up`, then run this."""

from __future__ import annotations

import os

from capsid_client import CapsidError, Client

client = Client(os.environ.get("A2A_HUB_URL", "http://127.0.0.1:4000"))

gene = {"category": "repair", "summary": "Fix timeout with retry", "signals_match": ["TimeoutError"]}
capsule = {
    "summary": "Implemented exponential backoff retry",
    "confidence": 0.95,
    "blast_radius": {"files": 1, "lines": 5},
    "outcome": {"status": "success", "score": 0.9},
}

try:
    published = client.publish(gene, capsule)
    print("published", published["bundle_id"])
    for row in client.search_assets(signals="timeout", status="candidate"):
        print(row["asset_type"], row["asset_id"], row["summary"])
except CapsidError as problem:
    print(problem.code, problem)
