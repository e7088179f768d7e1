//! `capsid hub admin`, through the built program, beside a store that a hub would hold.

use crate::common::program;
use capsid_model::hash::sha256_hex;
use capsid_model::time::Time;
use capsid_model::{Value, json};
use capsid_rules::assets::safety::SafetyVerdict;
use capsid_rules::assets::similarity::sketch;
use capsid_rules::credits::StakeSource;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::assets::id::AssetId;
use capsid_store::assets::new::NewAsset;
use capsid_store::evaluation::stakes::{self, StakeOutcome};
use capsid_store::ledger::Transfer;
use capsid_store::notifications::notices;
use capsid_store::notifications::notices::NodeNotice;
use capsid_store::notifications::webhooks;
use capsid_store::registry::publish;
use capsid_store::registry::publish::NewBundle;
use capsid_store::work::bounties;
use capsid_store::work::bounties::NewBounty;
use capsid_store::work::tasks::NewTask;
use capsid_store::{Store, StoreOptions, accounts, audit, graph, ledger, nodes};
use capsid_testkit::program::{ProgramOutput, TestProgram, assert_status};

const NOW: Time = Time(1_770_000_000_000);
const NODE: &str = "node_e5f6a7b8c9d0e1f2";

/// A hub's database that stays open, as under a hub that runs, and the program beside it.
struct OpenHub {
    folder: tempfile::TempDir,
    store: Store,
    program: TestProgram,
}

impl OpenHub {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path(), None), NOW).unwrap();
        store.write_now(|tx| nodes::lock_or_register(tx, NODE, 500_000, NOW)).unwrap();
        Self { folder, store, program: program() }
    }

    fn run_with_input(&self, words: &[&str], input: &str) -> ProgramOutput {
        let data = self.folder.path().to_str().unwrap();
        let args = [&["hub", "admin"], words, &["--data", data]].concat();
        self.program.run_with_input_in(self.folder.path(), &args, input)
    }

    fn run(&self, words: &[&str]) -> ProgramOutput {
        self.run_with_input(words, "")
    }

    #[track_caller]
    fn does(&self, words: &[&str]) -> Value {
        let ran = self.run(&[words, &["--json"]].concat());
        assert_status(0, &ran);
        ran.json()
    }

    #[track_caller]
    fn refuses(&self, status: i32, code: &str, words: &[&str]) {
        let ran = self.run(words);
        assert_status(status, &ran);
        assert_eq!(ran.code(), code, "{ran}");
        assert!(ran.stderr.contains("fix:"), "{ran}");
    }

    /// What the audit says of a thing: actor, action, before, after, reason.
    fn audit(&self, kind: &'static str, subject: &str) -> Vec<[String; 5]> {
        let subject = subject.to_owned();
        let entries =
            self.store.read_now(move |tx| audit::list_for_subject(tx, kind, &subject, 100)).unwrap();
        let word = |text: Option<String>| text.unwrap_or_default();
        entries
            .into_iter()
            .map(|e| [e.actor, e.action, word(e.before), word(e.after), word(e.reason)])
            .collect()
    }

    /// Publishes a bundle and gives the ids of its gene and capsule.
    fn publish(&self, text: &str) -> [String; 2] {
        let asset = |asset_type: AssetType| {
            let body = format!("{{\"type\":\"{}\",\"text\":\"{text}\"}}", asset_type.as_str());
            let asset_id = AssetId::parse(&format!("sha256:{}", sha256_hex(body.as_bytes()))).unwrap();
            let (card, traits) = Default::default();
            NewAsset {
                asset_id,
                asset_type,
                card,
                body,
                traits,
                environment: None,
                scanned: SafetyVerdict::Clean,
            }
        };
        let (gene, capsule) = (asset(AssetType::Gene), asset(AssetType::Capsule));
        let ids = [gene.asset_id.to_string(), capsule.asset_id.to_string()];
        let bundle = NewBundle {
            bundle_id: format!("bundle_{text}"),
            gene,
            capsule,
            event: None,
            status: AssetStatus::Candidate,
            reason: None,
            gene_held: false,
            sketch: sketch(text),
            receipt_id: format!("rcpt_{text}"),
        };
        self.store
            .write_now(move |tx| {
                let node = nodes::lock(tx, NODE)?.unwrap();
                publish::publish(tx, &node, &bundle, NOW)
            })
            .unwrap();
        ids
    }
}

