//! `fsck` finds nothing in a hub that did its work, and finds whatever was changed behind its back.

use crate::common::{Bundle, TestHub, both};
use capsid_model::problem::{Code, Problem, Result};
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::owners;
use capsid_store::evaluation::rewards::RewardRates;
use capsid_store::fsck::{self, FsckReport};
use capsid_store::registry::usage;
use capsid_store::registry::usage::FetchCount;
use capsid_store::work::bounties;
use capsid_store::work::bounties::{NewBounty, settle};
use capsid_store::work::tasks::complete::{SubmittedResult, complete};
use capsid_store::work::tasks::{NewTask, claim};
use capsid_store::{Store, StoreOptions, nodes, search};
use serde_json::json;

fn check(hub: &TestHub) -> FsckReport {
    hub.hub.store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap()
}

#[track_caller]
fn assert_clean(hub: &TestHub) {
    let report = check(hub);
    assert!(report.is_clean(), "{:#?}", report.findings);
}

/// A hub with bundles that were used, withdrawn and rejected.
fn fill(hub: &TestHub) -> Vec<Bundle> {
    let bundles = hub.fill(6);
    let fetched: Vec<FetchCount> = bundles
        .iter()
        .take(3)
        .map(|bundle| FetchCount {
            node_id: "node_2".to_owned(),
            asset_id: id(bundle.capsule_id()),
            calls: 2,
        })
        .collect();
    hub.clock.advance(3 * 86_400_000);
    let now = capsid_model::time::Clock::now(&*hub.clock);
    hub.hub.store.write_now(move |tx| usage::count(tx, &fetched, &RewardRates::NONE, now)).unwrap();
    hub.message("node_1", "revoke", json!({"target_asset_id": bundles[1].capsule_id(), "reason": "wrong"}))
        .expect(200);
    let poor = Bundle::new(77).with(|bundle| bundle.capsule["outcome"]["score"] = json!(0.1));
    hub.publish("node_0", &poor).expect(422);
    hub.publish("node_0", &bundles[0]).expect(200);
    bundles
}

fn id(text: &str) -> capsid_store::assets::id::AssetId {
    capsid_store::assets::id::AssetId::parse(text).unwrap()
}

/// Changes the database as nobody should.
fn tamper(hub: &TestHub, sql: &'static str) {
    let changed = hub.hub.store.write_now(move |tx: &mut dyn Tx| tx.run(sql, &[])).unwrap();
    assert!(changed > 0, "{sql} changed nothing");
}

/// Takes away what the database itself would refuse a wrong ledger with.
fn guards_off(hub: &TestHub) {
    let guards: &[&'static str] = match hub.on {
        crate::common::On::Sqlite => &[
            "DROP TRIGGER accounts_made",
            "DROP TRIGGER accounts_changed",
            "DROP TRIGGER accounts_gone",
            "DROP TRIGGER accounts_granted_changed",
            "PRAGMA ignore_check_constraints = ON",
        ],
        crate::common::On::Postgres => &[
            "ALTER TABLE accounts DISABLE TRIGGER USER",
            "ALTER TABLE entries DISABLE TRIGGER USER",
            "ALTER TABLE accounts DROP CONSTRAINT only_the_mint_may_owe",
            "ALTER TABLE accounts DROP CONSTRAINT granted_is_a_part",
        ],
    };
    hub.hub
        .store
        .write_now(move |tx: &mut dyn Tx| guards.iter().try_for_each(|sql| tx.run(sql, &[]).map(|_| ())))
        .unwrap();
}

#[track_caller]
fn assert_finds(hub: &TestHub, code: &str) -> FsckReport {
    let report = check(hub);
    assert!(report.counts.contains_key(code), "no {code} in {:#?}", report.findings);
    for finding in &report.findings {
        assert!(!finding.subject.is_empty() && finding.problem.ends_with('.') && finding.fix.ends_with('.'));
    }
    report
}

