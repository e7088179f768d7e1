//! Searching by signals and words, on both databases alike.

use crate::common::{Bundle, START, TestHub, both};
use capsid_rules::lifecycle::AssetEvent;
use capsid_store::assets::id::AssetId;
use capsid_store::evaluation::lifecycle;
use serde_json::{Value, json};

fn promote(hub: &TestHub, id: &str) {
    let id = AssetId::parse(id).unwrap();
    hub.hub
        .store
        .write_now(move |tx| lifecycle::change(tx, &id, AssetEvent::Promote, "operator", None, START))
        .unwrap();
}

fn index(hub: &TestHub) {
    hub.follow();
}

/// A bundle with these signals.
fn bundle(n: u64, signals: &[&str], summary: &str) -> Bundle {
    Bundle::new(n).with(|bundle| {
        bundle.gene["signals_match"] = json!(signals);
        bundle.capsule["trigger"] = json!(signals);
        bundle.capsule["summary"] =
            format!("{summary} {}", bundle.capsule["summary"].as_str().unwrap()).into();
    })
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["assets"].as_array().unwrap().iter().map(|row| row["asset_id"].as_str().unwrap()).collect()
}

fn search(hub: &TestHub, query: &str) -> Value {
    hub.get(&format!("/a2a/assets/search?type=Capsule&{query}")).expect(200)
}

#[test]
fn what_answers_more_signals_comes_first_indexed_or_not() {
    both(|hub| {
        let both_signals = bundle(1, &["TimeoutError", "memory_leak"], "First");
        let one = bundle(2, &["timeout"], "Second");
        let other = bundle(3, &["syntax_error"], "Third");
        for bundle in [&both_signals, &one, &other] {
            hub.publish("node_a", bundle).expect(200);
        }
        for indexed in [false, true] {
            if indexed {
                index(hub);
            }
            let found = search(hub, "signals=timeout,memory_leak&status=candidate");
            assert_eq!(ids(&found), [both_signals.capsule_id(), one.capsule_id()], "indexed: {indexed}");
            assert_eq!(found["assets"][0]["matched_signals"], json!(["timeout", "memory_leak"]));
            // `timeout` is but a word of `TimeoutError`.
            assert_eq!(found["assets"][0]["match_score"], 0.75);
            assert_eq!(found["assets"][1]["match_score"], 0.5);
            assert_eq!(search(hub, "signals=TIMEOUT")["count"], 0, "nothing is promoted yet");
            assert_eq!(search(hub, "signals=nothing_like_it&status=candidate")["count"], 0);
        }
        promote(hub, one.capsule_id());
        assert_eq!(ids(&search(hub, "signals=TIMEOUT")), [one.capsule_id()]);
        assert_eq!(ids(&search(hub, "signals=timeout&status=candidate")), [both_signals.capsule_id()]);
    });
}

#[test]
fn words_find_summaries_and_every_script_is_searched() {
    both(|hub| {
        let bundles = [
            bundle(1, &["超时错误"], "Retry with exponential backoff"),
            bundle(2, &["हिन्दी_त्रुटि"], "Pool the connections"),
            bundle(3, &["errsig:TimeoutError: request to /api/v1/items failed after 3000 ms"], "Wait longer"),
        ];
        for bundle in &bundles {
            hub.publish("node_a", bundle).expect(200);
            promote(hub, bundle.capsule_id());
        }
        index(hub);
        let only = |found: Value, n: usize| assert_eq!(ids(&found), [bundles[n].capsule_id()], "{found}");
        only(search(hub, "signals=%E8%B6%85%E6%97%B6"), 0);
        only(search(hub, "q=exponential%20BACKOFF"), 0);
        only(
            search(
                hub,
                "signals=%E0%A4%B9%E0%A4%BF%E0%A4%A8%E0%A5%8D%E0%A4%A6%E0%A5%80_%E0%A4%A4%E0%A5%8D%E0%A4%B0%E0%A5%81%E0%A4%9F%E0%A4%BF",
            ),
            1,
        );
        only(
            search(
                hub,
                "signals=errsig:TimeoutError:%20request%20to%20/api/v2/users%20failed%20after%209%20ms",
            ),
            2,
        );
        let prose = "/a2a/assets/semantic-search?q=how%20to%20pool%20connections&type=Capsule";
        only(hub.get(prose).expect(200), 1);
        assert_eq!(
            hub.get("/a2a/assets/semantic-search?q=&type=Gene&limit=10").expect(200)["assets"],
            json!([])
        );
    });
}