fn entry(action: &str, before: &str, after: &str, reason: &str) -> [String; 5] {
    ["operator", action, before, after, reason].map(str::to_owned)
}

#[test]
fn an_operator_makes_an_account_and_sees_its_password_once() {
    let desk = OpenHub::new();
    let made = desk.does(&["create-user", "Ann@Example.org", "--admin"]);
    assert_eq!(made["user"]["email"], "ann@example.org");
    assert_eq!(made["user"]["role"], "admin");
    assert!(made["password"].as_str().unwrap().len() >= 20);
    let user_id = made["user"]["user_id"].as_str().unwrap();
    assert_eq!(desk.audit("user", user_id), [entry("create", "", "admin", "")]);
    let listed = desk.does(&["list", "users"]);
    assert_eq!((&listed["count"], &listed["users"][0]["user_id"]), (&json!(1), &json!(user_id)));
    assert!(listed["users"][0].get("password").is_none());
    desk.refuses(1, "change_refused", &["create-user", "ann@example.org"]);
    let (_, hash) = desk.store.read_now(|tx| accounts::by_email(tx, "ann@example.org")).unwrap().unwrap();
    assert!(hash.starts_with("$argon2id$"));
}

#[test]
fn a_password_comes_from_stdin_and_is_not_printed() {
    let desk = OpenHub::new();
    let words = ["create-user", "ann@example.org", "--password-stdin"];
    for (input, status) in [("", 2), ("short\n", 2), (&*"x".repeat(10_000), 2), ("correct horse\n", 0)] {
        let ran = desk.run_with_input(&words, input);
        assert_status(status, &ran);
        assert!(!ran.to_string().contains("horse"));
    }
    let words = ["reset-password", "ann@example.org", "--password-stdin", "--json"];
    let ran = desk.run_with_input(&words, "battery staple\r\n");
    assert_status(0, &ran);
    assert!(ran.json().get("password").is_none());
    let user_id = ran.json()["user"]["user_id"].as_str().unwrap().to_owned();
    assert_eq!(desk.audit("user", &user_id).last().unwrap(), &entry("reset_password", "", "", ""));
    desk.refuses(1, "not_found", &["reset-password", "eve@example.org"]);
}

#[test]
fn an_account_becomes_an_admin_and_an_ordinary_one_again() {
    let desk = OpenHub::new();
    let made = desk.does(&["create-user", "ann@example.org"]);
    assert_eq!(made["user"]["role"], "user");
    assert_eq!(desk.does(&["grant-admin", "ANN@example.org"])["user"]["role"], "admin");
    assert_eq!(desk.does(&["revoke-admin", "ann@example.org"])["user"]["role"], "user");
    let trail = desk.audit("user", made["user"]["user_id"].as_str().unwrap());
    assert_eq!(trail[1..], [entry("set_role", "user", "admin", ""), entry("set_role", "admin", "user", "")]);
    desk.refuses(1, "not_found", &["grant-admin", "eve@example.org"]);
    for email in ["", "ann", "a b@c.d", "a@b@c"] {
        desk.refuses(2, "input_invalid", &["grant-admin", email]);
        desk.refuses(2, "input_invalid", &["create-user", email]);
    }
}