#[test]
fn a_hub_that_did_its_work_is_clean() {
    both(|hub| {
        assert_clean(hub);
        fill(hub);
        let report = check(hub);
        assert!(report.is_clean(), "{:#?}", report.findings);
        assert_eq!((report.assets, report.bundles, report.nodes), (21, 7, 3));
        assert!(report.transfers >= 3);
    });
}

#[test]
fn what_was_changed_behind_the_hubs_back_is_found() {
    let changes = [
        ("UPDATE assets SET body = '{}' WHERE seq = 1", "asset_id_mismatch"),
        ("UPDATE assets SET body = 'x' WHERE seq = 1", "body_unreadable"),
        ("UPDATE assets SET asset_type = 'Gene' WHERE seq = 1", "asset_type_mismatch"),
        ("UPDATE assets SET asset_type = 'Genome' WHERE seq = 1", "word_unknown"),
        ("UPDATE assets SET status = 'lost' WHERE seq = 1", "word_unknown"),
        ("UPDATE assets SET status = 'promoted' WHERE seq = 1", "status_not_audited"),
        ("UPDATE bundles SET gene_id = capsule_id", "bundle_id_mismatch"),
        ("UPDATE bundles SET event_id = capsule_id", "bundle_incomplete"),
        (
            "DELETE FROM bundles WHERE bundle_id = (SELECT MIN(bundle_id) FROM bundles)",
            "asset_outside_bundle",
        ),
        ("UPDATE accounts SET balance = balance + 1 WHERE account = 'node:node_0'", "balance_wrong"),
        ("UPDATE accounts SET balance = balance + 1 WHERE account = 'node:node_0'", "ledger_not_zero"),
        ("UPDATE accounts SET balance = -1 WHERE account = 'node:node_0'", "balance_negative"),
        ("UPDATE transfers SET amount = amount + 1", "transfer_uneven"),
        (
            "INSERT INTO entries (transfer, account, delta, balance_after) SELECT 1, 'mint', 5, 7 FROM transfers LIMIT 1",
            "entry_chain_broken",
        ),
    ];
    for on in [crate::common::On::Sqlite, crate::common::On::Postgres] {
        for (sql, code) in changes {
            let hub = TestHub::start(on, |_| {});
            hub.fill(2);
            assert_clean(&hub);
            guards_off(&hub);
            tamper(&hub, sql);
            assert_finds(&hub, code);
        }
    }
}

