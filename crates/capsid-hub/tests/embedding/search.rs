//! What is embedded is found by what lies near it.

use super::endpoint::{Endpoint, Mood};
use super::{KEY, SAYING, both, near, nearest, publish, rows, start, state, work, work_all};
use crate::common::{On, TestHub};
use capsid_hub::embedding::EmbedderState;
use capsid_hub::random::SeededRandom;
use capsid_hub::state::{Hub, SharedHub};
use capsid_model::time::Clock;
use capsid_store::assets::id::AssetId;
use capsid_store::{Store, StoreOptions};
use capsid_testkit::wait;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[test]
fn what_says_nearly_the_same_is_found() {
    both(|hub, endpoint| {
        assert!(!work(hub), "nothing is there to do");
        let bundles = [
            publish(hub, 1, "waits longer between two calls"),
            publish(hub, 2, "closes connections to the database"),
            publish(hub, 3, "sorts numbers by hand"),
        ];
        assert_eq!(
            (state(hub).embedded, state(hub).lacking),
            (0, 9),
            "an event counts until it was looked at"
        );
        assert!(work(hub));
        assert_eq!(rows(hub, "words"), (3 * SAYING as i64, 3));
        let [asked] = &endpoint.asked()[..] else { panic!("all fits into one call") };
        assert!(asked.head.starts_with("post /v1/embeddings http/1.1"), "{}", asked.head);
        assert!(asked.head.contains(&format!("authorization: bearer {KEY}")), "{}", asked.head);
        assert_eq!((&*asked.model, asked.texts.len()), ("words", 3 * SAYING));
        let first = "Gene that waits longer between two calls.\nsignal_1";
        assert!(asked.texts.iter().any(|text| text == first), "{asked:?}");
        for (bundle, words) in bundles.iter().zip(["longer calls", "the database closes", "numbers by hand"])
        {
            let found = near(hub, words);
            assert_eq!(
                found.len(),
                found.iter().map(|(id, _)| id).collect::<std::collections::HashSet<_>>().len()
            );
            let ids: Vec<String> = found.iter().take(2).map(|(id, _)| id.to_string()).collect();
            assert!(ids.iter().any(|id| id == bundle.gene_id()), "{words}: {ids:?}");
            assert!(ids.iter().any(|id| id == bundle.capsule_id()), "{words}: {ids:?}");
            assert!(found.windows(2).all(|two| two[0].1 >= two[1].1 && two[1].1 > 0.0), "{found:?}");
            assert_eq!(near(hub, words), found, "the same every time");
        }
        assert_eq!(endpoint.asked().len(), 3, "what was asked is remembered");
        assert_eq!(
            state(hub),
            EmbedderState {
                configured: true,
                model: Some("words".to_owned()),
                dims: Some(64),
                embedded: 6,
                lacking: 0,
                last_error: None,
                ok: true,
            }
        );
        assert!(!work(hub), "a hub at rest writes nothing");
    });
}

#[test]
fn what_is_published_later_is_found_too() {
    both(|hub, _| {
        let first = publish(hub, 1, "repairs a bridge");
        work_all(hub);
        assert_eq!(nearest(hub, "Capsule that repairs a bridge. signal_1"), first.capsule_id());
        let second = publish(hub, 2, "paints the harbour");
        work_all(hub);
        assert_eq!(nearest(hub, "Capsule that paints the harbour. signal_2"), second.capsule_id());
        assert_eq!(nearest(hub, "Capsule that repairs a bridge. signal_1"), first.capsule_id());
    });
}

#[test]
fn nothing_is_sent_anywhere_without_an_endpoint() {
    for on in [On::Sqlite, On::Postgres] {
        let endpoint = Endpoint::start(64);
        let hub = TestHub::start(on, |_| {});
        publish(&hub, 1, "stays at home");
        assert!(!work(&hub));
        hub.runtime.block_on(capsid_hub::jobs::run_now(&hub.hub)).unwrap();
        assert!(near(&hub, "stays at home").is_empty());
        let told = state(&hub);
        assert!(!told.configured && told.ok && told.last_error.is_none(), "{told:?}");
        assert!(endpoint.asked().is_empty());
        assert_eq!(rows(&hub, "words"), (0, 0));
        assert!(!hub.dump().contains("key=\"embeddings\""));
        // The same setting switches it off again.
        let hub = hub.restart_with(|config| {
            config.search.embeddings_model = "words".to_owned();
            config.search.embeddings_key = capsid_hub::config::SecretText(KEY.to_owned());
        });
        assert!(!work(&hub) && near(&hub, "stays at home").is_empty());
    }
}

#[test]
fn questions_that_say_nothing_or_far_too_much_do_no_harm() {
    both(|hub, endpoint| {
        assert!(near(hub, "anything").is_empty());
        assert!(endpoint.asked().is_empty(), "there is nothing to compare it with");
        publish(hub, 1, "answers");
        work_all(hub);
        endpoint.asked();
        for nothing in ["", "  \n\t"] {
            assert!(near(hub, nothing).is_empty());
        }
        assert!(endpoint.asked().is_empty());
        assert!(!near(hub, &"answers 回答 🧬 ".repeat(100_000)).is_empty());
        let asked = endpoint.asked();
        assert!(asked[0].texts[0].encode_utf16().count() <= 2000, "{asked:?}");
    });
}