#[test]
fn nodes_and_accounts_are_banned_and_let_back() {
    let desk = OpenHub::new();
    let user = desk.does(&["create-user", "eve@example.org"])["user"]["user_id"].as_str().unwrap().to_owned();
    desk.refuses(1, "change_refused", &["unban", NODE]);
    desk.refuses(1, "change_refused", &["unban", "eve@example.org"]);
    desk.does(&["ban", NODE, "--reason", "spam"]);
    desk.does(&["ban", "eve@example.org", "--reason", "sold votes"]);
    assert_eq!(desk.does(&["list", "nodes", "--status", "banned"])["count"], 1);
    assert_eq!(desk.does(&["list", "nodes", "--status", "active"])["count"], 0);
    assert_eq!(desk.does(&["list", "users", "--status", "banned"])["count"], 1);
    assert_eq!(desk.does(&["list", "users", "--status", "active"])["count"], 0);
    desk.refuses(1, "change_refused", &["release", NODE]);
    desk.does(&["unban", NODE]);
    desk.does(&["unban", "eve@example.org"]);
    assert_eq!(
        desk.audit("node", NODE),
        [entry("ban", "active", "banned", "spam"), entry("unban", "banned", "active", "")]
    );
    assert_eq!(desk.audit("user", &user)[1], entry("ban", "active", "banned", "sold votes"));
    for word in ["ban", "unban"] {
        desk.refuses(1, "not_found", &[word, "node_nobody"]);
        desk.refuses(1, "not_found", &[word, "nobody@example.org"]);
    }
}

#[test]
fn a_node_is_held_back_released_and_unflagged() {
    let desk = OpenHub::new();
    desk.does(&["quarantine", NODE, "--reason", "copies"]);
    desk.refuses(1, "change_refused", &["quarantine", NODE]);
    desk.does(&["release", NODE]);
    desk.refuses(1, "change_refused", &["release", NODE]);
    let flag =
        "UPDATE nodes SET sybil_flag = 'same device', strikes = 3, cooldown_until = 1 WHERE node_id = $1";
    desk.store.write_now(|tx| tx.run(flag, capsid_store::params![NODE])).unwrap();
    assert_eq!(desk.does(&["list", "nodes", "--status", "flagged"])["nodes"][0]["flag"], "same device");
    desk.does(&["unflag", NODE, "--reason", "an honest mistake"]);
    assert_eq!(desk.does(&["list", "nodes", "--status", "flagged"])["count"], 0);
    let trail = desk.audit("node", NODE);
    assert_eq!(trail[0], entry("quarantine", "active", "quarantined", "copies"));
    assert!(trail[2][2].contains("same device, 3 strikes"), "{trail:?}");
    for word in ["quarantine", "release", "unflag", "reset-secret"] {
        desk.refuses(1, "not_found", &[word, "node_nobody"]);
    }
}

#[test]
fn whoever_lied_on_purpose_loses_the_stake() {
    let desk = OpenHub::new();
    let stake = |tx: &mut dyn capsid_store::db::tx::Tx| {
        stakes::stake(tx, NODE, 50_000, StakeSource::Any, "stake_1", NOW)
    };
    assert!(matches!(desk.store.write_now(stake), Ok(StakeOutcome::Active(_))));
    let reason = ["--reason", "it never ran what it reported"];
    let punished = desk.does(&[&["fraud", NODE], &reason[..]].concat());
    assert_eq!(punished["slashed"], 50);
    assert_eq!(desk.does(&[&["fraud", NODE], &reason[..]].concat())["slashed"], 0);
    assert_eq!(desk.audit("node", NODE)[0][1], "fraud");
    desk.refuses(1, "not_found", &[&["fraud", "node_nobody"], &reason[..]].concat());
}

#[test]
fn a_secret_is_reset_and_shown_once() {
    let desk = OpenHub::new();
    let reset = desk.does(&["reset-secret", NODE, "--reason", "lost disk"]);
    let secret = reset["node_secret"].as_str().unwrap().to_owned();
    assert_eq!((secret.len(), &reset["node_secret_version"]), (64, &json!(1)));
    let node = desk.store.read_now(|tx| nodes::get(tx, NODE)).unwrap().unwrap();
    assert_eq!(node.presented(Some(&secret)), capsid_rules::identity::secrets::PresentedSecret::Right);
    assert_eq!(desk.audit("node", NODE), [entry("reset_secret", "version 0", "version 1", "lost disk")]);
    assert!(!desk.run(&["audit", NODE]).stdout.contains(&secret));
}