/// Tasks with bounties in each state, a stake, and something earned.
fn fill_with_work(hub: &TestHub) {
    hub.fill(2);
    hub.post("/a2a/validator/stake", &json!({"sender_id": "node_0"})).expect(200);
    let now = capsid_model::time::Clock::now(&*hub.clock);
    let asset = id(Bundle::new(1).capsule_id());
    let terms = hub.hub.config.settlement_terms();
    let completion = hub.hub.config.work.completion_terms();
    hub.hub
        .store
        .write_now(move |tx: &mut dyn Tx| {
            let node = nodes::lock(tx, "node_1")?.unwrap();
            for name in ["open", "claimed", "matched", "accepted", "cancelled"] {
                let task = NewTask {
                    task_id: format!("task_{name}"),
                    asker: "node:node_0".to_owned(),
                    title: name.to_owned(),
                    amount: 10_000,
                    expires_at: now.0 + 86_400_000,
                    ..NewTask::default()
                };
                let bounty_id = format!("bounty_{name}");
                let (task_id, submission) = (task.task_id.clone(), format!("sub_{name}"));
                let (source, listing_id) = ("bounty", None);
                let new = NewBounty {
                    bounty_id: bounty_id.clone(),
                    source,
                    listing_id,
                    task,
                    high_value: 1,
                    request: None,
                    funds: capsid_rules::credits::CreditSource::GrantedFirst,
                };
                bounties::offer(tx, &new, now)?;
                if name == "cancelled" {
                    settle::cancel(tx, &bounty_id, "node:node_0", "Cancelled.", now)?;
                } else if name != "open" {
                    claim::claim(tx, &node, &task_id, None, &submission, &[], now)?;
                }
                if matches!(name, "matched" | "accepted") {
                    complete(tx, &node, &task_id, SubmittedResult::Asset(&asset), &completion, now)?;
                }
                if name == "accepted" {
                    settle::accept(tx, &bounty_id, "node:node_0", "Accepted.", &terms, now)?;
                }
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn work_that_does_not_fit_its_pay_is_found() {
    let changes = [
        ("UPDATE bounties SET amount = amount + 1 WHERE bounty_id = 'bounty_open'", "bounty_not_held"),
        ("UPDATE bounties SET status = 'accepted' WHERE bounty_id = 'bounty_matched'", "bounty_not_held"),
        ("UPDATE bounties SET status = 'matched' WHERE bounty_id = 'bounty_accepted'", "bounty_not_held"),
        ("UPDATE bounties SET settled_at = 1 WHERE bounty_id = 'bounty_open'", "bounty_state_wrong"),
        ("UPDATE bounties SET status = 'claimed' WHERE bounty_id = 'bounty_open'", "bounty_state_wrong"),
        (
            "UPDATE tasks SET status = 'open', claimed_by = NULL, submission_id = NULL WHERE task_id = 'task_claimed'",
            "bounty_state_wrong",
        ),
        ("UPDATE tasks SET bounty_id = 'bounty_none' WHERE task_id = 'task_open'", "task_state_wrong"),
        ("UPDATE tasks SET claimed_by = NULL WHERE task_id = 'task_claimed'", "task_state_wrong"),
        ("UPDATE tasks SET claimed_by = 'node_0' WHERE task_id = 'task_claimed'", "task_state_wrong"),
        ("UPDATE tasks SET submission_id = 'sub_none' WHERE task_id = 'task_claimed'", "task_state_wrong"),
        (
            "UPDATE submissions SET status = 'released' WHERE submission_id = 'sub_claimed'",
            "task_state_wrong",
        ),
        ("UPDATE tasks SET completed_at = NULL WHERE task_id = 'task_matched'", "task_state_wrong"),
        ("UPDATE tasks SET swarm_role = 'solver' WHERE task_id = 'task_open'", "task_state_wrong"),
        ("UPDATE tasks SET status = 'lost' WHERE task_id = 'task_open'", "word_unknown"),
        ("UPDATE submissions SET status = 'lost'", "word_unknown"),
        ("UPDATE bounties SET source = 'gift'", "word_unknown"),
        ("UPDATE announcements SET kind = 'gossip'", "word_unknown"),
        ("UPDATE earnings SET source = 'theft'", "word_unknown"),
        ("UPDATE earnings SET amount = amount + 1", "earnings_wrong"),
        ("DELETE FROM earnings", "earnings_wrong"),
        ("UPDATE accounts SET balance = 5 WHERE account = 'hold:bounty:bounty_cancelled'", "bounty_not_held"),
        ("INSERT INTO accounts (account, balance) VALUES ('hold:bounty:none', 5)", "hold_stray"),
        ("DELETE FROM stakes", "hold_stray"),
        (
            "UPDATE accounts SET granted = granted - 1 WHERE account LIKE 'node:%' AND granted > 0",
            "granted_wrong",
        ),
        ("UPDATE accounts SET granted = balance + 1 WHERE account LIKE 'node:%'", "granted_wrong"),
        ("UPDATE transfers SET granted = 0", "entry_chain_broken"),
        (
            "INSERT INTO held_rewards (reference, node_id, source, amount, held_at, due_at, state)
             VALUES ('r', 'node_0', 'reuse', 5, 1, 2, 'held')",
            "reward_not_held",
        ),
        ("UPDATE stakes SET amount = 1", "stake_not_held"),
    ];
    for on in [crate::common::On::Sqlite, crate::common::On::Postgres] {
        let hub = TestHub::start(on, |_| {});
        fill_with_work(&hub);
        assert_clean(&hub);
        guards_off(&hub);
        for (sql, code) in changes {
            // Looked at before it is kept, and then not kept, so that one hub is enough.
            let found = std::sync::Arc::new(std::sync::Mutex::new(None));
            let told = std::sync::Arc::clone(&found);
            let undone: Result<()> = hub.hub.store.write_now(move |tx: &mut dyn Tx| {
                assert!(tx.run(sql, &[])? > 0, "{sql} changed nothing");
                *told.lock().unwrap() = Some(fsck::check(tx, &mut |_, _, _| {})?);
                Err(Problem::new(Code::InputInvalid, "Only looked."))
            });
            let found = found.lock().unwrap().take();
            let report = found.unwrap_or_else(|| panic!("{sql}: {undone:?}"));
            assert!(report.counts.contains_key(code), "{sql}: no {code} in {:#?}", report.findings);
        }
        assert_clean(&hub);
    }
}

#[test]
fn a_matched_bounty_that_an_admin_cancelled_is_no_damage() {
    both(|hub| {
        fill_with_work(hub);
        let now = capsid_model::time::Clock::now(&*hub.clock);
        let withdraw = move |tx: &mut dyn Tx| {
            settle::withdraw(tx, "bounty_matched", "user:admin", "Cancelled by an admin.", now)
        };
        hub.hub.store.write_now(withdraw).unwrap();
        let stands = "SELECT 1 FROM tasks t JOIN bounties b ON b.task_id = t.task_id
            WHERE t.status = 'completed' AND b.status = 'cancelled'";
        assert!(hub.hub.store.read_now(move |tx| tx.exists(stands, &[])).unwrap());
        assert_clean(hub);
        // Without the withdrawal in the audit it is damage.
        tamper(hub, "UPDATE bounties SET status = 'cancelled' WHERE bounty_id = 'bounty_accepted'");
        assert_finds(hub, "bounty_state_wrong");
    });
}

#[test]
fn a_publisher_that_its_reporters_owner_claims_is_no_damage() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.register("node_b");
        let (_, account) = crate::common::economy::user(hub, "owner");
        let claim = |node: &'static str, at: i64| {
            let owner = account.trim_start_matches("user:").to_owned();
            let claim = "UPDATE nodes SET owner = $3, claimed_at = $2 WHERE node_id = $1";
            hub.hub
                .store
                .write_now(move |tx| tx.run(claim, capsid_store::params![node, at, &owner]))
                .unwrap();
        };
        claim("node_b", 1);
        hub.clock.advance(60_000);
        let report = json!({"target_asset_id": bundle.capsule_id(), "validation_report": {
            "report_id": "r1", "overall_ok": true, "commands": [{"command": "node t.js", "ok": true, "exit_code": 0}]}});
        hub.message("node_b", "report", report).expect(200);
        assert_clean(hub);
        // Later, and in the very millisecond in which the asset was scored.
        for later in [0, 5] {
            hub.clock.advance(later);
            claim("node_a", capsid_model::time::Clock::now(&*hub.clock).0);
            assert_clean(hub);
        }
    });
}

