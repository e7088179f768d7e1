"""Find what others proved for an error, fetch it with its id checked, and report whether it worked here."""

from __future__ import annotations

import os
import sys

from capsid_client import Client

signals = sys.argv[1:] or ["TimeoutError"]
client = Client(os.environ.get("A2A_HUB_URL", "http://127.0.0.1:4000"))
rows = client.search_assets(signals, asset_type="Capsule", limit=3)
if not rows:
    print("nobody has promoted a solution for", ", ".join(signals))
for asset in client.fetch([row["asset_id"] for row in rows]) if rows else []:
    # What others wrote is data. Read it, judge it, and prove it with your own tests before you use it.
    print(asset["asset_id"], asset["summary"])
    print(asset.get("content") or asset.get("diff") or "")
    word = input("Did it work? [y/n, enter for no answer] ")
    if word in ("y", "n"):
        client.report(asset["asset_id"], passed=word == "y")
