//! A hub with something of everything, filled by real calls.

use super::{Witness, messages};
use crate::common::Bundle;
use crate::common::economy::{admin, text, user};
use capsid_model::time::Clock;
use capsid_store::evaluation::moderation::{self, CaseKind};
use serde_json::{Value, json};

/// What was put in.
pub struct Filled {
    admin: String,
    ann: String,
    promoted: Bundle,
    candidate: Bundle,
    bounty: String,
    task: String,
    swarm: String,
}

/// An empty hub answers as it is described too.
pub fn empty(on: &Witness<'_>) {
    let routes = [
        "/a2a/stats",
        "/a2a/trending",
        "/a2a/assets",
        "/a2a/nodes",
        "/task/list",
        "/bounty/list",
        "/kg/status",
        "/kg/graph",
    ];
    for route in routes {
        on.get("", route, "", "");
    }
}

impl Filled {
    pub fn fill(on: &Witness<'_>) -> Self {
        let hub = on.hub;
        let root = admin(hub);
        let (ann, _) = user(hub, "ann");
        let chained = |n| Bundle::new(n).with(|bundle| bundle.capsule["chain_id"] = json!("chain_1"));
        let (promoted, sibling, candidate) = (chained(1), chained(2), Bundle::new(3));
        for bundle in [&promoted, &sibling, &candidate] {
            hub.publish("node_a", bundle).expect(200);
        }
        for id in [promoted.capsule_id(), promoted.gene_id()] {
            on.post(&root, "/admin/assets/{asset_id}/promote", id, &json!({"reason": "Works."}));
        }
        for node in ["node_b", "node_c"] {
            hub.register(node);
            hub.message(node, "fetch", json!({"asset_ids": [promoted.capsule_id()]})).expect(200);
        }
        report(on, "node_b", promoted.capsule_id(), true);
        report(on, "node_c", candidate.capsule_id(), false);
        let outcome = json!({"id": "e1", "signal": {"signals": ["TimeoutError"]}, "gene": {"id": "gene_retry"},
            "outcome": {"status": "success"}});
        hub.post_as(&ann, "/kg/ingest", &json!({"kind": "outcome", "event": outcome})).expect(200);
        let genes = json!([{"id": "gene_retry", "category": "repair", "type": "Gene"}]);
        on.post(&ann, "/kg/advice", "", &json!({"signals": ["TimeoutError"], "genes": genes}));
        let (bounty, task) = Self::bounty(on, &ann);
        let swarm = Self::swarm(on, &ann);
        Self::work(on, &ann);
        Self::services(on);
        Self::account(on, &ann);
        Self { admin: root, ann, promoted, candidate, bounty, task, swarm }
    }

    /// A case that is decided, and appealed against.
    fn moderate(&self, on: &Witness<'_>) {
        let (subject, now) = (self.promoted.capsule_id().to_owned(), on.hub.hub.now());
        let case = subject.clone();
        let open = move |tx: &mut dyn capsid_store::db::tx::Tx| {
            moderation::open_case(tx, CaseKind::Warning, &case, "node_a", "content_safety_warning", now)
        };
        on.hub.hub.store.write_now(open).unwrap();
        let cases = on.get(&self.admin, "/admin/moderation", "", "");
        let case_id =
            cases["cases"].as_array().unwrap().iter().find(|case| case["subject"] == subject.as_str());
        let case_id = case_id.unwrap()["case_id"].to_string();
        let approve = json!({"decision": "approve", "reason": "It is fine."});
        on.post(&self.admin, "/admin/moderation/{case_id}/decide", &case_id, &approve);
        let appeal = json!({"sender_id": "node_a", "reason": "Say so again."});
        on.post("", "/a2a/moderation/{subject}/appeal", &subject, &appeal);
    }

    /// A bounty that was offered, taken, done and accepted.
    fn bounty(on: &Witness<'_>, ann: &str) -> (String, String) {
        let asked = json!({"title": "Fix the timeout", "body": "Of the API.", "signals": ["TimeoutError"], "amount": 5,
            "min_model_tier": 0, "allowed_models": ["m-1"]});
        let offered = on.post(ann, "/bounty/create", "", &asked);
        on.hub.message("node_w", "hello", json!({"model": "m-1"})).expect(200);
        let (bounty, task) = (text(&offered["bounty_id"]), text(&offered["task_id"]));
        hand_in(on, "node_w", &task, 10);
        on.post(ann, "/bounty/{id}/accept", &bounty, &json!({}));
        (bounty, task)
    }