#[test]
fn a_reputation_is_set_with_a_reason_and_cleared() {
    let desk = OpenHub::new();
    desk.does(&["set-reputation", NODE, "80.5", "--reason", "known to us"]);
    let listed = desk.does(&["list", "nodes"]);
    assert_eq!(listed["nodes"][0]["reputation"], 80.5);
    assert_eq!(listed["nodes"][0]["reputation_set"], true);
    desk.does(&["set-reputation", NODE, "--clear", "--reason", "over"]);
    assert_eq!(desk.does(&["list", "nodes"])["nodes"][0]["reputation"], 50.0);
    assert_eq!(
        desk.audit("node", NODE),
        [
            entry("set_reputation", "computed", "80.5", "known to us"),
            entry("set_reputation", "80.5", "computed", "over")
        ]
    );
    for value in ["-1", "100.5", "NaN", "inf"] {
        desk.refuses(2, "input_invalid", &["set-reputation", NODE, value, "--reason", "x"]);
    }
    assert_eq!(desk.audit("node", NODE).len(), 2);
    for words in [&["set-reputation", NODE, "80"][..], &["set-reputation", NODE, "--reason", "x"]] {
        assert_status(2, &desk.run(words));
    }
    desk.refuses(1, "not_found", &["set-reputation", "node_nobody", "80", "--reason", "x"]);
}

#[test]
fn assets_are_promoted_rejected_held_back_and_released() {
    let desk = OpenHub::new();
    let ([_, good], [_, bad]) = (desk.publish("good"), desk.publish("bad"));
    assert_eq!(desk.does(&["list", "assets", "--status", "candidate"])["count"], 4);
    let done = desk.does(&["promote", &good, "--reason", "tried"]);
    assert_eq!((&done["from"], &done["to"]), (&json!("candidate"), &json!("promoted")));
    desk.refuses(1, "change_refused", &["promote", &good]);
    assert_eq!(desk.does(&["quarantine", &good, "--reason", "asks for secrets"])["to"], "quarantined");
    assert_eq!(desk.does(&["release", &good])["to"], "candidate");
    assert_eq!(desk.does(&["reject", &bad])["to"], "rejected");
    desk.refuses(1, "change_refused", &["promote", &bad]);
    let trail = desk.does(&["audit", &good]);
    let steps: Vec<&str> =
        trail["entries"].as_array().unwrap().iter().filter_map(|entry| entry["action"].as_str()).collect();
    assert!(steps.ends_with(&["promote", "quarantine", "release"]), "{trail}");
    let promoted =
        trail["entries"].as_array().unwrap().iter().find(|entry| entry["action"] == "promote").unwrap();
    assert_eq!((&promoted["actor"], &promoted["reason"]), (&json!("operator"), &json!("tried")));
    let unknown = format!("sha256:{}", "0".repeat(64));
    for word in ["promote", "reject", "quarantine", "release"] {
        desk.refuses(1, "not_found", &[word, &unknown]);
    }
    for word in ["promote", "reject", "audit"] {
        desk.refuses(2, "input_invalid", &[word, "sha256:123"]);
    }
}

#[test]
fn lists_and_audits_read_well_and_refuse_what_cannot_be() {
    let desk = OpenHub::new();
    desk.publish("good");
    desk.does(&["create-user", "ann@example.org"]);
    for (words, expected) in [
        (&["list", "users"][..], "ann@example.org"),
        (&["list", "nodes"], NODE),
        (&["list", "assets"], "Capsule"),
        (&["audit", "ann@example.org"], "create"),
    ] {
        let ran = desk.run(words);
        assert_status(0, &ran);
        assert!(ran.stdout.contains(expected), "{ran}");
    }
    for kind in ["users", "nodes", "assets"] {
        desk.refuses(2, "input_invalid", &["list", kind, "--status", "nonsense"]);
        assert_status(2, &desk.run(&["list", kind, "--limit", "0"]));
    }
    assert_status(2, &desk.run(&["list", "things"]));
    desk.refuses(1, "not_found", &["audit", "nobody"]);
}