#[test]
fn batches_are_as_large_as_they_may_be_and_no_larger() {
    for on in [On::Sqlite, On::Postgres] {
        let endpoint = Endpoint::start(16);
        let hub = start(on, &endpoint, |config| config.search.embeddings_batch = 3);
        for n in 0..40 {
            publish(&hub, n, &format!("does number {n}"));
        }
        assert!(work(&hub));
        let asked = endpoint.asked();
        assert_eq!(asked.len(), 20, "others may take the job between two runs");
        work_all(&hub);
        let all: Vec<String> =
            asked.into_iter().chain(endpoint.asked()).flat_map(|asked| asked.texts).collect();
        assert_eq!(all.len(), 40 * SAYING);
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), all.len(), "each once");
        assert_eq!(rows(&hub, "words"), (80, 40));
        assert_eq!(state(&hub).embedded, 80);
    }
}

#[test]
fn what_is_held_back_is_not_sent_until_it_is_released() {
    both(|hub, endpoint| {
        let held = publish(hub, 1, "is held back");
        let set = |status: &'static str| {
            let id = AssetId::parse(held.capsule_id()).unwrap();
            let sql = "UPDATE assets SET status = $2 WHERE asset_id = $1";
            hub.hub.store.write_now(move |tx| tx.run(sql, capsid_store::params![&id, status])).unwrap();
        };
        set("quarantined");
        work_all(hub);
        let sent: Vec<String> = endpoint.asked().into_iter().flat_map(|asked| asked.texts).collect();
        assert_eq!(sent, ["Gene that is held back.\nsignal_1"]);
        set("candidate");
        assert!(!work(hub), "the walk has passed it");
        hub.clock.advance(6 * super::HOUR);
        work_all(hub);
        assert_eq!(endpoint.asked()[0].texts, ["Capsule that is held back.\nsignal_1"]);
        assert_eq!(nearest(hub, "Capsule that is held back. signal_1"), held.capsule_id());
    });
}

#[test]
fn two_hubs_on_one_database_make_each_embedding_once_and_both_find_it() {
    let endpoint = Endpoint::start(64);
    let hub = start(On::Postgres, &endpoint, |config| config.search.embeddings_batch = 2);
    let other = beside(&hub);
    for n in 0..12 {
        publish(&hub, n, &format!("does number {n}"));
    }
    for _ in 0..20 {
        hub.clock.advance(1_000);
        hub.runtime.block_on(async {
            tokio::join!(capsid_hub::jobs::run_due(&hub.hub), capsid_hub::jobs::run_due(&other))
        });
    }
    let sent: Vec<String> = endpoint.asked().into_iter().flat_map(|asked| asked.texts).collect();
    assert_eq!(sent.len(), 12 * SAYING, "{sent:?}");
    for hub_of in [&hub.hub, &other] {
        let found = hub.runtime.block_on(hub_of.embedder.find_near("Gene that does number 7"));
        assert!(found.len() >= 2, "{found:?}");
    }
}

#[test]
fn a_running_hub_makes_them_by_itself_and_ends_in_time() {
    for on in [On::Sqlite, On::Postgres] {
        let endpoint = Endpoint::start(64);
        let hub = start(on, &endpoint, |config| config.search.embeddings_timeout_ms = 60_000);
        publish(&hub, 1, "is made by itself");
        hub.runtime.block_on(async {
            let running = tokio::spawn(capsid_hub::jobs::run(Arc::clone(&hub.hub)));
            wait::until_async("the embedding is made", Duration::from_secs(60), async || {
                !hub.hub.embedder.find_near("is made by itself").await.is_empty()
            })
            .await;
            endpoint.is(Mood::Never);
            endpoint.asked();
            tokio::task::block_in_place(|| publish_beside(&hub));
            wait::until_async("the endpoint is asked again", Duration::from_secs(60), async || {
                hub.clock.advance(1_000);
                !endpoint.asked().is_empty()
            })
            .await;
            let began = Instant::now();
            hub.hub.close();
            running.await.unwrap();
            assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        });
    }
}

/// Publishes from within a running test.
fn publish_beside(hub: &TestHub) {
    std::thread::scope(|scope| {
        scope.spawn(|| publish(hub, 2, "is not made in time"));
    });
}

/// Another hub on the same database.
fn beside(hub: &TestHub) -> SharedHub {
    let config = hub.hub.config.clone();
    let options =
        StoreOptions { readers: 1, writers: 1, ..StoreOptions::new(&config.data, config.database.clone()) };
    let store = Store::open(&options, hub.clock.now()).unwrap();
    let clock = Arc::clone(&hub.clock) as Arc<dyn Clock>;
    Hub::new(store, config, clock, Arc::new(SeededRandom::new(7))).unwrap()
}