    /// A task that was cut into parts, of which one is done.
    fn swarm(on: &Witness<'_>, ann: &str) -> String {
        let asked = json!({"title": "Port the parser", "signals": "parser", "amount": 20});
        let task = text(&on.post(ann, "/bounty/create", "", &asked)["task_id"]);
        let claim = json!({"task_id": task, "node_id": "node_w"});
        on.post("", "/task/claim", "", &claim);
        let parts = json!({"task_id": task, "node_id": "node_w", "subtasks": [
            {"title": "First half", "weight": 0.4}, {"title": "Second half", "weight": 0.4},
        ]});
        let cut = on.post("", "/task/propose-decomposition", "", &parts);
        on.get("", "/task/swarm/{task_id}", &task, "");
        for (n, node) in ["node_x", "node_y"].into_iter().enumerate() {
            on.hub.register(node);
            hand_in(on, node, &text(&cut["subtasks"][n]["task_id"]), 20 + n as u64);
        }
        on.get("", "/task/{task_id}", &text(&cut["subtasks"][0]["task_id"]), "");
        task
    }

    /// Tasks that were promised, released, submitted, and done as work of the pool.
    fn work(on: &Witness<'_>, ann: &str) {
        let claimed = || {
            let asked = json!({"title": "Fix the build", "amount": 1});
            let task = text(&on.post(ann, "/bounty/create", "", &asked)["task_id"]);
            let call = json!({"task_id": task, "node_id": "node_w"});
            (task, call)
        };
        let (task, call) = claimed();
        on.post("", "/task/claim", "", &call);
        let deadline = json!({"node_id": "node_w", "deadline": on.hub.clock.now().0 + 3_600_000});
        on.post("", "/task/{task_id}/commitment", &task, &deadline);
        on.post("", "/task/release", "", &call);
        for query in [format!("?task_id={task}"), "?min_reputation=10".to_owned()] {
            on.get("", "/task/eligible-count", "", &query);
        }
        let (_, mut call) = claimed();
        on.post("", "/task/claim", "", &call);
        let bundle = Bundle::new(50);
        on.hub.publish("node_w", &bundle).expect(200);
        call["asset_id"] = bundle.capsule_id().into();
        on.post("", "/task/submit", "", &call);
        on.post("", "/a2a/worker/register", "", &json!({"sender_id": "node_w", "max_load": 5}));
        let (_, mut call) = claimed();
        assert_ne!(on.get("", "/a2a/work/available", "", "?node_id=node_w")["count"], 0);
        on.post("", "/a2a/work/claim", "", &call);
        on.post("", "/a2a/work/accept", "", &call);
        call["asset_id"] = bundle.capsule_id().into();
        on.post("", "/a2a/work/complete", "", &call);
        assert_ne!(on.get("", "/a2a/work/my", "", "?node_id=node_w")["count"], 0);
        let question = json!({"sender_id": "node_w", "question": "Why does it fail?", "amount": 1});
        on.post("", "/a2a/ask", "", &question);
        on.get("", "/billing/earnings/{agent_id}", "node_w", "");
    }

    /// A service that was offered and ordered.
    fn services(on: &Witness<'_>) {
        let offer =
            json!({"sender_id": "node_x", "title": "Review", "price_per_task": 1.5, "use_cases": ["code"]});
        let listing = on.post("", "/a2a/service/publish", "", &offer)["listing_id"].clone();
        assert_eq!(on.get("", "/a2a/service/list", "", "")["count"], 1);
        let order =
            json!({"sender_id": "node_w", "listing_id": listing, "title": "Review this", "reference": "o"});
        on.post("", "/a2a/service/order", "", &order);
        on.post("", "/a2a/service/order", "", &order);
        assert_eq!(on.get("", "/a2a/service/orders", "", "?node_id=node_w")["count"], 1);
    }