#[test]
fn a_name_cannot_act_on_the_terminal() {
    let desk = OpenHub::new();
    desk.store.write_now(|tx| nodes::lock_or_register(tx, "node_\u{1b}[2Jx\u{202e}", 0, NOW)).unwrap();
    let ran = desk.run(&["list", "nodes"]);
    assert_status(0, &ran);
    assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']), "{ran}");
}

#[test]
fn a_folder_without_a_hub_is_told_and_stays_empty() {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("nothing");
    let args = ["hub", "admin", "list", "users", "--data", data.to_str().unwrap(), "--json"];
    let ran = program.run_with_input_in(folder.path(), &args, "");
    assert_status(2, &ran);
    assert_eq!(ran.code(), "file_not_found");
    assert_eq!(ran.json()["error"]["code"], "file_not_found");
    assert!(!data.join("hub.db").exists());
}

/// Offers a bounty of the node, of so many milli-credits.
fn offer(desk: &OpenHub, amount: i64) -> String {
    offer_by(desk, "1", &ledger::node_account(NODE), amount)
}

fn offer_by(desk: &OpenHub, number: &str, asker: &str, amount: i64) -> String {
    let task = NewTask {
        task_id: format!("task_{number}"),
        asker: asker.to_owned(),
        title: "Mend the \u{202e}build".to_owned(),
        signals: "build_error".to_owned(),
        amount,
        expires_at: NOW.0 + 86_400_000_000,
        ..NewTask::default()
    };
    let new = NewBounty {
        bounty_id: format!("bounty_{number}"),
        source: "bounty",
        request: None,
        listing_id: None,
        task,
        high_value: i64::MAX,
        funds: capsid_rules::credits::CreditSource::GrantedFirst,
    };
    desk.store.write_now(move |tx| bounties::offer(tx, &new, NOW)).unwrap();
    format!("bounty_{number}")
}

#[test]
fn the_ledger_is_shown_and_adds_up() {
    let desk = OpenHub::new();
    let told = desk.does(&["ledger"]);
    assert_eq!((&told["minted"], &told["circulating"], &told["sum"]), (&json!(500), &json!(500), &json!(0)));
    offer(&desk, 12_345);
    let told = desk.does(&["ledger"]);
    assert_eq!((&told["circulating"], &told["escrow"]), (&json!(487.655), &json!(12.345)));
    let told = desk.does(&["ledger", NODE]);
    assert_eq!((&told["balance"], &told["count"]), (&json!(487.655), &json!(2)));
    assert_eq!(told["entries"][0]["counterparty"], "hold:bounty:bounty_1");
    let ran = desk.run(&["ledger", NODE, "--csv"]);
    assert_status(0, &ran);
    assert!(ran.stdout.starts_with("time,kind,reference,delta,balance_after,counterparty\r\n"), "{ran}");
    assert_eq!(ran.stdout.lines().count(), 3, "{ran}");
    let ran = desk.run(&["ledger"]);
    assert!(ran.stdout.contains("It adds up to zero."), "{ran}");
    for account in ["hub", "mint"] {
        let told = desk.does(&["ledger", account]);
        assert_eq!(told["account"], account);
    }
    assert_eq!(desk.does(&["ledger", "hub"])["balance"], 0);
    desk.refuses(1, "not_found", &["ledger", "nobody"]);
}

