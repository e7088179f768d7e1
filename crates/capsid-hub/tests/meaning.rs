//! Searching by meaning, on both databases alike.

use crate::common::{Bundle, On, START, TestHub, both};
use capsid_rules::lifecycle::AssetEvent;
use capsid_rules::meaning::SemanticQuestion;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::lifecycle;
use capsid_store::search::semantic;
use capsid_store::search::semantic::{MAX_READ, SemanticQuery};
use capsid_store::{graph, params};
use serde_json::{Value, json};

fn promote(hub: &TestHub, id: &str) {
    let id = AssetId::parse(id).unwrap();
    hub.hub
        .store
        .write_now(move |tx| lifecycle::change(tx, &id, AssetEvent::Promote, "operator", None, START))
        .unwrap();
}

/// What a hub does at its start.
fn fill_old_traits(hub: &TestHub) {
    hub.hub.store.write_now(|tx| capsid_store::search::fill_old_traits(tx, 1000, START)).unwrap();
}

/// A dump without the log of changes.
fn without_changes(dump: &str) -> String {
    let (before, after) = dump.split_once("changes: ").unwrap();
    let rest = after.lines().skip(1).skip_while(|line| line.starts_with(' '));
    before.to_owned() + &rest.collect::<Vec<_>>().join("\n")
}

fn index(hub: &TestHub) {
    hub.follow();
}

/// A bundle about one trouble.
fn bundle(n: u64, signals: &[&str], summary: &str) -> Bundle {
    Bundle::new(n).with(|bundle| {
        bundle.gene["signals_match"] = json!(signals);
        bundle.gene["summary"] = json!(format!("{summary} This is the general way number {n}."));
        bundle.capsule["trigger"] = json!(signals);
        bundle.capsule["summary"] = json!(summary);
    })
}

/// Five troubles that have little in common.
fn troubles() -> Vec<Bundle> {
    vec![
        bundle(
            1,
            &["timeout"],
            "The request took longer than allowed; retries now wait longer after each attempt.",
        ),
        bundle(
            2,
            &["memory_leak"],
            "The heap kept growing until the process was killed; the cache has a bound now.",
        ),
        bundle(
            3,
            &["permission_denied"],
            "The deploy user may not write into the folder; ownership was corrected.",
        ),
        bundle(4, &["数据库死锁"], "两个事务互相等待对方持有的锁，现在按照固定的顺序加锁。"),
        bundle(
            5,
            &[
                "errsig:TypeError: Cannot read properties of undefined (reading 'length') at /srv/app/list.js:42:17",
            ],
            "The list may be missing in an empty answer; it is checked before it is counted.",
        ),
    ]
}

fn filled(hub: &TestHub) -> Vec<Bundle> {
    let bundles = troubles();
    for bundle in &bundles {
        hub.publish("node_a", bundle).expect(200);
    }
    bundles
}