#[test]
fn what_follows_from_something_else_is_mended_and_nothing_else_is_touched() {
    let changes = [
        ("UPDATE assets SET call_count = call_count + 1 WHERE seq = 1", "counter_wrong"),
        ("UPDATE assets SET reuse_count = 9", "counter_wrong"),
        ("UPDATE assets SET upvotes = 3, downvotes = 1 WHERE seq = 2", "counter_wrong"),
        ("UPDATE assets SET card = '\"a\":1' WHERE seq = 1", "card_wrong"),
        ("UPDATE assets SET environment = 'mars_x1' WHERE seq = 1", "meaning_wrong"),
        ("UPDATE assets SET confidence = 0.99 WHERE seq = 1", "trait_wrong"),
        ("UPDATE assets SET proof = 'vacuous' WHERE seq = 1", "trait_wrong"),
        ("UPDATE assets SET category = NULL WHERE asset_type = 'Capsule'", "trait_wrong"),
        ("UPDATE assets SET gdi = gdi + 100 WHERE seq = 1", "score_wrong"),
        ("UPDATE assets SET gdi_social = 0.9 WHERE seq = 2", "score_wrong"),
        ("UPDATE assets SET gdi_intrinsic = 0.99 WHERE seq = 4", "score_wrong"),
        ("UPDATE nodes SET total_published = 40, total_revoked = 2", "total_wrong"),
        ("UPDATE nodes SET reputation = 99", "reputation_wrong"),
    ];
    both(|hub| {
        fill(hub);
        index(hub);
        for (sql, code) in changes {
            let kept = |hub: &TestHub| {
                let untouched = ["audit", "entries", "transfers", "accounts", "bundles", "fetches", "votes"];
                let bodies = hub
                    .hub
                    .store
                    .read_now(|tx| tx.query_all::<String>("SELECT body FROM assets ORDER BY seq", &[]));
                (sections(&hub.dump(), &untouched), bodies.unwrap())
            };
            let before = kept(hub);
            tamper(hub, sql);
            let report = assert_finds(hub, code);
            assert!(report.repairable() > 0);
            let now = capsid_model::time::Clock::now(&*hub.clock);
            let mended = fsck::repair(&hub.hub.store, &report, now).unwrap();
            assert!(mended.assets + mended.nodes > 0);
            index(hub);
            assert_clean(hub);
            assert_eq!(kept(hub), before, "{sql}");
        }
    });
}