#[test]
fn a_spreadsheet_has_every_movement_and_what_was_cut_is_said() {
    let desk = OpenHub::new();
    // More than are read at a time.
    desk.store
        .write_now(|tx| {
            for n in 0..10_050 {
                let reference = format!("gift:{n}");
                let gift = Transfer {
                    reference: &reference,
                    kind: "grant",
                    from: "mint",
                    to: "node:node_rich",
                    amount: 1,
                };
                ledger::transfer(tx, gift, NOW)?;
            }
            Ok(())
        })
        .unwrap();
    let csv = |words: &[&str]| {
        let ran = desk.run(&[&["ledger", "node:node_rich", "--csv"], words].concat());
        assert_status(0, &ran);
        ran
    };
    let all = csv(&[]);
    assert_eq!(all.stdout.lines().count(), 10_051, "{}", all.stderr);
    assert_eq!(all.stdout.matches("time,kind").count(), 1);
    assert!(
        (0..10_050).rev().map(|n| format!("\"gift:{n}\"")).eq(all.stdout.lines().skip(1).map(|line| line
            .split(',')
            .nth(2)
            .unwrap()
            .to_owned()))
    );
    assert!(!all.stderr.contains("--limit"), "{}", all.stderr);
    let some = csv(&["--limit", "10020"]);
    assert_eq!(some.stdout.lines().count(), 10_021);
    assert!(some.stderr.contains("… and more; use --limit"), "{}", some.stderr);

    let told = desk.does(&["ledger", "node:node_rich"]);
    assert_eq!((&told["count"], &told["has_more"]), (&json!(100), &json!(true)));
    let told = desk.does(&["ledger", "node:node_rich", "--limit", "10050"]);
    assert_eq!((&told["count"], &told["has_more"]), (&json!(10_050), &json!(false)));
    for words in [&["ledger", "node:node_rich"][..], &["ledger", "--limit", "1"]] {
        let ran = desk.run(words);
        assert!(ran.stderr.contains("… and more; use --limit"), "{words:?} {}", ran.stderr);
    }
    assert_eq!(desk.does(&["ledger", "--limit", "1"])["has_more"], true);
    assert_eq!(desk.does(&["ledger"])["has_more"], false);
}

#[test]
fn every_list_that_was_cut_says_so() {
    let desk = OpenHub::new();
    desk.publish("one");
    desk.publish("two");
    for email in ["ann@example.org", "bob@example.org"] {
        desk.does(&["create-user", email]);
    }
    let other = "node_other";
    desk.store.write_now(|tx| nodes::lock_or_register(tx, "node_other", 0, NOW)).unwrap();
    for number in ["1", "2"] {
        offer_by(&desk, number, &ledger::node_account(NODE), 1_000);
    }
    desk.store
        .write_now(|tx| {
            for node in [NODE, "node_other"] {
                webhooks::register(tx, node, "https://agent.example.org/hook", "whsec_c2VjcmV0", NOW)?;
                notices::notify_node(
                    tx,
                    node,
                    &NodeNotice { kind: "ping", payload: Default::default() },
                    NOW,
                )?;
            }
            Ok(())
        })
        .unwrap();
    desk.does(&["ban", other]);
    desk.does(&["unban", other]);
    for words in [
        &["list", "users"][..],
        &["list", "nodes"],
        &["list", "assets"],
        &["bounties"],
        &["tasks"],
        &["webhooks"],
        &["webhooks", "--endpoints"],
        &["audit", other],
    ] {
        let cut = [words, &["--limit", "1"]].concat();
        let told = desk.does(&cut);
        assert_eq!((&told["count"], &told["has_more"]), (&json!(1), &json!(true)), "{words:?}");
        let ran = desk.run(&cut);
        assert!(ran.stderr.contains("… and more; use --limit") && ran.stdout.lines().count() == 1, "{ran}");
        assert_eq!(desk.does(words)["has_more"], false, "{words:?}");
        assert!(!desk.run(words).stderr.contains("--limit"), "{words:?}");
    }
}