#[test]
fn filters_really_filter() {
    both(|hub| {
        let (a, b) = (bundle(1, &["timeout"], "A"), bundle(2, &["timeout"], "B"));
        hub.publish("node_a", &a).expect(200);
        hub.publish("node_b", &b).expect(200);
        promote(hub, a.capsule_id());
        promote(hub, b.capsule_id());
        index(hub);
        assert_eq!(ids(&search(hub, "signals=timeout&node_id=node_b")), [b.capsule_id()]);
        assert_eq!(search(hub, "signals=timeout&node_id=nobody")["count"], 0);
        assert_eq!(search(hub, "signals=timeout&limit=1")["count"], 1);
        assert_eq!(search(hub, "signals=timeout&limit=1")["total_is_lower_bound"], true);
        let genes = hub.get("/a2a/assets/search?signals=timeout&type=gene").expect(200);
        assert_eq!(genes["count"], 2);
        let all = hub.get("/a2a/assets/search?signals=timeout").expect(200);
        assert_eq!(all["count"], 4, "genes and capsules: {all}");
        let narrow = search(hub, "signals=timeout&fields=summary,nothing");
        assert_eq!(narrow["assets"][0].as_object().unwrap().len(), 2);
        for bad in ["status=lost", "type=Recipe"] {
            hub.get(&format!("/a2a/assets/search?signals=timeout&{bad}")).refused(400, "validation_error");
        }
        for odd in [
            "signals=",
            "",
            "signals=%00",
            "signals=,,,",
            "q=%22",
            "signals=%22%20OR%20%22",
            "signals=*",
            "signals=the",
        ] {
            assert_eq!(
                hub.get(&format!("/a2a/assets/search?{odd}")).json()["count"].as_i64().unwrap_or(0),
                0,
                "{odd}"
            );
        }
    });
}

#[test]
fn a_revoked_asset_is_no_longer_found() {
    both(|hub| {
        let bundle = bundle(1, &["timeout"], "A");
        hub.publish("node_a", &bundle).expect(200);
        promote(hub, bundle.capsule_id());
        index(hub);
        assert_eq!(search(hub, "signals=timeout")["count"], 1);
        hub.message("node_a", "revoke", json!({"target_asset_id": bundle.capsule_id()})).expect(200);
        assert_eq!(search(hub, "signals=timeout")["count"], 0);
        assert_eq!(search(hub, "signals=timeout&status=revoked")["count"], 1);
        let fetched = hub.message("node_b", "fetch", json!({"asset_ids": [bundle.capsule_id()]})).expect(200);
        assert_eq!(fetched["count"], 0);
    });
}

