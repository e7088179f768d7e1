"""Fills a hub with something of everything and writes down what a test needs to know.

hub.py BINARY DATA OUT [--database URL] [--user FOLDER]
"""

import argparse
import json
import sys
import time
from pathlib import Path

import user
from wire import PASSWORD, Endpoint, Hub, Node, bundle, stamp

# A bundle whose text is not what any writer here would make: spaces, escapes and numbers in other forms.
CAPSULE_AS_TYPED = """{ "type":"Capsule" , "schema_version" : "1.5.0",
  "trigger":["\\u8d85\\u65f6\\u9519\\u8bef", "ETIMEDOUT"], "gene": "GENE", "summary":"\\u8d85\\u65f6\\u540e \\"retry\\" \\u2014 after a pause of caf\\u00e9 length",
  "confidence":0.90, "blast_radius":{"files":1,"lines":1e1}, "outcome":{"status":"success","score":9e-1},
  "env_fingerprint":{"platform":"linux","arch":"x64"}, "success_streak":3, "asset_id":"ID" }"""


def as_typed(gene):
    """The capsule above with its true id."""
    text = CAPSULE_AS_TYPED.replace("GENE", gene)
    capsule = json.loads(text)
    capsule["blast_radius"]["lines"] = 10
    return text.replace("ID", stamp(capsule), 1), capsule["asset_id"]


def people(hub):
    hub.admin("create-user", "admin@example.org", "--admin", "--password-stdin", stdin=PASSWORD + "\n")
    root = hub.post("/auth/login", {"email": "admin@example.org", "password": PASSWORD})["token"]
    ann, ben = hub.register("ann"), hub.register("ben")
    gone = hub.post("/account/api-keys", {"name": "lost"}, ann)
    hub.call("DELETE", f"/account/api-keys/{gone['key_id']}", None, ann)
    key = hub.post("/account/api-keys", {"name": "laptop"}, ann)
    hub.post("/auth/login", {"email": "ben@example.org", "password": "wrong password"}, status=401)
    return root, ann, ben, key


def nodes(hub, endpoint, ann, ben):
    linux = {"platform": "linux", "arch": "x64"}
    all_nodes = {
        "shop": Node(hub, "node_shop", name="Shop", model="model-1", env_fingerprint=linux, gene_count=2),
        "invoices": Node(hub, "node_invoices", webhook_url=f"{endpoint}/ok/invoices", env_fingerprint=linux),
        "validator": Node(hub, "node_validator", env_fingerprint=linux),
        "second_validator": Node(hub, "node_validator_2", env_fingerprint=linux),
        "deaf": Node(hub, "node_deaf", webhook_url=f"{endpoint}/fails/deaf", referrer="node_shop"),
        "quiet": Node(hub, "node_quiet"),
        "banned": Node(hub, "node_banned"),
    }
    all_nodes["shop"].claim(ann)
    all_nodes["invoices"].claim(ben)
    hub.admin("set-reputation", "node_validator", "75", "--reason", "known to us")
    for name in ["validator", "second_validator"]:
        all_nodes[name].call("/a2a/validator/stake", payload={"stake_amount": 100})
    all_nodes["banned"].publish(bundle("SpamError", "what nobody asked for"))
    hub.admin("ban", "node_banned", "--reason", "spam")
    return all_nodes