#[test]
fn credits_are_granted_with_a_reason() {
    let desk = OpenHub::new();
    let told = desk.does(&["grant-credits", NODE, "0.5", "--reason", "for the workshop"]);
    assert_eq!(told["balance"], 500.5);
    assert!(
        desk.audit("node", NODE)
            .iter()
            .any(|entry| entry[1] == "grant_credits" && entry[4] == "for the workshop")
    );
    assert_eq!(told["reference"].as_str().unwrap().len(), 16);
    let again = ["grant-credits", NODE, "2", "--reason", "x", "--reference", "workshop"];
    let told = desk.does(&again);
    assert_eq!((&told["granted"], &told["balance"]), (&json!(2), &json!(502.5)));
    let told = desk.does(&again);
    assert_eq!((&told["granted"], &told["already_granted"]), (&json!(0), &json!(true)));
    assert_eq!((&told["balance"], &told["reference"]), (&json!(502.5), &json!("workshop")));
    let ran = desk.run(&again);
    assert!(ran.stdout.contains("Nothing was granted") && ran.stdout.contains("workshop"), "{ran}");
    assert_eq!(desk.audit("node", NODE).iter().filter(|entry| entry[1] == "grant_credits").count(), 2);
    let other = ["grant-credits", NODE, "3", "--reason", "x", "--reference", "workshop"];
    desk.refuses(1, "change_refused", &other);
    for bad in ["", " ", "two\nlines", &"x".repeat(101)] {
        let words = ["grant-credits", NODE, "3", "--reason", "x", "--reference", bad];
        desk.refuses(2, "input_invalid", &words);
    }
    desk.refuses(2, "input_invalid", &["grant-credits", NODE, "0", "--reason", "x"]);
    desk.refuses(2, "input_invalid", &["grant-credits", NODE, "0.0001", "--reason", "x"]);
    desk.refuses(1, "not_found", &["grant-credits", "nobody", "1", "--reason", "x"]);
}

#[test]
fn bounties_and_tasks_are_listed_and_decided_on() {
    let desk = OpenHub::new();
    let bounty = offer(&desk, 5_000);
    let told = desk.does(&["bounties", "--status", "open"]);
    assert_eq!((&told["count"], &told["bounties"][0]["amount"]), (&json!(1), &json!(5)));
    assert_eq!(desk.does(&["bounties", "--status", "matched"])["count"], 0);
    let ran = desk.run(&["tasks"]);
    assert!(ran.stdout.contains("task_1") && !ran.stdout.contains('\u{202e}'), "{ran}");
    assert_eq!(desk.does(&["tasks", "--status", "open"])["tasks"][0]["task_id"], "task_1");

    desk.refuses(1, "not_found", &["bounties", "--accept", "bounty_2"]);
    desk.refuses(1, "change_refused", &["bounties", "--accept", &bounty]);
    let told = desk.does(&["bounties", "--cancel", &bounty, "--reason", "a mistake"]);
    let outcome = "Given back: the operator cancelled it. Reason: a mistake";
    assert_eq!((&told["status"], &told["outcome"]), (&json!("cancelled"), &json!(outcome)));
    let ran = desk.run(&["bounties"]);
    assert!(ran.stdout.contains(outcome) && ran.stdout.contains("ended 20"), "{ran}");
    assert!(!ran.stdout.contains("until"), "{ran}");
    assert_eq!(desk.does(&["ledger"])["escrow"], 0);
    let told = desk.does(&["audit", &bounty]);
    assert_eq!((&told["count"], &told["entries"][1]["actor"]), (&json!(2), &json!("operator")));
    assert_eq!(desk.does(&["audit", "task_1"])["count"], 2);
}

#[test]
fn an_account_that_offers_a_bounty_is_shown_by_its_address() {
    let desk = OpenHub::new();
    let user_id = desk.does(&["create-user", "ann@example.org"])["user"]["user_id"].clone();
    let user_id = user_id.as_str().unwrap();
    offer_by(&desk, "1", &ledger::user_account(user_id), 0);
    let ran = desk.run(&["bounties"]);
    assert!(ran.stdout.contains("ann@example.org") && !ran.stdout.contains(user_id), "{ran}");
    let told = desk.does(&["bounties"])["bounties"][0].clone();
    assert_eq!(
        (&told["creator_user_id"], &told["creator_email"]),
        (&json!(user_id), &json!("ann@example.org"))
    );
    assert_eq!(told["creator"], format!("user:{user_id}"));
}

