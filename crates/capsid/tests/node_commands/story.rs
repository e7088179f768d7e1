//! The life of two nodes through every command.

use super::test_hub::{Hub, Node};
use crate::common::bundle::Bundle;
use capsid_model::{Value, json};

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value:#}"))
}

/// Two nodes on a hub, the first one claimed by an account.
fn two(hub: &Hub) -> (Node, Node) {
    let (ann, bob) = (Node::at(hub), Node::at(hub));
    ann.says(&["hello"]);
    bob.says(&["hello"]);
    (ann, bob)
}

#[test]
fn a_node_registers_is_claimed_and_looks_at_itself() {
    let hub = Hub::start();
    let ann = Node::at(&hub);
    let before = ann.json(&["status"]);
    assert_eq!((&before["registered"], &before["reachable"]), (&json!(false), &json!(true)));

    let hello = ann.says(&["hello", "--name", "ann-laptop", "--webhook", "http://127.0.0.1:9/in"]);
    assert!(hello.stdout.starts_with(&format!("✓ {} is known to {}\n", ann.id(), hub.url())), "{hello}");
    assert!(hello.stdout.contains("  credits     500 credits (500 granted, 0 earned)\n"), "{hello}");
    assert!(hello.stdout.contains("  reputation  50 of 100\n"), "{hello}");
    assert!(hello.stdout.contains(&format!("{}/claim/", hub.url())), "{hello}");
    assert!(
        hello.stdout.contains("  It expires in 24 hours, 20") && hello.stdout.contains(" UTC."),
        "{hello}"
    );
    let file = format!("webhook_secret_{}", hub.process.address.replace(':', "_"));
    assert!(hello.stderr.contains(&file) && !ann.identity_file(&file).is_empty(), "{hello}");

    let again = ann.json(&["hello"]);
    assert!(again.get("node_secret").is_none() && again.get("webhook_secret").is_none(), "{again:#}");
    assert!(text(&again, "claim_expires_at").ends_with('Z'));
    let token = hub.account("ann");
    hub.send(&token, "POST", &format!("/claim/{}", text(&again, "claim_code")), &json!({}));

    let secret = ann.identity_file("node_secret");
    assert!(ann.says(&["hello", "--rotate-secret"]).stdout.contains("the old one has ended"));
    assert_ne!(ann.identity_file("node_secret"), secret);
    let status = ann.json(&["status"]);
    assert_eq!((&status["claimed"], &status["credit_balance"]), (&json!(true), &json!(500)), "{status:#}");
    let shown = ann.says(&["status"]).stdout;
    for line in [
        "  owner       claimed by an account",
        "  name        ann-laptop",
        "  stake       none",
        "  level       2",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    let beat = ann.says(&["heartbeat", "--worker", "on", "--domains", "rust,sql"]);
    assert!(beat.stdout.contains("  next beat  in 5 minutes\n"), "{beat}");
    assert_eq!(ann.json(&["heartbeat"])["status"], "ok");
    ann.kept_its_secrets();
}

#[test]
fn a_secret_that_the_owner_reset_is_taken_from_stdin() {
    let hub = Hub::start();
    let ann = Node::at(&hub);
    let hello = ann.json(&["hello"]);
    let token = hub.account("ann");
    hub.send(&token, "POST", &format!("/claim/{}", text(&hello, "claim_code")), &json!({}));
    let old = ann.identity_file("node_secret");
    let path = format!("/account/agents/{}/reset-secret", ann.id());
    let reset = hub.send(&token, "POST", &path, &json!({}));
    let fresh = text(&reset, "node_secret");
    let refused = ann.ends(1, &["heartbeat", "--json"], &[]);
    assert!(refused.to_string().contains("hello --secret-stdin"), "{refused}");

    let words = ["node", "hello", "--secret-stdin", "--hub", &hub.url()];
    let give = |secret: &str| ann.program.run_with_input_in(ann.folder.path(), &words, secret);
    for wrong in ["nonsense\n", "", &"0".repeat(64)] {
        let ran = give(wrong);
        assert_ne!(ran.status, 0, "{ran}");
        assert_eq!(ann.identity_file("node_secret"), old, "{ran}");
    }
    let ran = give(&format!("{fresh}\n"));
    assert!(ran.status == 0 && !ran.to_string().contains(fresh), "{ran}");
    assert_eq!(ann.json(&["heartbeat"])["status"], "ok");
    assert!(ann.identity_file("hubs.json").contains(fresh));
}

#[test]
fn a_hub_that_was_set_up_anew_is_met_anew() {
    let (hub, other) = (Hub::start(), Hub::start());
    let mut ann = Node::at(&hub);
    ann.says(&["hello"]);
    let first = ann.identity_file("hubs.json");
    // To the node it is the same address with another hub behind it, or with nobody.
    let moved = |ann: &mut Node, url: &str| {
        let hubs = first.replace(&hub.url(), url);
        std::fs::write(ann.program.home().join(".evomap/hubs.json"), &hubs).unwrap();
        ann.url = url.to_owned();
        hubs
    };
    let old = moved(&mut ann, "http://127.0.0.1:9");
    ann.ends(1, &["hello", "--new-hub", "--json"], &[]);
    assert_eq!(ann.identity_file("hubs.json"), old, "what nobody answers to is not forgotten");

    let old = moved(&mut ann, &other.url());
    for words in [["hello", "--json"], ["heartbeat", "--json"]] {
        let ran = ann.ends(1, &words, &[]);
        assert!(ran.to_string().contains("capsid node hello --new-hub"), "{ran}");
    }
    assert_eq!(ann.identity_file("hubs.json"), old);
    ann.says(&["hello", "--new-hub"]);
    assert_eq!(ann.json(&["heartbeat"])["status"], "ok");
    ann.kept_its_secrets();
}

#[test]
fn what_one_publishes_the_other_finds_fetches_and_judges() {
    let hub = Hub::start();
    let (ann, bob) = two(&hub);
    let bundle = Bundle::new(1);
    let capsule = ann.publish(&hub, &bundle);
    assert_eq!(bob.json(&["search", "Signal1Error"])["count"], 0);
    hub.admin(&["promote", &capsule]);

    let found = bob.json(&["search", "Signal1Error", "--type", "Capsule"]);
    let hit = &found["results"][0];
    assert_eq!(
        (text(hit, "asset_id"), &hit["reuse_mode"]),
        (capsule.as_str(), &json!("reference")),
        "{found:#}"
    );
    let reputation = hit["reputation_score"].as_f64().unwrap();
    let score = (0.85 * 0.6 * 3.0 * reputation / 100.0 * 1000.0).round() / 1000.0;
    assert_eq!(hit["reuse_score"].as_f64().unwrap(), score, "{hit:#}");
    let shown = bob.says(&["search", "Signal1Error", "ann@globex.com"]);
    let row = shown.stdout.lines().find(|line| line.starts_with(&format!("{score:.3}")));
    let row = row.unwrap_or_else(|| panic!("{shown}"));
    let publisher = format!("{} ({reputation:.0})", ann.id());
    assert!(row.contains("reference") && row.contains(&publisher), "{shown}");
    assert!(shown.stdout.contains(&format!("  {capsule}\n")), "{shown}");
    // What the publisher declares is called so, and the hub says that nobody else has tried it.
    assert!(row.contains("0.85 x 3") && shown.stdout.contains("declared"), "{shown}");
    assert!(shown.stdout.contains("hub: Not tested by anyone else."), "{shown}");
    assert!(shown.stderr.contains("did not leave: [REDACTED] was sent instead"), "{shown}");
    let word = bundle.capsule["summary"].as_str().unwrap().split(' ').nth(3).unwrap();
    for form in ["--text", "--meaning"] {
        let found = |more: &[&str]| {
            let all = bob.json(&[&["search", form, word, "--type", "Capsule"], more].concat());
            (all["count"].clone(), all["results"][0]["asset_id"].clone())
        };
        let (is_found, is_not) = ((json!(1), json!(capsule)), (json!(0), Value::Null));
        assert_eq!(found(&[]), is_found, "{form}");
        assert_eq!(found(&["--since", "2020-01-01", "--until", "2999-12-31T00:00:00Z"]), is_found, "{form}");
        assert_eq!(found(&["--since", "2999-12-31"]), is_not, "{form}");
        assert_eq!(found(&["--until", "2020-01-01"]), is_not, "{form}");
        assert_eq!(found(&["--environment", "plan9_mips"]), is_not, "{form}");
        let of = bundle.capsule["category"].as_str().or(bundle.gene["category"].as_str()).unwrap();
        assert_eq!(found(&["--category", of]), is_found, "{form}");
        assert_eq!(found(&["--category", "regulatory"]), is_not, "{form}");
        bob.ends(2, &["search", form, word, "--category", "sorcery"], &[]);
        bob.ends(2, &["search", form, word, "--since", "yesterday"], &[]);
    }
    bob.ends(2, &["search", "Signal1Error", "--category", "repair"], &[]);

    let lines = bob.says(&["fetch", &capsule, "--lines"]).stdout;
    assert_eq!(lines.trim().parse::<Value>().unwrap(), bundle.capsule);
    let absent = format!("sha256:{}", "0".repeat(64));
    let some = bob.ends(1, &["fetch", &capsule, &absent], &[]);
    assert!(
        some.stdout.contains(&capsule) && some.stderr.contains(&format!("{absent} is not to be had")),
        "{some}"
    );
    let best = bob.json(&["fetch", "--signals", "Signal1Error", "--type", "Gene", "--limit", "3"]);
    assert_eq!(best["assets"][0], bundle.gene, "{best:#}");

    let report = bob.says(&["report", &capsule, "--ok", "--note", "it did"]);
    assert!(report.stdout.starts_with("✓ The hub knows: it worked\n"), "{report}");
    assert!(report.stdout.contains("1 for it, 0 against"), "{report}");
    let file = bob.folder.path().join("report.json");
    std::fs::write(&file, r#"{"overall_ok": false, "commands": [{"command": "x", "ok": false}]}"#).unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(bob.json(&["report", &capsule, "--file", file])["consensus"]["fails"], 1);
    assert_eq!(bob.ends(2, &["report", &capsule, "--file", file, "--ok"], &[]).code(), "input_invalid");
    assert_eq!(ann.json(&["report", &capsule, "--ok"])["label"], "self");

    let decided = bob.says(&["decide", &capsule, "accept", "--reason", "tried it"]);
    assert!(decided.stdout.starts_with("✓ accept was kept\n"), "{decided}");
    assert_eq!(bob.json(&["decide", &capsule, "quarantine"])["decision"], "quarantine");

    let token = hub.account("bob");
    assert_eq!(bob.json_as(&token, &["vote", &capsule, "up"])["upvotes"], 1);
    assert_eq!(bob.ends(1, &["vote", &capsule, "up"], &[]).code(), "hub_refused");
    assert_eq!(bob.json_as(&token, &["vote", &capsule, "none"])["upvotes"], 0);

    assert_eq!(ann.ends(2, &["revoke", &capsule], &[]).code(), "usage_error");
    let refused = bob.ends(1, &["revoke", &capsule, "--yes", "--json"], &[]);
    assert_eq!(refused.json()["error"]["hub_code"], "not_asset_owner", "{refused}");
    let gone = ann.says(&["revoke", &capsule, "--yes", "--reason", "wrong on ARM"]);
    assert!(gone.stdout.starts_with("✓ It was withdrawn, with everything in its bundle\n"), "{gone}");
    assert_eq!(ann.json(&["revoke", &capsule, "--yes"])["status"], "already_revoked");
    ann.kept_its_secrets();
    bob.kept_its_secrets();
}

#[test]
fn a_bounty_goes_from_the_offer_to_the_payment() {
    let hub = Hub::start();
    let (ann, bob) = two(&hub);
    let token = hub.account("carol");
    assert_eq!(ann.ends(2, &["bounty", "create", "Requests time out"], &[]).code(), "usage_error");
    let offer = [
        "bounty",
        "create",
        "Requests time out",
        "--amount",
        "12.5",
        "--signals",
        "TimeoutError",
        "--body",
        "Ask dave@globex.com",
        "--reference",
        "one",
    ];
    let offered = ann.ends(0, &offer, &[("CAPSID_TOKEN", &token)]);
    assert!(
        offered.stderr.contains("12.5 credits of the 200 credits that the account has are held in escrow."),
        "{offered}"
    );
    assert!(offered.stderr.contains("200 credits before, 187.5 credits now."), "{offered}");
    let again = ann.json_as(&token, &offer);
    assert_eq!(again["remaining_balance"], 187.5, "the same reference pays once");
    let (bounty, task) = (text(&again, "bounty_id").to_owned(), text(&again, "task_id").to_owned());
    let shown = bob.json(&["bounty", "show", &bounty]);
    assert!(!shown.to_string().contains("dave@globex.com"), "{shown:#}");
    assert_eq!(bob.json(&["bounty", "list", "--status", "open"])["total"], 1);
    assert_eq!(ann.json_as(&token, &["bounty", "my"])["total"], 1);
    assert_eq!(ann.json(&["bounty", "my"])["total"], 0, "without a token it is about the node");

    let tasks = bob.says(&["tasks"]);
    let row = tasks.stdout.lines().find(|line| line.starts_with(&task)).unwrap_or_else(|| panic!("{tasks}"));
    assert!(row.contains("12.5") && row.contains("may take it") && row.contains("in 7 days"), "{tasks}");
    let claimed = bob.says(&["claim", &task, "--minutes", "90"]);
    assert!(
        claimed.stdout.contains("  promised  in 90 minutes, 20")
            || claimed.stdout.contains("  promised  in 2 hours, 20"),
        "{claimed}"
    );
    assert_eq!(bob.json(&["release", &task])["status"], "released");
    assert_eq!(bob.json(&["claim", &task])["status"], "claimed");
    assert_eq!(ann.ends(1, &["claim", &task], &[]).code(), "hub_refused");
    assert_eq!(bob.json(&["tasks", "--mine"])["tasks"][0]["status"], "claimed");

    let capsule = bob.publish(&hub, &Bundle::new(2));
    let done = bob.says(&["complete", &task, &capsule]);
    assert!(done.stdout.contains("  will pay  12.5 credits when it is accepted\n"), "{done}");
    let accepted = ann.ends(0, &["bounty", "accept", &bounty], &[("CAPSID_TOKEN", &token)]);
    assert!(accepted.stdout.contains(&format!("12.5 credits to {}", bob.id())), "{accepted}");
    assert_eq!(bob.json(&["status"])["credit_balance"], 512.5);
    bob.kept_its_secrets();
}

#[test]
fn a_node_asks_and_a_swarm_answers() {
    let hub = Hub::start();
    let (ann, bob) = two(&hub);
    let asked = ann.says(&[
        "ask",
        "Why does the pool of 10.1.2.3 run dry?",
        "--amount",
        "10",
        "--signals",
        "Pool,Dry",
    ]);
    assert!(
        asked.stderr.contains("10 credits of the 500 credits that this node has are held in escrow."),
        "{asked}"
    );
    assert!(asked.stderr.contains("500 credits before, 490 credits now."), "{asked}");
    assert!(asked.stderr.contains("did not leave"), "{asked}");
    let mine = ann.json(&["bounty", "my"]);
    let (bounty, task) = (
        text(&mine["bounties"][0], "bounty_id").to_owned(),
        text(&mine["bounties"][0], "task_id").to_owned(),
    );
    assert!(!mine.to_string().contains("10.1.2.3"), "{mine:#}");
    let tasks = ann.json(&["tasks"]);
    assert_eq!(tasks["tasks"][0]["may_take"], json!(false), "nobody takes a task of their own: {tasks:#}");

    bob.says(&["claim", &task]);
    let heavy =
        ["propose", &task, "--part", "Find it", "--weight", "0.5", "--part", "Fix it", "--weight", "0.4"];
    let refused = bob.ends(2, &heavy, &[]);
    assert!(refused.stderr.contains("weigh 0.9, and may weigh 0.85 at most"), "{refused}");
    assert_eq!(bob.ends(2, &heavy[..6], &[]).code(), "input_invalid");
    let parts = bob.folder.path().join("parts.json");
    std::fs::write(&parts, r#"[{"title": "Find it", "weight": 0.4}, {"title": "Fix it", "weight": 0.45}]"#)
        .unwrap();
    let cut = bob.says(&["propose", &task, "--file", parts.to_str().unwrap()]);
    assert!(cut.stdout.contains("is cut into 2 parts"), "{cut}");
    let part = format!("{task}_s1");
    bob.says(&["claim", &part]);
    let swarm = bob.says(&["swarm", &part]);
    assert!(
        swarm.stdout.contains(&format!("├─ {part}")) && swarm.stdout.contains(&format!("└─ {task}_s2")),
        "{swarm}"
    );
    assert!(
        swarm.stdout.contains("nobody yet") && swarm.stdout.contains("solving: 0 of 2 parts are done"),
        "{swarm}"
    );
    let capsule = bob.publish(&hub, &Bundle::new(3));
    let done = bob.says(&["complete", &part, &capsule]);
    assert!(done.stdout.contains("1 of 2 parts are done"), "{done}");
    assert_eq!(bob.json(&["swarm", &task])["progress"]["solvers_completed"], 1);

    let other = ann.json(&["ask", "Nobody will ever answer this", "--amount", "5", "--reference", "two"]);
    let cancelled = ann.says(&["bounty", "cancel", text(&other, "bounty_id"), "--reason", "found it"]);
    assert!(cancelled.stdout.contains("  refunded    5 credits\n"), "{cancelled}");
    assert_eq!(ann.ends(1, &["bounty", "cancel", &bounty], &[]).code(), "hub_refused");
    ann.kept_its_secrets();
}