fn encoded(text: &str) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric();
    text.bytes().map(|b| if plain(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

fn ask(hub: &TestHub, words: &str, more: &str) -> Value {
    let status = if more.contains("status=") { "" } else { "&status=candidate" };
    let address = format!("/a2a/assets/semantic-search?type=Capsule{status}&q={}{more}", encoded(words));
    hub.get(&address).expect(200)
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["assets"].as_array().unwrap().iter().map(|row| row["asset_id"].as_str().unwrap()).collect()
}

#[track_caller]
fn first(hub: &TestHub, words: &str, bundle: &Bundle) -> Value {
    let found = ask(hub, words, "");
    assert_eq!(ids(&found).first(), Some(&bundle.capsule_id()), "{words}: {found}");
    found["assets"][0].clone()
}

#[test]
fn what_is_meant_is_found_whatever_the_words_indexed_or_not() {
    both(|hub| {
        let bundles = filled(hub);
        for indexed in [false, true] {
            if indexed {
                index(hub);
            }
            println!("indexed: {indexed}");
            let row = first(hub, "retrying a slow request", &bundles[0]);
            assert_eq!(row["why"]["ways"][0], "text", "{row}");
            assert!(row["score"].as_f64().unwrap() > 0.0 && row["why"]["similarity"].is_null(), "{row}");
            assert!(!row["why"]["words"].as_array().unwrap().is_empty(), "{row}");
            first(hub, "out of memory", &bundles[1]);
            first(hub, "access to the directory was forbidden", &bundles[2]);
            first(hub, "deadlock between transactions", &bundles[3]);
            first(hub, "事务之间发生死锁怎么办", &bundles[3]);
            first(hub, "请求超时", &bundles[0]);
            let error = "TypeError: Cannot read properties of undefined (reading 'length') at /home/ann/x/rows.js:7:3";
            first(hub, error, &bundles[4]);
        }
    });
}

#[test]
fn words_alone_are_still_found_by_asking_for_them() {
    both(|hub| {
        let bundles = filled(hub);
        index(hub);
        let exact = ask(hub, "ownership corrected", "&mode=keyword");
        assert_eq!(ids(&exact), [bundles[2].capsule_id()]);
        assert!(exact["assets"][0].get("why").is_none() && exact["assets"][0].get("score").is_none());
        assert_eq!(ask(hub, "retrying", "&mode=keyword")["count"], 0);
        assert_ne!(ask(hub, "retrying", "&mode=hybrid")["count"], 0);
        for nothing in ["", "the", "!!!", "\u{202e}", "' OR 1=1 --"] {
            assert_eq!(ask(hub, nothing, "")["count"], 0, "{nothing}");
        }
        for bad in [
            "&mode=fuzzy",
            "&since=yesterday",
            "&until=%F0%9F%90%A2",
            "&environment=a%00b",
            "&category=%0A%07x",
            "&category=sorcery",
            "&mode=keyword&category=sorcery",
            "&mode=keyword&since=yesterday",
        ] {
            let address = format!("/a2a/assets/semantic-search?q=timeout{bad}");
            hub.get(&address).refused(400, "validation_error");
        }
    });
}

#[test]
fn a_signal_that_is_asked_by_its_name_comes_first() {
    both(|hub| {
        let named = bundle(1, &["log_error"], "Something else altogether was done about the weather.");
        let alike = bundle(
            2,
            &["error_logging"],
            "Errors of the log are logged: a log error, error log, log errors.",
        );
        for bundle in [&alike, &named] {
            hub.publish("node_a", bundle).expect(200);
        }
        for indexed in [false, true] {
            if indexed {
                index(hub);
            }
            assert_eq!(
                ids(&ask(hub, "log_error", "")),
                [named.capsule_id(), alike.capsule_id()],
                "{indexed}"
            );
            let several = ask(hub, "log_error,errors of the log,timeout_seen", "");
            assert_eq!(ids(&several)[0], named.capsule_id());
        }
    });
}

#[test]
fn the_code_of_an_error_that_is_asked_for_comes_first() {
    let codes = ["ORA-00942", "E0502", "TS2345", "ERR-17"];
    both(|hub| {
        let named: Vec<Bundle> = codes
            .iter()
            .zip(1..)
            .map(|(code, n)| bundle(n, &[code], "Something else altogether was done about the weather."))
            .collect();
        let alike = bundle(9, &["select_fails"], "The error says that a table or view does not exist.");
        for bundle in named.iter().chain([&alike]) {
            hub.publish("node_a", bundle).expect(200);
        }
        for indexed in [false, true] {
            if indexed {
                index(hub);
            }
            for (code, bundle) in codes.iter().zip(&named) {
                first(hub, &format!("error {code}: the table or view does not exist"), bundle);
                first(hub, &format!("报错[{code}]怎么办"), bundle);
            }
            first(hub, "utf8 table of 3000ms does not exist over http2", &alike);
        }
    });
}

#[test]
fn the_graph_leads_to_nothing_that_merely_lies_near_the_question() {
    both(|hub| {
        let meant =
            bundle(1, &["heartbeat_lost"], "The heartbeat came too late; it has a thread of its own.");
        let beside = bundle(2, &["keepalive_broken"], "Idle sockets were half open; they are closed by now.");
        for bundle in [&meant, &beside] {
            hub.publish("node_a", bundle).expect(200);
        }
        index(hub);
        hub.follow();
        let question = SemanticQuestion::parse("heartbeat", &[]);
        assert!(question.terms.iter().any(|asked| asked.is_near && asked.term == "c_keepalive"));
        let related = hub.hub.store.read_now(move |tx| graph::related(tx, &question, 50)).unwrap();
        let led_to: Vec<String> = related.iter().map(|related| related.asset_id.to_string()).collect();
        let is_led_to = |id: &str| led_to.iter().any(|other| other == id);
        assert!(is_led_to(meant.capsule_id()), "{led_to:?}");
        assert!(!is_led_to(beside.capsule_id()), "{led_to:?}");
        let answer = ask(hub, "heartbeat", "");
        assert_eq!(ids(&answer)[0], meant.capsule_id());
        let rows = answer["assets"].as_array().unwrap();
        for row in rows.iter().filter(|row| row["asset_id"] == beside.capsule_id()) {
            assert_eq!((&row["why"]["ways"], &row["why"]["path"]), (&json!(["text"]), &json!([])), "{row}");
        }
    });
}

#[test]
fn filters_really_filter() {
    both(|hub| {
        let a = bundle(1, &["timeout"], "The upload waits for an answer that never comes.");
        let b =
            bundle(2, &["timeout"], "The download waits for an answer that never comes.").with(|bundle| {
                bundle.capsule["category"] = json!("optimize");
                bundle.capsule["env_fingerprint"] = json!({"platform": "darwin", "arch": "arm64"});
            });
        hub.publish("node_a", &a).expect(200);
        hub.clock.advance(60_000);
        hub.publish("node_b", &b).expect(200);
        let (both_ids, later) = ([b.capsule_id(), a.capsule_id()], START.0 + 30_000);
        for indexed in [false, true] {
            if indexed {
                index(hub);
            }
            let found = |more: &str| {
                let answer = ask(hub, "waiting for an answer", more);
                let mut found: Vec<String> = ids(&answer).into_iter().map(str::to_owned).collect();
                found.sort();
                found
            };
            let only = |more: &str, bundle: &Bundle| assert_eq!(found(more), [bundle.capsule_id()], "{more}");
            assert_eq!(found("").len(), both_ids.len());
            only("&node_id=node_b", &b);
            only("&category=optimize", &b);
            only(&format!("&since={later}"), &b);
            only(&format!("&until={later}"), &a);
            only("&until=2026-01-01T00:00:30Z", &a);
            assert_eq!((found("&since=2026-01-01").len(), found("&until=2026-01-01").len()), (2, 0));
            only("&environment=darwin_arm64", &b);
            only("&environment=linux_x64", &a);
            only("&domain=upload", &a);
            only(&format!("&node_id=node_a&since={}", START.0), &a);
            for none in
                ["&node_id=nobody", "&category=explore", "&environment=plan9_mips", "&status=promoted"]
            {
                assert_eq!(found(none), [""; 0], "{none}");
            }
        }
        // Words alone are narrowed likewise; which they find is the same without.
        let words = |more: &str| {
            let answer = ask(hub, "waits answer", &format!("&mode=keyword{more}"));
            let mut found: Vec<String> = ids(&answer).into_iter().map(str::to_owned).collect();
            found.sort();
            found
        };
        assert_eq!(words("").len(), 2);
        for (more, bundle) in [
            ("&category=optimize".to_owned(), &b),
            (format!("&since={later}"), &b),
            (format!("&until={later}&limit=1"), &a),
            (format!("&since={later}&limit=1"), &b),
            ("&environment=darwin_arm64".to_owned(), &b),
        ] {
            assert_eq!(words(&more), [bundle.capsule_id()], "{more}");
        }
        assert_eq!(words("&since=2026-01-01").len(), 2);
        for none in ["&category=explore", "&environment=plan9_mips", "&until=2026-01-01"] {
            assert_eq!(words(none), [""; 0], "{none}");
        }
        // A question that says nothing is looked for by its domain alone, and narrowed too.
        assert_eq!(ids(&ask(hub, "", "&domain=download")), [b.capsule_id()]);
        assert_eq!(ask(hub, "", &format!("&domain=download&until={later}"))["count"], 0);
        // A report of another node tells that it works elsewhere too.
        hub.register("node_c");
        let report = json!({"target_asset_id": a.capsule_id(), "validation_report": {"report_id": "r1",
            "overall_ok": true, "env_fingerprint_key": "darwin_arm64"}});
        hub.message("node_c", "report", report).expect(200);
        assert_eq!(ask(hub, "waiting for an answer", "&environment=darwin_arm64")["count"], 2);
    });
}

#[test]
fn what_is_hidden_is_not_found() {
    both(|hub| {
        let bundles = filled(hub);
        index(hub);
        let id = AssetId::parse(bundles[0].capsule_id()).unwrap();
        let hide = move |tx: &mut dyn Tx| {
            tx.run("UPDATE assets SET trust_tier = 'delisted' WHERE asset_id = $1", params![&id])
        };
        hub.hub.store.write_now(hide).unwrap();
        let found = ask(hub, "retrying a slow request", "");
        assert!(!ids(&found).contains(&bundles[0].capsule_id()), "{found}");
        promote(hub, bundles[1].capsule_id());
        assert!(!ids(&ask(hub, "memory leak", "")).contains(&bundles[1].capsule_id()));
        assert_eq!(ids(&ask(hub, "memory leak", "&status=promoted")), [bundles[1].capsule_id()]);
        hub.message("node_a", "revoke", json!({"target_asset_id": bundles[1].capsule_id()})).expect(200);
        assert_eq!(ask(hub, "memory leak", "&status=promoted")["count"], 0);
    });
}

const SUBJECTS: [&str; 6] = ["upload", "database", "browser", "compiler", "container", "certificate"];
const TROUBLES: [&str; 5] =
    ["times out", "leaks memory", "is refused", "crashes at start", "returns stale data"];

/// Many bundles whose texts overlap.
fn many(hub: &TestHub, count: u64) -> Vec<Bundle> {
    let bundles: Vec<Bundle> = (0..count)
        .map(|n| {
            let (subject, trouble) = (SUBJECTS[(n % 6) as usize], TROUBLES[(n % 5) as usize]);
            let odd = Bundle::new(n + 1000).capsule["summary"].as_str().unwrap().to_owned();
            bundle(n, &[subject], &format!("The {subject} {trouble}. {odd}"))
        })
        .collect();
    for bundle in &bundles {
        hub.publish("node_a", bundle).expect(200);
    }
    bundles
}

#[test]
fn both_databases_find_the_same_in_the_same_order() {
    let hubs = [On::Sqlite, On::Postgres].map(|on| TestHub::start(on, |_| {}));
    for hub in &hubs {
        filled(hub);
        many(hub, 90);
    }
    for indexed in [false, true] {
        if indexed {
            hubs.iter().for_each(index);
        }
        for words in [
            "the upload takes too long",
            "out of memory in the browser",
            "证书错误",
            "stale container",
            "log_error",
        ] {
            for more in ["&limit=100", "&limit=7&offset=5", "&limit=9&category=repair"] {
                let [one, other] = hubs.each_ref().map(|hub| ask(hub, words, more));
                assert_eq!(ids(&one), ids(&other), "{words} {more}, indexed: {indexed}");
                assert_eq!(one["assets"][0]["why"], other["assets"][0]["why"]);
            }
        }
    }
}

/// Publishing goes the short way here, for many assets are needed.
fn crowd(hub: &TestHub, count: i64) {
    let add = move |tx: &mut dyn Tx| {
        for n in 0..count {
            let id: Vec<u8> = n.to_be_bytes().repeat(4);
            let text = json!({"type": "Capsule", "trigger": ["timeout"], "category": "repair",
                "summary": format!("The upload times out, case {n}")});
            tx.run(
                "INSERT INTO assets (asset_id, asset_type, status, node_id, bundle_id, created_at, last_activity_at,
                    gdi, category, card, body, scan_version)
                 VALUES ($1, 'Capsule', 'candidate', 'node_a', 'b', 0, 0, $2, 'repair', '\"signals\":[\"timeout\"]', $3, 1)",
                params![&id, n % 997, &text.to_string()],
            )?;
        }
        Ok(())
    };
    hub.hub.store.write_now(add).unwrap();
}

#[test]
fn a_common_term_is_answered_by_looking_at_some() {
    both(|hub| {
        hub.register("node_a");
        crowd(hub, 1200);
        let few = filled(hub);
        index(hub);
        for (words, until) in
            [("upload timeout", None), ("timeout", Some(1)), ("timeout of the upload in case 17", None)]
        {
            let wanted = SemanticQuery {
                status: capsid_rules::lifecycle::AssetStatus::Candidate,
                until,
                ..SemanticQuery::new(SemanticQuestion::parse(words, &[]), 20)
            };
            let (found, read) =
                hub.hub.store.read_now(move |tx| semantic::find_counting(tx, &wanted)).unwrap();
            assert_eq!(found.len(), 20, "{words}");
            assert!(read > 20 && read <= MAX_READ && read < 1000, "{words}: {read}");
        }
        // What is rare is found among them.
        first(hub, "deadlock", &few[3]);
        assert_eq!(ask(hub, "upload timeout", "&since=1")["assets"][0]["source_node_id"], "node_a");
    });
}

#[test]
fn an_old_database_is_filled_again() {
    both(|hub| {
        let bundles = filled(hub);
        let before = hub.dump();
        let forget = |tx: &mut dyn Tx| {
            tx.run("UPDATE assets SET environment = NULL", params![])?;
            tx.run("INSERT INTO unfilled_traits (seq) SELECT seq FROM assets", params![])?;
            capsid_store::backup::dump::dump(tx)
        };
        assert_ne!(hub.hub.store.write_now(forget).unwrap(), before);
        fill_old_traits(hub);
        assert_eq!(without_changes(&hub.dump()), without_changes(&before));
        first(hub, "out of memory", &bundles[1]);
        index(hub);
        let report = hub.hub.store.read_now(|tx| capsid_store::fsck::check(tx, &mut |_, _, _| {})).unwrap();
        assert_eq!(report.findings.len(), 0, "{report:?}");
    });
}