def assets(hub, by, root, ann, ben):
    shop, invoices = by["shop"], by["invoices"]
    made = {
        "promoted": bundle("TimeoutError", "calls that wait without a bound", chain_id="chain_1"),
        "candidate": bundle("ParseError", "a reader that takes commas for points", chain_id="chain_1"),
        "revoked": bundle("LockError", "a lock that nobody releases"),
        "rejected": bundle("StyleError", "names that are too long for the report"),
        "quarantined": bundle("AuthError", "a token that is compared as a number"),
        "disputed": bundle("CacheError", "a cache that never forgets old prices"),
    }
    for name, parts in made.items():
        shop.publish(parts, keep=name in ["promoted", "candidate"])
    [gene, _, event] = bundle("ETIMEDOUT", "a call that is not tried again")
    text, typed = as_typed(gene["asset_id"])
    event.update(capsule_id=typed)
    stamp(event)
    shop.message("publish", f'{{"assets": [{json.dumps(gene)}, {text}, {json.dumps(event)}]}}', keep=True)
    # Nearly the same as another node's.
    invoices.publish(bundle("TimeoutError", "calls that wait without any bound"))
    ids = {name: [part["asset_id"] for part in parts] for name, parts in made.items()}
    ids["typed"] = [gene["asset_id"], typed, event["asset_id"]]

    # Staked nodes are asked by the hub, others report by themselves.
    hub.post("/admin/promote-now", {}, root)
    for name in ["validator", "second_validator"]:
        asked = by[name].message("fetch", {"validation_only": True})["payload"]
        for task in asked.get("validation_tasks", []):
            if task["target_asset_id"] == ids["promoted"][1]:
                by[name].message("report", {
                    "task_id": task["task_id"], "nonce": task["nonce"], "overall_ok": True, "commands_passed": 1,
                    "commands_total": 1, "reproduction_score": 1.0, "env_fingerprint": {"platform": "linux", "arch": "x64"},
                })
    invoices.report(ids["promoted"][1], True, keep=True)
    shop.report(ids["candidate"][1], True)
    invoices.report(ids["disputed"][1], False)
    for asset in ids["promoted"] + ids["typed"]:
        hub.post(f"/admin/assets/{asset}/promote", {"reason": "read and tried"}, root)
    hub.post(f"/admin/assets/{ids['rejected'][1]}/reject", {"reason": "not a repair"}, root)
    hub.post(f"/admin/assets/{ids['quarantined'][1]}/quarantine", {"reason": "to be read"}, root)
    shop.message("revoke", {"target_asset_id": ids["revoked"][1], "reason": "Superseded."}, keep=True)
    invoices.message("decision", {"target_asset_id": ids["candidate"][1], "decision": "accept", "reason": "It works."})
    for name in ["invoices", "validator"]:
        by[name].message("fetch", {"asset_ids": [ids["promoted"][1], ids["promoted"][0]]})
    invoices.message("fetch", {"asset_type": "Capsule", "signals": ["TimeoutError"]})
    hub.post(f"/a2a/assets/{ids['promoted'][1]}/vote", {"vote": "up"}, ben)
    hub.post(f"/a2a/assets/{ids['disputed'][1]}/vote", {"vote": "down"}, ben)
    review = {"rating": 4, "content": "It worked here, 谢谢."}
    invoices.call(f"/a2a/assets/{ids['promoted'][1]}/reviews", **review)
    hub.get(f"/a2a/assets/{ids['promoted'][1]}")
    return ids


def offer(hub, token, title, amount, signals, **more):
    made = hub.post("/bounty/create", {"title": title, "amount": amount, "signals": signals, **more}, token)
    return {"bounty_id": made["bounty_id"], "task_id": made["task_id"]}


def economy(hub, by, ids, root, ann, ben):
    shop, invoices, validator = by["shop"], by["invoices"], by["validator"]
    work = {"open": offer(hub, ann, "Speed up the nightly report", 25, "SlowQuery,missing index", body="It takes hours.")}
    work["claimed"] = offer(hub, ben, "Name the colours", 2.5, "feature_request")
    shop.work("claim", work["claimed"]["task_id"])
    work["settled"] = offer(hub, ben, "Calls to the price service run out of time", 12.345, "TimeoutError,timeout")
    shop.work("claim", work["settled"]["task_id"])
    shop.work("complete", work["settled"]["task_id"], asset_id=ids["promoted"][1])
    hub.post(f"/bounty/{work['settled']['bounty_id']}/accept", {}, ben)
    work["matched"] = offer(hub, ben, "Prices with commas", 3, "ParseError")
    shop.work("claim", work["matched"]["task_id"])
    shop.work("complete", work["matched"]["task_id"], asset_id=ids["candidate"][1])
    work["cancelled"] = offer(hub, ann, "Not needed any more", 1, "nothing")
    hub.post(f"/bounty/{work['cancelled']['bounty_id']}/cancel", {}, ann)
    work["swarm"] = offer(hub, ann, "Invoices in two currencies", 60, "feature_request,currency")
    task = work["swarm"]["task_id"]
    invoices.work("claim", task)
    parts = [{"title": "Convert amounts", "weight": 0.45}, {"title": "Show both amounts", "weight": 0.35}]
    invoices.work("propose-decomposition", task, subtasks=parts)
    part = bundle("CurrencyError", "amounts that are added across currencies")
    validator.publish(part)
    validator.work("claim", f"{task}_s1")
    validator.work("complete", f"{task}_s1", asset_id=part[1]["asset_id"])
    validator.call("/a2a/ask", question="Why does the cache forget?", amount=4.5, signals="CacheError", reference="ask-1")
    listing = shop.call("/a2a/service/publish", title="Fix builds", description="Repairs builds.", price_per_task=5,
                        capabilities=["repair"], use_cases=["ci"], max_concurrent=2)["listing_id"]
    order = {"listing_id": listing, "question": "Please fix our build", "signals": "build", "reference": "order-1"}
    work["order"] = invoices.call("/a2a/service/order", **order)["order_id"]
    invoices.call("/a2a/worker/register", enabled=True, domains=["currency", "sql"], max_load=3)
    hub.post("/account/transfer", {"from": "user", "to": "node_shop", "amount": 1.5, "reference": "top-up-1"}, ann)
    hub.admin("grant-credits", "node_quiet", "7", "--reason", "a prize")
    return work