#[test]
fn webhook_calls_are_listed_and_made_again() {
    let desk = OpenHub::new();
    desk.store
        .write_now(|tx| {
            webhooks::register(tx, NODE, "https://agent.example.org/hook", "whsec_c2VjcmV0", NOW)?;
            notices::notify_node(tx, NODE, &NodeNotice { kind: "ping", payload: Default::default() }, NOW)
        })
        .unwrap();
    let told = desk.does(&["webhooks", "--endpoints"]);
    assert_eq!(told["webhooks"][0]["url"], "https://agent.example.org/hook");
    assert!(!told.to_string().contains("whsec_"), "{told}");
    let ran = desk.run(&["webhooks"]);
    assert!(ran.stdout.contains("0 tries"), "{ran}");
    desk.store.write_now(|tx| tx.run("UPDATE deliveries SET attempts = 1", &[])).unwrap();
    let ran = desk.run(&["webhooks"]);
    assert!(ran.stdout.contains("1 try "), "{ran}");
    let call = desk.does(&["webhooks", "--state", "queued"])["deliveries"][0]["delivery_id"].clone();
    let call = call.as_str().unwrap();
    desk.refuses(1, "change_refused", &["webhooks", "--replay", call]);
    desk.refuses(2, "input_invalid", &["webhooks", "--state", "lost"]);
    desk.refuses(1, "not_found", &["webhooks", "--replay", "evt_999"]);
    desk.refuses(1, "not_found", &["webhooks", "--disable", "node_other"]);
    assert_eq!(desk.does(&["webhooks", "--disable", NODE, "--reason", "spam"])["enabled"], false);
    assert_eq!(desk.does(&["webhooks", "--endpoints"])["webhooks"][0]["disabled_reason"], "spam");
    assert_eq!(desk.does(&["webhooks", "--enable", NODE])["enabled"], true);
}

#[test]
fn a_promotion_by_the_operator_is_rewarded_as_any_other() {
    let desk = OpenHub::new();
    let [_, capsule] = desk.publish("worth it");
    desk.does(&["promote", &capsule, "--reason", "read and tried"]);
    assert_eq!(desk.does(&["ledger", NODE])["balance"], 520);
}

#[test]
fn an_operator_takes_back_what_somebody_told_the_graph() {
    let desk = OpenHub::new();
    let told = json!({
        "entities": [{"name": "Pool", "entity_type": "technique"}, {"name": "Gateway", "entity_type": "service"}],
        "relations": [{"source_name": "Gateway", "target_name": "Pool", "type": "uses"}],
    });
    let told = capsid_rules::graph::ingest::read(told.as_object().unwrap()).unwrap();
    let empty = desk.store.read_now(graph::counts).unwrap();
    let teller = format!("node:{NODE}");
    let who = teller.clone();
    let tell = |desk: &OpenHub| {
        let (who, told) = (who.clone(), told.clone());
        desk.store.write_now(move |tx| graph::ingest(tx, &who, &told, 100, NOW)).unwrap();
    };
    tell(&desk);
    let would = desk.does(&["graph", "forget", &teller, "--dry-run"]);
    assert_eq!(
        (&would["entities"], &would["relations"], &would["dry_run"]),
        (&json!(2), &json!(1), &json!(true))
    );
    assert!(desk.audit("node", NODE).is_empty());
    let gone = desk.does(&["graph", "forget", &teller, "--reason", "spam"]);
    assert_eq!(
        (&gone["entities"], &gone["relations"], &gone["teller"]),
        (&json!(2), &json!(1), &json!(teller))
    );
    assert_eq!(desk.store.read_now(graph::counts).unwrap(), empty);
    // Again, by the node's id alone, it changes nothing and is not written down.
    assert_eq!(desk.does(&["graph", "forget", NODE])["entities"], 0);
    let noted = entry("graph_forget", "2 notes on things and 1 relations", "", "spam");
    assert_eq!(desk.audit("node", NODE), [noted]);
    desk.refuses(1, "not_found", &["graph", "forget", "node:nobody"]);
    desk.refuses(1, "not_found", &["graph", "forget", "user:nobody"]);
    desk.refuses(1, "not_found", &["graph", "forget", "eve@example.org"]);
    // Whoever bans is told that what was told is still there.
    tell(&desk);
    let banned = desk.run(&["ban", NODE, "--reason", "spam"]);
    assert!(banned.stderr.contains(&format!("graph forget {teller}")), "{banned}");
}