    /// What belongs to an account.
    fn account(on: &Witness<'_>, ann: &str) {
        let hello = json!({"name": "Reef", "webhook_url": "https://agent.example.com/hook"});
        let code = text(&on.hub.message("node_own", "hello", hello).expect(200)["claim_code"]);
        on.get("", "/claim/{code}", &code, "");
        on.post(ann, "/claim/{code}", &code, &json!({}));
        on.get("", "/claim/{code}", &code, "");
        let moved = json!({"from": "user", "to": "node_own", "amount": 1.5, "reference": "top-up-1"});
        on.post(ann, "/account/transfer", "", &moved);
        let key = on.post(ann, "/account/api-keys", "", &json!({"name": "laptop"}));
        on.get(ann, "/account/api-keys", "", "");
        on.send("DELETE", ann, "/account/api-keys/{key_id}", &text(&key["key_id"]), &json!({}));
        let queued = on.post(ann, "/a2a/webhook/test", "", &json!({"node_id": "node_own"}));
        on.hub.change("UPDATE deliveries SET state = 'dead', last_status = 500 WHERE node_id = 'node_own'");
        let delivery = text(&queued["delivery_id"]);
        on.get(ann, "/account/agents/{node_id}/deliveries", "node_own", "");
        let both = format!("node_own {delivery}");
        on.post(ann, "/account/agents/{node_id}/deliveries/{delivery_id}/replay", &both, &json!({}));
        on.hub.change("UPDATE deliveries SET state = 'dead' WHERE node_id = 'node_own'");
        let again = json!({"node_id": "node_own", "delivery_id": delivery});
        on.post(ann, "/a2a/webhook/replay", "", &again);
        for verb in ["rotate", "enable"] {
            on.post(ann, &format!("/account/agents/{{node_id}}/webhook/{verb}"), "node_own", &json!({}));
        }
    }

    /// The knowledge graph: something is told, then asked, drawn and walked.
    fn look_at_the_graph(&self, on: &Witness<'_>) {
        let told = json!({
            "entities": [{"name": "Payment gateway", "entity_type": "service", "properties": {"port": 443}}],
            "relations": [{"source_name": "Payment gateway", "target_name": self.promoted.capsule_id(), "type": "uses"}],
        });
        assert_eq!(on.post(&self.ann, "/kg/ingest", "", &told)["ingested"]["entities"], 1);
        on.post(&self.ann, "/kg/ingest", "", &told);
        let event = json!({"kind": "outcome", "event": {"id": "mge_1", "kind": "outcome"}});
        on.post(&self.ann, "/kg/ingest", "", &event);
        let advice =
            json!({"signals": ["TimeoutError"], "genes": [{"id": "gene_retry"}], "driftEnabled": false});
        on.post(&self.ann, "/kg/advice", "", &advice);
        for query in ["payment gateway", "fix Signal1Error", "linux_x64"] {
            let answer = on.post(&self.ann, "/kg/query", "", &json!({"query": query, "limit": 50}));
            assert_ne!(answer["nodes"], json!([]), "{query}");
        }
        on.post(&self.ann, "/kg/query", "", &json!({"query": "fix", "type": "keyword"}));
        assert_ne!(on.get("", "/kg/graph", "", "?q=payment%20gateway&depth=2")["edges"], json!([]));
        let way = format!("?from=payment%20gateway&to={}", self.promoted.gene_id());
        assert_ne!(on.get("", "/kg/path", "", &way)["path"], json!([]));
        on.get(&self.ann, "/kg/status", "", "");
        assert_eq!(on.get(&self.ann, "/kg/my-graph", "", "")["count"], 2);
        on.get(&self.ann, "/kg/my-graph", "", "?limit=1");
        assert_eq!(on.post(&self.ann, "/kg/forget", "", &told)["not_told"], 0);
        let gone = on.post(&self.ann, "/kg/forget", "", &json!({"everything": true}));
        assert_eq!(gone["forgotten"], json!({"entities": 0, "relations": 0}));
        on.post(&self.ann, "/kg/ingest", "", &told);
    }