#[test]
fn a_search_is_read_page_by_page_to_its_end() {
    both(|hub| {
        let bundles: Vec<Bundle> = (0..5).map(|n| bundle(n, &["timeout"], "Pool")).collect();
        hub.register("node_b");
        for bundle in &bundles {
            hub.publish("node_a", bundle).expect(200);
            promote(hub, bundle.capsule_id());
            hub.message("node_b", "fetch", json!({"asset_ids": [bundle.capsule_id()]})).expect(200);
        }
        index(hub);
        for list in [
            "/a2a/assets/search?type=Capsule&signals=timeout",
            "/a2a/assets/semantic-search?type=Capsule&q=pool%20timeout",
            "/a2a/trending?window=7d",
        ] {
            let whole = hub.get(&format!("{list}&limit=5")).expect(200);
            assert_eq!((ids(&whole).len(), &whole["has_more"]), (5, &json!(false)), "{whole}");
            let (mut seen, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
            loop {
                let page = hub.get(&format!("{list}&limit=2&cursor={cursor}")).expect(200);
                seen.extend(ids(&page).iter().map(|&id| id.to_owned()));
                assert_eq!(page["has_more"], !page["next_cursor"].is_null(), "{page}");
                pages += 1;
                match page["next_cursor"].as_str() {
                    Some(next) => cursor = next.to_owned(),
                    None => break,
                }
            }
            assert_eq!((pages, &seen), (3, &ids(&whole).iter().map(|&id| id.to_owned()).collect()));
            let rest = hub.get(&format!("{list}&offset=3")).expect(200);
            assert_eq!(ids(&rest), ids(&whole)[3..]);
            hub.get(&format!("{list}&cursor=zz")).refused(400, "invalid_cursor");
            hub.get(&format!("{list}&offset=-1")).refused(400, "validation_error");
            hub.get(&format!("{list}&offset=1001")).refused(400, "validation_error");
        }
    });
}

#[test]
fn case_says_nothing_and_a_signal_is_worth_more_than_a_word() {
    both(|hub| {
        let own = bundle(1, &["timeout"], "First");
        let camel = bundle(2, &["TimeoutError"], "Second");
        let snake = bundle(3, &["timeout_error"], "Third");
        let word = bundle(4, &["slow_disk"], "After a timeout");
        for bundle in [&own, &camel, &snake, &word] {
            hub.publish("node_a", bundle).expect(200);
        }
        index(hub);
        let found = |signal: &str| search(hub, &format!("signals={signal}&status=candidate"));
        for asked in ["timeouterror", "TIMEOUTERROR", "TimeOutError"] {
            assert_eq!(ids(&found(asked)), ids(&found("TimeoutError")));
            assert_eq!(found(asked)["count"], 3);
        }
        let timeout = found("Timeout");
        assert_eq!((ids(&timeout)[0], &timeout["count"]), (own.capsule_id(), &json!(4)), "{timeout}");
        assert_eq!(timeout["assets"][0]["match_score"], 1.0);
        assert_eq!(timeout["assets"][3]["match_score"], 0.5);
    });
}

/// Where every asset is in the index, what it means, and how many assets there are.
type IndexRows = (Vec<(i64, i64)>, Vec<(i64, String)>, i64);

fn index_rows(hub: &TestHub) -> IndexRows {
    hub.follow();
    hub.hub
        .store
        .read_now(|tx| {
            let index = tx.index()?;
            Ok((
                index.query_all("SELECT seq, rank FROM entries ORDER BY seq", &[])?,
                index.query_all("SELECT seq, line FROM meanings ORDER BY seq", &[])?,
                index.count("SELECT assets FROM indexed", &[])?,
            ))
        })
        .unwrap()
}

#[test]
fn an_index_that_followed_every_change_is_the_same_as_a_new_one() {
    both(|hub| {
        let bundles: Vec<Bundle> = (0..6)
            .map(|n| bundle(n, &[&format!("signal_{}", n % 3), "TimeoutError"], "Mend the upload"))
            .collect();
        for (n, bundle) in bundles.iter().enumerate() {
            hub.publish(&format!("node_{}", n % 2), bundle).expect(200);
            if n % 2 == 0 {
                promote(hub, bundle.capsule_id());
            }
            if n % 3 == 0 {
                hub.follow();
            }
        }
        hub.message("node_0", "revoke", json!({"target_asset_id": bundles[2].capsule_id()})).expect(200);
        hub.register("node_r");
        let report =
            json!({"target_asset_id": bundles[0].capsule_id(), "validation_report": {"overall_ok": true}});
        hub.take_on_trial("node_r", bundles[0].capsule_id());
        hub.message("node_r", "report", report).expect(200);
        let (followed, found) = (index_rows(hub), search(hub, "signals=timeout"));
        assert_eq!(followed.2, 18);
        assert_eq!(found["count"], 2, "{found}");
        hub.hub.store.reset_index().unwrap();
        assert_eq!(index_rows(hub), followed);
        assert_eq!(search(hub, "signals=timeout"), found);
    });
}

#[test]
fn a_search_sees_what_was_written_before_it_however_far_the_index_is_behind() {
    both(|hub| {
        for n in 0..8 {
            let bundle = bundle(n, &["TimeoutError"], "Try again");
            hub.publish("node_a", &bundle).expect(200);
            let waiting = search(hub, "signals=timeout&status=candidate&limit=100");
            assert!(ids(&waiting).contains(&bundle.capsule_id()), "{waiting}");
            promote(hub, bundle.capsule_id());
            let found = search(hub, "signals=timeout&limit=100");
            assert!(
                ids(&found).contains(&bundle.capsule_id()) && found.get("index_lag").is_none(),
                "{found}"
            );
            let hidden = search(hub, "signals=timeout&status=candidate&limit=100");
            assert!(!ids(&hidden).contains(&bundle.capsule_id()), "{hidden}");
            let revoke = json!({"target_asset_id": bundle.capsule_id()});
            hub.message("node_a", "revoke", revoke).expect(200);
            assert_eq!(search(hub, "signals=timeout&limit=100")["count"], 0);
        }
    });
}

#[test]
fn a_whole_row_has_the_members_that_can_be_asked_for_by_name() {
    both(|hub| {
        let bundle = bundle(1, &["TimeoutError", "quote\"{}"], "Try {again}");
        hub.publish("node_a", &bundle).expect(200);
        promote(hub, bundle.capsule_id());
        let whole = search(hub, "signals=timeout");
        let names: Vec<&str> = whole["assets"][0].as_object().unwrap().keys().map(String::as_str).collect();
        let named = search(hub, &format!("signals=timeout&fields={}", names.join(",")));
        assert!(names.contains(&"summary") && names.contains(&"gdi_score") && names.contains(&"match_score"));
        assert_eq!(named, whole);
    });
}

#[test]
fn a_revoked_asset_is_not_found_even_where_the_index_does_not_know_it() {
    both(|hub| {
        let bundle = bundle(1, &["TimeoutError"], "Try again");
        hub.publish("node_a", &bundle).expect(200);
        promote(hub, bundle.capsule_id());
        hub.follow();
        assert_eq!(search(hub, "signals=timeout")["count"], 1);
        // No change tells the index.
        hub.change("UPDATE assets SET status = 'revoked'");
        assert_eq!(search(hub, "signals=timeout")["count"], 0);
        assert_eq!(hub.get("/a2a/assets/semantic-search?q=timeout").expect(200)["count"], 0);
    });
}

/// Whether the answer to this question is known already.
fn is_kept(hub: &TestHub, query: &str) -> bool {
    hub.hub.responses.find(query, hub.hub.store.state()).is_some()
}

/// Asks until the answer is kept: what the hub does by itself may still change the index.
fn is_kept_after<T>(hub: &TestHub, query: &str, ask: impl Fn() -> T) -> bool {
    (0..100).any(|_| {
        ask();
        is_kept(hub, query)
    })
}

#[test]
fn a_question_that_is_asked_again_is_answered_by_what_is_so_now() {
    let hub = TestHub::sqlite();
    let (one, other) = (bundle(1, &["TimeoutError"], "First"), bundle(2, &["TimeoutError"], "Second"));
    hub.publish("node_a", &one).expect(200);
    promote(&hub, one.capsule_id());
    let query = "type=Capsule&signals=timeout";
    let ask = || hub.get(&format!("/a2a/assets/search?{query}"));
    let first = ask();
    hub.follow();
    assert!(is_kept_after(&hub, query, ask), "nothing changed since");
    assert_eq!(ask().text, first.text);
    // By an operation.
    hub.publish("node_a", &other).expect(200);
    assert!(!is_kept(&hub, query));
    promote(&hub, other.capsule_id());
    assert_eq!(ask().expect(200)["count"], 2);
    // By anything that writes to the database, and by another process beside the hub.
    hub.follow();
    assert!(is_kept_after(&hub, query, ask));
    let options = capsid_store::StoreOptions::new(&hub.hub.config.data, None).shared();
    let beside = capsid_store::Store::open(&options, START).unwrap();
    beside.write_now(|tx| tx.run("UPDATE assets SET trust_tier = 'delisted'", &[])).unwrap();
    assert!(!is_kept(&hub, query));
    assert_eq!(ask().expect(200)["count"], 0);
    // By a change of the index alone.
    assert!(is_kept_after(&hub, query, ask));
    hub.change_index("DELETE FROM meanings WHERE seq = 1");
    assert!(!is_kept(&hub, query));
}