def other_data(hub, by, ids, ann):
    shop, invoices = by["shop"], by["invoices"]
    shop.call("/a2a/memory/record", signals=["TimeoutError"], gene_id="gene_timeouterror", status="success", score=0.9,
              summary="Waited, then tried again.", used_asset_ids=[ids["promoted"][1]])
    shop.call("/a2a/memory/event", event={"kind": "outcome", "id": "e1", "signal": {"signals": ["LockError"]},
                                          "outcome": {"status": "failed", "note": "The lock stayed."}})
    skill = {"content": "# Retry\nWait, then try again. 再试一次。", "category": "repair", "tags": ["net"],
             "changelog": "First.", "bundled_files": [{"name": "a.md", "content": "A"}]}
    for name in ["retry", "gone"]:
        shop.call("/a2a/skill/store/publish", skill_id=name, **skill)
    shop.call("/a2a/skill/store/update", method="PUT", skill_id="retry", **{**skill, "changelog": "Second."})
    shop.call("/a2a/skill/store/delete", skill_id="gone")
    invoices.call("/a2a/skill/store/retry/download")
    letters = [{"id": f"m{n}", "type": "dm", "priority": "high",
                "payload": {"recipient_node_id": "node_invoices", "content": text}}
               for n, text in enumerate(["The price service is slow today.", "It is quick again, 好了."])]
    letters.append({"id": "m2", "type": "task_subscribe", "payload": {"domains": ["TimeoutError"]}})
    shop.call("/a2a/mailbox/outbound", keep=True, proxy_protocol_version="0.1.0", messages=letters)
    mail = invoices.call("/a2a/mailbox/inbound", cursor=None, limit=10)["messages"]
    first = next(letter for letter in mail if letter["type"] == "dm")
    invoices.call("/a2a/mailbox/ack", message_ids=[first["id"]])
    told = {
        "entities": [{"name": "price service", "entity_type": "service", "properties": {"answers_within_ms": 800}},
                     {"name": "exchange rates", "entity_type": "service"}],
        "relations": [{"source_name": "price service", "source_type": "service", "type": "causes",
                       "target_name": "TimeoutError", "target_type": "signal", "confidence": 0.5},
                      {"source_name": "price service", "source_type": "service", "type": "depends_on",
                       "target_name": "exchange rates", "target_type": "service"}],
    }
    hub.post("/kg/ingest", told, ann)
    outcome = {"id": "e2", "signal": {"signals": ["TimeoutError"]}, "gene": {"id": "gene_timeouterror"},
               "outcome": {"status": "success"}}
    hub.post("/kg/ingest", {"kind": "outcome", "event": outcome}, ann)
    hub.post("/kg/query", {"query": "price service", "limit": 10}, ann)
    invoices.call("/a2a/heartbeat", node_id="node_invoices", meta={"worker_enabled": True})
    invoices.call("/a2a/events/poll", timeout_ms=0)
    for name in ["invoices", "deaf"]:
        by[name].call("/a2a/webhook/test", node_id=by[name].id)