    /// Everything that only looks.
    pub fn read_everything(&self, on: &Witness<'_>) {
        self.look_at_assets(on);
        self.look_at_the_graph(on);
        for query in ["", "?sort=newest&limit=1"] {
            on.get("", "/a2a/nodes", "", query);
        }
        for node in ["node_a", "node_b", "node_own"] {
            on.get("", "/a2a/nodes/{node_id}", node, "");
            on.get("", "/a2a/nodes/{node_id}/activity", node, "");
            on.get("", "/a2a/nodes/{node_id}/reputation", node, "");
        }
        on.get("", "/task/list", "", "?limit=1");
        assert_ne!(on.get("", "/task/my", "", "?node_id=node_w")["count"], 0);
        for query in ["?action=publish", "?action=bounty&amount=5", "?action=reuse&amount=50"] {
            on.get("", "/a2a/credit/estimate", "", query);
        }
        for task in [&self.task, &self.swarm] {
            on.get("", "/task/{task_id}", task, "");
            on.get("", "/task/{task_id}/submissions", task, "");
            on.get("", "/task/swarm/{task_id}", task, "");
        }
        on.get("", "/bounty/list", "", "?limit=1");
        on.get(&self.ann, "/bounty/my", "", "");
        on.get("", "/bounty/{id}", &self.bounty, "");
        for route in ["/account/me", "/account/agents", "/account/statement"] {
            on.get(&self.ann, route, "", "");
        }
        on.get(&self.ann, "/account/statement", "", "?account=node_own");
        on.get(&self.ann, "/a2a/credit/statement", "", "?node_id=node_own");
        for node in ["node_own", "node_a"] {
            let token = if node == "node_own" { &self.ann } else { &self.admin };
            on.get(token, "/account/agents/{node_id}/webhook", node, "");
        }
        on.get(&self.ann, "/a2a/webhook", "", "?node_id=node_own");
        on.get(&self.ann, "/a2a/webhook/deliveries", "", "?node_id=node_own");
        on.get(&self.admin, "/admin/users", "", "?limit=1");
        on.get(&self.admin, "/admin/audit", "", "");
        for route in ["/a2a/stats", "/a2a/policy", "/health", "/a2a/credit/economics", "/a2a/credit/price"] {
            on.get("", route, "", "");
        }
    }

    fn look_at_assets(&self, on: &Witness<'_>) {
        let capsule = self.promoted.capsule_id();
        for query in ["", "?status=candidate&limit=1", "?type=Gene&sort=ranked"] {
            let page = on.get("", "/a2a/assets", "", query);
            assert_ne!(page["count"], 0, "{query}");
        }
        for query in ["", "?status=candidate", "?signal=Signal1Error", "?node_id=node_a&label=real"] {
            on.get("", "/a2a/facets", "", query);
        }
        assert_ne!(on.get("", "/a2a/assets/ranked", "", "")["count"], 0);
        let found = on.get("", "/a2a/assets/search", "", "?signals=Signal1Error");
        assert_ne!(found["count"], 0);
        for query in ["?q=fix", "?q=Signal1Error", "?q=fix&mode=keyword", "?q=fix&environment=linux_x64"] {
            assert_ne!(on.get("", "/a2a/assets/semantic-search", "", query)["count"], 0, "{query}");
        }
        assert_ne!(on.get("", "/a2a/trending", "", "")["count"], 0);
        let whose = [("", ""), (self.admin.as_str(), "?detailed=true"), ("", "?detailed=true")];
        for bundle in [&self.promoted, &self.candidate] {
            for id in [bundle.gene_id(), bundle.capsule_id(), bundle.event_id()] {
                for (token, query) in whose {
                    on.get(token, "/a2a/assets/{asset_id}", id, query);
                }
                on.get("", "/a2a/assets/{asset_id}/audit-trail", id, "");
                on.get("", "/a2a/assets/{asset_id}/verify", id, "");
                on.get("", "/a2a/assets/{asset_id}/lineage", id, "");
                on.get("", "/a2a/assets/{asset_id}/usage", id, "?days=2");
            }
        }
        let review = json!({"sender_id": "node_b", "rating": 4, "content": "It worked here."});
        on.get("", "/a2a/assets/{asset_id}/reviews", capsule, "");
        let written = on.post("", "/a2a/assets/{asset_id}/reviews", capsule, &review);
        let both = format!("{capsule} {}", text(&written["review_id"]));
        on.send("PUT", "", "/a2a/assets/{asset_id}/reviews/{review_id}", &both, &review);
        on.get("", "/a2a/assets/{asset_id}/reviews", capsule, "");
        on.send(
            "DELETE",
            "",
            "/a2a/assets/{asset_id}/reviews/{review_id}",
            &format!("{both}?node_id=node_b"),
            &json!({}),
        );
        assert_eq!(on.get("", "/a2a/validation-reports", "", "")["count"], 2);
        assert_ne!(on.get("", "/a2a/evolution-events", "", "")["count"], 0);
    }

