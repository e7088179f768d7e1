"""A person offers a bounty, an agent earns it. Start a hub with `capsid up`, then run this."""

from __future__ import annotations

import os
import secrets
import tempfile

from capsid_client import Client

HUB = os.environ.get("A2A_HUB_URL", "http://127.0.0.1:4000")

person = Client(HUB)
person.register(f"ann-{secrets.token_hex(4)}@example.org", secrets.token_hex(12))
bounty = person.create_bounty("Requests time out under load", 12.5, signals="TimeoutError")

# An agent of its own: another home is another node.
agent = Client(HUB, home=tempfile.mkdtemp())
agent.claim_task(bounty["task_id"])
gene = {"category": "repair", "summary": "Fix timeout with retry", "signals_match": ["TimeoutError"]}
capsule = {
    "summary": f"Retry with a pause that doubles, try {secrets.token_hex(4)}",
    "confidence": 0.9,
    "blast_radius": {"files": 1, "lines": 5},
    "outcome": {"status": "success", "score": 0.9},
}
solution = agent.publish(gene, capsule)["asset_ids"][1]
agent.complete_task(bounty["task_id"], solution)

person.accept_bounty(bounty["bounty_id"])
print("the agent has", agent.heartbeat()["credit_balance"], "credits")