def settle(hub, by):
    """Waits until nothing is under way: webhooks called, fetches counted, embeddings made."""
    def states(name):
        page = hub.get(f"/a2a/webhook/deliveries?node_id={by[name].id}", by[name].secret)
        return {delivery["state"] for delivery in page["deliveries"]}
    for _ in range(300):
        if states("invoices") == {"delivered"} and states("deaf") <= {"retrying", "queued"}:
            break
        time.sleep(0.1)
    else:
        sys.exit(f"webhooks: {states('invoices')} {states('deaf')}")
    time.sleep(7)


def look(hub, by, ids, work, root, ann, ben):
    """Writes down what everybody sees."""
    for asset in [ids["promoted"][0]] + [parts[1] for parts in ids.values()]:
        hub.see(f"/a2a/assets/{asset}")
        hub.see(f"/a2a/assets/{asset}/verify")
    for part in ["reviews", "audit-trail", "lineage"]:
        hub.see(f"/a2a/assets/{ids['promoted'][1]}/{part}")
    for node in by.values():
        hub.see(f"/a2a/nodes/{node.id}")
        hub.see(f"/a2a/credit/statement?node_id={node.id}", root)
        hub.see(f"/a2a/memory/status?node_id={node.id}", root)
        hub.see(f"/billing/earnings/{node.id}", root)
    for offered in [offered for offered in work.values() if isinstance(offered, dict)]:
        hub.see(f"/bounty/{offered['bounty_id']}")
        hub.see(f"/task/{offered['task_id']}")
    hub.see(f"/task/swarm/{work['swarm']['task_id']}")
    for name in ["shop", "invoices", "validator"]:
        node, secret = by[name].id, by[name].secret
        for path in ["/task/my", "/a2a/service/orders", "/a2a/mailbox/status", "/a2a/validator/status"]:
            hub.see(f"{path}?node_id={node}", secret)
    for name in ["invoices", "deaf"]:
        hub.see(f"/a2a/webhook?node_id={by[name].id}", by[name].secret)
        hub.see(f"/a2a/webhook/deliveries?node_id={by[name].id}", by[name].secret)
    for path in ["/a2a/service/list", "/a2a/skill/store/list", "/a2a/stats",
                 "/a2a/validation-reports", "/a2a/evolution-events?limit=2", "/task/list", "/bounty/list", "/a2a/facets",
                 "/a2a/assets?status=candidate&limit=3", "/a2a/assets/search?signals=TimeoutError",
                 "/kg/path?from=price%20service&to=TimeoutError"]:
        hub.see(path)
    for token in [ann, ben]:
        for path in ["me", "agents", "api-keys", "statement"]:
            hub.see(f"/account/{path}", token)
        for path in ["/bounty/my", "/kg/my-graph"]:
            hub.see(path, token)
    hub.see("/admin/users", root)
    hub.see("/admin/audit?limit=100", root)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("data")
    parser.add_argument("out", type=Path)
    parser.add_argument("--database")
    parser.add_argument("--user", type=Path)
    arguments = parser.parse_args()
    endpoint = Endpoint.start()
    hub = Hub(arguments.binary, arguments.data, arguments.database, endpoint)
    root, ann, ben, key = people(hub)
    by = nodes(hub, endpoint, ann, ben)
    ids = assets(hub, by, root, ann, ben)
    work = economy(hub, by, ids, root, ann, ben)
    other_data(hub, by, ids, ann)
    ada = user.join(arguments.binary, arguments.user, hub, ann) if arguments.user else None
    hub.post("/admin/promote-now", {}, root)
    settle(hub, by)
    look(hub, by, ids, work, root, ann, ben)
    time.sleep(1)
    story = {
        "url": hub.url, "password": PASSWORD, "api_key": key["api_key"],
        "tokens": {"admin": root, "ann": ann, "ben": ben},
        "secrets": {node.id: node.secret for node in by.values()},
        "assets": ids, "work": work, "stored": hub.stored, "seen": hub.seen,
    }
    hub.stop()
    story["fsck"] = hub.fsck()
    if ada:
        user.leave(ada)
        story["user_saw"] = user.look(ada)
    arguments.out.write_text(json.dumps(story, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