    /// Everything that changes what was looked at.
    pub fn decide(&self, on: &Witness<'_>) {
        messages::say_everything(on, &self.admin, &self.ann, self.promoted.capsule_id());
        let decide = |verb: &str, n: u64| {
            let bundle = Bundle::new(n);
            on.hub.publish("node_a", &bundle);
            let route = format!("/admin/assets/{{asset_id}}/{verb}");
            on.post(&self.admin, &route, bundle.capsule_id(), &json!({}));
        };
        for (verb, n) in [("quarantine", 30), ("release", 30), ("reject", 31)] {
            decide(verb, n);
        }
        let offered = |n: u64| {
            let asked = json!({"title": "Fix it again", "amount": 1});
            let made = on.post(&self.ann, "/bounty/create", "", &asked);
            if n > 0 {
                hand_in(on, "node_w", &text(&made["task_id"]), n);
            }
            made
        };
        let id = |bounty: &Value| text(&bounty["bounty_id"]);
        let rejected = id(&offered(40));
        on.get(&self.ann, "/bounty/{id}", &rejected, "?open=true");
        on.post(&self.ann, "/bounty/{id}/reject", &rejected, &json!({"reason": "No."}));
        on.post("", "/bounty/{id}/dispute", &rejected, &json!({"node_id": "node_w", "reason": "It works."}));
        on.post(&self.admin, "/bounty/{id}/resolve", &rejected, &json!({"decision": "split"}));
        self.moderate(on);
        on.post(&self.ann, "/bounty/{id}/cancel", &id(&offered(0)), &json!({}));
        let found = json!({"asset_id": self.promoted.capsule_id()});
        on.post(&self.admin, "/bounty/{id}/match", &id(&offered(0)), &found);
        let done = offered(41);
        let handed_in = on.get("", "/bounty/{id}", &id(&done), "");
        let taken = json!({"task_id": done["task_id"], "submission_id": handed_in["submissions"][0]["submission_id"]});
        on.post(&self.ann, "/task/accept-submission", "", &taken);
        on.post(&self.admin, "/admin/promote-now", "", &json!({}));
        on.post(&self.ann, "/account/agents/{node_id}/reset-secret", "node_own", &json!({}));
        let login = |password: &str| json!({"email": "bob@example.org", "password": password});
        let bob = text(&on.post("", "/auth/register", "", &login("correct horse"))["token"]);
        let changed = json!({"current_password": "correct horse", "new_password": "battery staple"});
        on.post(&bob, "/account/password", "", &changed);
        let bob = on.post("", "/auth/login", "", &login("battery staple"));
        on.post(&text(&bob["token"]), "/auth/logout", "", &json!({}));
        for verb in ["ban", "unban"] {
            let route = format!("/admin/users/{{user_id}}/{verb}");
            on.post(&self.admin, &route, &text(&bob["user_id"]), &json!({"reason": "Why not."}));
        }
    }
}

fn report(on: &Witness<'_>, node: &str, asset: &str, ok: bool) {
    let report = json!({"target_asset_id": asset, "validation_report": {
        "report_id": format!("report_{node}"), "overall_ok": ok, "env_fingerprint_key": "linux_x64"}});
    on.hub.take_on_trial(node, asset);
    on.hub.message(node, "report", report).expect(200);
}

/// A node takes a task and hands in the capsule of a bundle.
fn hand_in(on: &Witness<'_>, node: &str, task: &str, bundle: u64) {
    let bundle = Bundle::new(bundle);
    on.hub.publish(node, &bundle).expect(200);
    let call = json!({"task_id": task, "node_id": node, "asset_id": bundle.capsule_id()});
    for verb in ["claim", "complete"] {
        on.post("", &format!("/task/{verb}"), "", &call);
    }
}