/// The named tables of a dump.
fn sections(dump: &str, names: &[&str]) -> String {
    let mut wanted = false;
    let mut text = String::new();
    for line in dump.lines() {
        if !line.starts_with(' ') {
            wanted = names.iter().any(|name| line.starts_with(&format!("{name}:")));
        }
        if wanted {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// Lets the index reach every asset.
fn index(hub: &TestHub) {
    hub.follow();
}

/// How many capsules a search by meaning finds among repairs.
fn repairs_found(hub: &TestHub) -> i64 {
    let address =
        "/a2a/assets/semantic-search?type=Capsule&status=candidate&q=timeout&category=repair&limit=50";
    hub.get(address).expect(200)["count"].as_i64().unwrap()
}

/// Bundles of repair whose capsules, as always, do not say so.
fn fill_with_repairs(hub: &TestHub) {
    for n in 0..3 {
        let bundle = Bundle::new(n).with(|bundle| {
            bundle.gene["category"] = json!("repair");
            bundle.capsule["trigger"] = json!(["timeout"]);
        });
        assert!(bundle.capsule.get("category").is_none());
        hub.publish("node_a", &bundle).expect(200);
    }
}

#[test]
fn a_mended_category_is_found_by_it() {
    both(|hub| {
        fill_with_repairs(hub);
        assert_eq!(repairs_found(hub), 3);
        tamper(hub, "UPDATE assets SET category = NULL WHERE asset_type = 'Capsule'");
        index(hub);
        assert_eq!(repairs_found(hub), 0);
        let report = assert_finds(hub, "trait_wrong");
        fsck::repair(&hub.hub.store, &report, crate::common::START).unwrap();
        assert_eq!(repairs_found(hub), 3);
        assert_clean(hub);
    });
}

#[test]
fn capsules_of_old_get_the_category_of_their_gene() {
    both(|hub| {
        fill_with_repairs(hub);
        index(hub);
        let kept = |hub: &TestHub| sections(&hub.dump(), &["assets", "unfilled_traits"]);
        let before = kept(hub);
        let forget = |tx: &mut dyn Tx| {
            tx.run("UPDATE assets SET environment = NULL", &[])?;
            tx.run("UPDATE assets SET category = NULL WHERE asset_type = 'Capsule'", &[])?;
            tx.run("INSERT INTO unfilled_traits (seq) SELECT seq FROM assets", &[])
        };
        hub.hub.store.write_now(forget).unwrap();
        assert_clean(hub);
        let fill = |tx: &mut dyn Tx| search::fill_old_traits(tx, 4, crate::common::START);
        while hub.hub.store.write_now(fill).unwrap() > 0 {}
        assert_eq!(kept(hub), before);
        assert_eq!(repairs_found(hub), 3);
        assert_clean(hub);
    });
}

#[test]
fn an_asset_that_no_search_finds_is_indexed_again() {
    both(|hub| {
        fill(hub);
        index(hub);
        assert_clean(hub);
        let changes = [
            ("DELETE FROM entries WHERE seq = 2", "search_lacks_asset"),
            (
                "DELETE FROM held WHERE rowid = (SELECT rank & ((1 << 54) - 1) FROM entries WHERE seq = 3)",
                "search_lacks_asset",
            ),
            ("UPDATE entries SET rank = rank + (1 << 46) WHERE seq = 4", "search_misplaces_asset"),
            ("UPDATE meanings SET line = 'm_other||' WHERE seq = 1", "meaning_wrong"),
            ("DELETE FROM meanings WHERE seq = 1", "meaning_wrong"),
        ];
        for (sql, code) in changes {
            hub.change_index(sql);
            let report = assert_finds(hub, code);
            fsck::repair(&hub.hub.store, &report, crate::common::START).unwrap();
            index(hub);
            assert_clean(hub);
        }
    });
}

#[test]
fn an_index_that_lacks_rows_is_found() {
    let hub = TestHub::sqlite();
    hub.fill(3);
    // With an index that holds everything, the check also compares that, and comes to its end.
    hub.follow();
    let connection = rusqlite::Connection::open(hub.hub.config.data.join("hub.db")).unwrap();
    connection
        .execute_batch(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = 'CREATE INDEX assets_by_node ON assets (seq, node_id)'
                WHERE name = 'assets_by_node';
             PRAGMA writable_schema = RESET;",
        )
        .unwrap();
    let options = StoreOptions::new(&hub.hub.config.data, None).shared();
    let store = Store::open(&options, crate::common::START).unwrap();
    let report = store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap();
    assert!(report.counts.contains_key("file_damaged"), "{:#?}", report.findings);
}

#[test]
fn a_level_or_a_grade_that_does_not_follow_is_found() {
    let levels = [
        "UPDATE owners SET level = 2",
        "UPDATE owners SET level = 9",
        "UPDATE owners SET weight = 0.3",
        "UPDATE owners SET agreed = settled + 1",
        "UPDATE owners SET conditions = 'x'",
        "UPDATE users SET appointed_at = 1",
    ];
    let grades = [
        "UPDATE reports SET grade = 'hub'",
        "UPDATE reports SET grade = 'best'",
        "UPDATE reports SET grade = 'assigned'",
        "UPDATE reports SET weight = 2",
        "UPDATE reports SET label = 'self'",
    ];
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.take_on_trial("node_b", bundle.capsule_id());
        let report =
            json!({"target_asset_id": bundle.capsule_id(), "validation_report": {"overall_ok": true}});
        hub.message("node_b", "report", report).expect(200);
        let (_, account) = crate::common::economy::user(hub, "ann");
        let user = account.trim_start_matches("user:").to_owned();
        let now = capsid_model::time::Clock::now(&*hub.clock);
        let assess = move |tx: &mut dyn Tx| owners::assess_account(tx, &user, now);
        hub.hub.store.write_now(assess).unwrap();
        assert_clean(hub);
        for sql in levels {
            tamper(hub, sql);
            let report = assert_finds(hub, "level_wrong");
            let mended = fsck::repair(&hub.hub.store, &report, now).unwrap();
            assert_eq!(mended.owners, 1, "{sql}");
            assert_clean(hub);
        }
        for sql in grades {
            let restore = "UPDATE reports SET label = 'unsolicited', grade = 'fetched', weight = 0.5";
            tamper(hub, sql);
            assert_finds(hub, "grade_wrong");
            tamper(hub, restore);
            assert_clean(hub);
        }
    });
}
