//! Whatever the endpoint does, searches go on, and once it works again everything is made up for.

use super::endpoint::{Endpoint, Mood};
use super::{
    HOUR, KEY, MINUTE, SAYING, both, near, nearest, on_sqlite, publish, rows, start, state, work, work_all,
};
use crate::common::{On, TestHub};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const FAILURES: [(Mood, &str); 20] = [
    (Mood::Status(500), "endpoint_failing"),
    (Mood::Status(503), "endpoint_failing"),
    (Mood::Status(400), "text_refused"),
    (Mood::Status(401), "key_refused"),
    (Mood::Status(403), "key_refused"),
    (Mood::Status(404), "not_found"),
    (Mood::Busy("60"), "rate_limited"),
    (Mood::Redirect, "redirect_not_followed"),
    (Mood::Never, "timeout"),
    (Mood::Reset, "no_answer"),
    (Mood::CutShort, "answer_cut_short"),
    (Mood::Huge, "answer_too_long"),
    (Mood::Garbage, "unreadable_answer"),
    (Mood::WrongDims, "wrong_dimensions"),
    (Mood::WrongCount, "wrong_count"),
    (Mood::SameIndex, "wrong_indexes"),
    (Mood::NaN, "unreadable_answer"),
    (Mood::Null, "unusable_numbers"),
    (Mood::Infinite, "unusable_numbers"),
    (Mood::Zero, "unusable_numbers"),
];

fn searches_work(hub: &TestHub, words: &str) {
    hub.get(&format!("/a2a/assets/semantic-search?q={}", words.replace(' ', "+"))).expect(200);
}

#[test]
fn every_failure_leaves_searches_working_and_is_recovered_from() {
    both(|hub, endpoint| {
        publish(hub, 0, "was there before");
        work_all(hub);
        let mut embedded = SAYING as i64;
        for (n, (mood, code)) in FAILURES.iter().enumerate() {
            println!("{mood:?}");
            endpoint.is(mood.clone());
            let bundle = publish(hub, 1 + n as u64, &format!("came with trouble number {n}"));
            assert!(work(hub), "it is tried");
            let told = state(hub);
            assert_eq!((told.last_error, told.ok), (Some(*code), false), "{mood:?}");
            assert_eq!((told.embedded, rows(hub, "words").0), (embedded, embedded), "{mood:?}");
            assert_eq!(told.lacking, 2, "{mood:?}");
            assert!(!work(hub), "{mood:?}: it is left alone for a while");
            let began = Instant::now();
            assert!(near(hub, &format!("question number {n}")).is_empty(), "{mood:?}");
            assert!(began.elapsed() < Duration::from_secs(20), "{mood:?}");
            searches_work(hub, "trouble number");
            endpoint.is(Mood::Well);
            hub.clock.advance(11 * MINUTE);
            work_all(hub);
            embedded += SAYING as i64;
            assert_eq!(rows(hub, "words").0, embedded, "{mood:?}");
            let told = format!("Capsule that came with trouble number {n}. signal_{}", n + 1);
            assert_eq!(nearest(hub, &told), bundle.capsule_id(), "{mood:?}");
            let after = state(hub);
            assert!(after.ok && after.last_error.is_none(), "{mood:?}: {after:?}");
        }
        let metrics = hub.hub.telemetry.text();
        for told in [
            r#"capsid_hub_embedding_calls_total{for="texts",outcome="made"}"#,
            r#"capsid_hub_embedding_calls_total{for="question",outcome="timeout"} 1"#,
            &format!("capsid_hub_embeddings_loaded {embedded}"),
        ] {
            assert!(metrics.contains(told), "{told} in {metrics}");
        }
    });
}

#[test]
fn an_endpoint_that_is_not_there_is_waited_for_longer_each_time() {
    on_sqlite(|hub, endpoint| {
        publish(hub, 1, "waits here");
        endpoint.is(Mood::Status(404));
        let mut tries = Vec::new();
        for second in (0..600).step_by(5) {
            if work(hub) {
                tries.push(second);
            }
            hub.clock.advance(4_000);
        }
        assert!((4..12).contains(&tries.len()), "{tries:?}");
        assert!(
            tries[1] - tries[0] >= 5 && tries.last().unwrap() - tries[tries.len() - 2] >= 80,
            "{tries:?}"
        );
        endpoint.is(Mood::Well);
        hub.clock.advance(10 * MINUTE);
        work_all(hub);
        assert_eq!(rows(hub, "words"), (SAYING as i64, 1));
    });
}

#[test]
fn an_endpoint_that_says_when_to_come_back_is_left_alone_until_then() {
    on_sqlite(|hub, endpoint| {
        publish(hub, 0, "is there");
        work_all(hub);
        endpoint.is(Mood::Busy("120"));
        publish(hub, 1, "waits here");
        assert!(work(hub));
        assert!(near(hub, "a question").is_empty());
        endpoint.is(Mood::Well);
        endpoint.asked();
        hub.clock.advance(110_000);
        assert!(!work(hub) && near(hub, "a question").is_empty());
        assert!(endpoint.asked().is_empty());
        hub.clock.advance(10_000);
        assert!(work(hub) && !near(hub, "a question that is there").is_empty());
        // Nobody can ask for more than ten minutes.
        endpoint.is(Mood::Busy("99999999"));
        publish(hub, 2, "waits too");
        assert!(work(hub));
        endpoint.is(Mood::Well);
        hub.clock.advance(10 * MINUTE);
        assert!(work(hub));
    });
}

#[test]
fn a_question_is_not_asked_for_half_a_minute_after_one_that_failed() {
    on_sqlite(|hub, endpoint| {
        publish(hub, 1, "is there");
        work_all(hub);
        endpoint.asked();
        for outage in [Mood::Status(503), Mood::Never, Mood::Busy("1"), Mood::Status(401)] {
            println!("{outage:?}");
            endpoint.is(outage);
            assert!(near(hub, "is it there").is_empty());
            assert!(!state(hub).ok);
            endpoint.is(Mood::Well);
            assert!(near(hub, "is it there").is_empty());
            hub.clock.advance(29_999);
            assert!(near(hub, "is something else there").is_empty());
            assert_eq!(endpoint.asked().len(), 1);
            hub.clock.advance(1);
            let other = format!("is it there {}", hub.hub.now().0);
            assert!(!near(hub, &other).is_empty());
            assert!(state(hub).ok && endpoint.asked().len() == 1);
        }
    });
}

#[test]
fn a_question_that_is_not_taken_is_nobody_elses_trouble() {
    let moods =
        [Mood::Status(400), Mood::Status(500), Mood::Status(403), Mood::Reset, Mood::Garbage, Mood::Zero];
    on_sqlite(|hub, endpoint| {
        publish(hub, 1, "is there");
        work_all(hub);
        for (n, mood) in moods.clone().into_iter().enumerate() {
            println!("{mood:?}");
            endpoint.chokes_on("poison", mood);
            endpoint.asked();
            let (odd, plain) =
                (format!("poison that is there {n}"), |m: usize| format!("is it there {n} {m}"));
            for _ in 0..3 {
                assert!(near(hub, &odd).is_empty());
            }
            assert_eq!(endpoint.asked().len(), 1, "it is asked once");
            assert!(!near(hub, &plain(0)).is_empty() && state(hub).ok);
            // However many others it does not take: a plain text tells that it works.
            for m in 0..20 {
                assert!(near(hub, &format!("poison is there {n} {m}")).is_empty());
            }
            assert!(!near(hub, &plain(1)).is_empty() && state(hub).ok);
            assert!((22..=30).contains(&endpoint.asked().len()));
            // It is asked again after half a minute, then after a minute.
            hub.clock.advance(30_000);
            assert!(near(hub, &odd).is_empty() && near(hub, &odd).is_empty());
            hub.clock.advance(59_999);
            assert!(near(hub, &odd).is_empty());
            assert_eq!(endpoint.asked().len(), 1);
            endpoint.chokes_on("nothing of the sort", Mood::Well);
            hub.clock.advance(1);
            assert!(!near(hub, &odd).is_empty());
        }
    });
}

#[test]
fn an_endpoint_that_fails_for_several_questions_in_a_row_is_left_alone() {
    on_sqlite(|hub, endpoint| {
        publish(hub, 1, "is there");
        work_all(hub);
        endpoint.asked();
        endpoint.is(Mood::Status(500));
        for n in 0..10 {
            assert!(near(hub, &format!("is it there {n}")).is_empty());
        }
        assert_eq!(endpoint.asked().len(), 4, "three questions and a plain text");
        assert_eq!(state(hub).last_error, Some("endpoint_failing"));
        endpoint.is(Mood::Well);
        hub.clock.advance(30_000);
        assert!(!near(hub, "is it there 9").is_empty() && state(hub).ok);
    });
}

#[test]
fn a_text_that_is_not_taken_keeps_no_other_waiting() {
    let moods = [
        Mood::Status(400),
        Mood::Status(422),
        Mood::Status(403),
        Mood::Status(500),
        Mood::NaN,
        Mood::Null,
        Mood::Zero,
        Mood::Garbage,
    ];
    on_sqlite(|hub, endpoint| {
        for (n, mood) in moods.iter().enumerate() {
            let word =
                ["poison0", "poison1", "poison2", "poison3", "poison4", "poison5", "poison6", "poison7"][n];
            endpoint.chokes_on(word, mood.clone());
            let n = 10 * n as u64;
            publish(hub, n, "is fine");
            publish(hub, n + 1, word);
            let last = publish(hub, n + 2, &format!("comes after it as {n}"));
            let before = rows(hub, "words");
            work_all(hub);
            let after = rows(hub, "words");
            assert_eq!((after.0 - before.0, after.1 - before.1), (4, 3 + 2), "{mood:?}");
            assert_eq!(
                nearest(hub, &format!("Capsule that comes after it as {n}. signal_{}", n + 2)),
                last.capsule_id()
            );
            assert!(state(hub).ok && state(hub).lacking == 0, "{mood:?}");
        }
    });
}

#[test]
fn a_text_that_is_not_taken_is_asked_again_after_longer_and_longer() {
    on_sqlite(|hub, endpoint| {
        endpoint.chokes_on("poison", Mood::Status(500));
        publish(hub, 1, "is fine");
        let odd = publish(hub, 2, "is poison");
        work_all(hub);
        let about = |asked: Vec<super::endpoint::EmbeddingRequest>| {
            asked.iter().any(|asked| asked.texts.iter().any(|text| text.contains("Capsule that is poison")))
        };
        endpoint.asked();
        let mut hours = Vec::new();
        for hour in (0..24 * 12).step_by(6) {
            hub.clock.advance(6 * HOUR);
            work_all(hub);
            if about(endpoint.asked()) {
                hours.push(hour);
            }
        }
        // After 6 to 12 hours, 12 to 24 more, 24 to 48 and so on; a walk comes by every six hours.
        assert!((4..=5).contains(&hours.len()), "{hours:?}");
        assert!(hours.last().unwrap() - hours[hours.len() - 2] > hours[1] - hours[0], "{hours:?}");
        assert_eq!((rows(hub, "words"), state(hub).ok), ((SAYING as i64, 2 + SAYING as i64), true));
        // Once it is taken, it is found.
        endpoint.chokes_on("nothing of the sort", Mood::Well);
        hub.clock.advance(31 * 24 * HOUR);
        work_all(hub);
        assert_eq!(rows(hub, "words"), (2 * SAYING as i64, 2));
        assert_eq!(nearest(hub, "Capsule that is poison. signal_2"), odd.capsule_id());
    });
}

#[test]
fn a_text_that_takes_too_long_is_found_out_and_set_aside() {
    for mood in [Mood::Never, Mood::Status(503)] {
        println!("{mood:?}");
        let endpoint = Endpoint::start(64);
        let hub = start(On::Sqlite, &endpoint, |config| config.search.embeddings_batch = 4);
        endpoint.chokes_on("poison", mood);
        publish(&hub, 1, "is poison");
        let last = publish(&hub, 2, "comes after it");
        for _ in 0..8 {
            work_all(&hub);
            hub.clock.advance(11 * MINUTE);
        }
        assert_eq!(rows(&hub, "words"), (SAYING as i64, 2 + SAYING as i64));
        assert_eq!(nearest(&hub, "Capsule that comes after it. signal_2"), last.capsule_id());
        assert!(state(&hub).ok && state(&hub).lacking == 0);
    }
}

#[test]
fn many_texts_that_are_not_taken_keep_no_other_waiting_either() {
    on_sqlite(|hub, endpoint| {
        endpoint.chokes_on("poison", Mood::Status(500));
        for n in 0..12 {
            publish(hub, n, "is poison");
        }
        let last = publish(hub, 12, "comes after them");
        work_all(hub);
        assert_eq!(rows(hub, "words"), (SAYING as i64, 13 + 12 * SAYING as i64));
        assert_eq!(nearest(hub, "Capsule that comes after them. signal_12"), last.capsule_id());
        assert!(state(hub).ok && state(hub).lacking == 0);
    });
}

#[test]
fn an_endpoint_that_takes_no_text_at_all_condemns_none() {
    on_sqlite(|hub, endpoint| {
        endpoint.is(Mood::Status(400));
        publish(hub, 1, "is fine");
        for _ in 0..5 {
            work(hub);
            hub.clock.advance(11 * MINUTE);
        }
        assert_eq!(rows(hub, "words").0, 0);
        endpoint.is(Mood::Well);
        work_all(hub);
        assert_eq!(rows(hub, "words"), (SAYING as i64, 1));
    });
}

#[test]
fn a_single_embedding_of_another_length_spoils_nothing() {
    on_sqlite(|hub, endpoint| {
        publish(hub, 1, "is fine");
        work_all(hub);
        endpoint.is(Mood::MixedDims);
        publish(hub, 2, "comes with trouble");
        assert!(work(hub));
        assert_eq!((rows(hub, "words").0, state(hub).last_error), (SAYING as i64, Some("wrong_dimensions")));
        endpoint.is(Mood::Well);
        hub.clock.advance(11 * MINUTE);
        work_all(hub);
        assert_eq!(rows(hub, "words"), (2 * SAYING as i64, 2));
    });
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_key_is_shown_to_the_endpoint_and_nobody_else() {
    let lines = Lines::default();
    let into = lines.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || into.clone())
        .init();
    let endpoint = Endpoint::start(64);
    let hub = start(On::Sqlite, &endpoint, |_| {});
    publish(&hub, 1, "is fine");
    work_all(&hub);
    for mood in [Mood::Status(401), Mood::Status(500), Mood::Never, Mood::Garbage] {
        endpoint.is(mood);
        publish(&hub, 2, "is not");
        work(&hub);
        near(&hub, "a question");
        hub.clock.advance(11 * MINUTE);
    }
    assert!(endpoint.asked().iter().all(|asked| asked.head.contains(KEY)));
    let told = [hub.dump(), hub.hub.telemetry.text(), format!("{:?} {:?}", hub.hub.config, state(&hub))];
    assert!(told.iter().all(|text| !text.contains(KEY)));
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("the endpoint for embeddings cannot be used"), "{log}");
    assert!(!log.contains(KEY), "the key is in the log");
}

#[test]
fn an_outage_is_told_once() {
    let lines = Lines::default();
    let into = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || into.clone()).finish();
    let endpoint = Endpoint::start(64);
    let hub = start(On::Sqlite, &endpoint, |_| {});
    publish(&hub, 1, "is fine");
    endpoint.is(Mood::Status(503));
    // What is waited for with `block_on` runs on this thread.
    tracing::subscriber::with_default(subscriber, || {
        for _ in 0..5 {
            assert!(work(&hub));
            hub.clock.advance(11 * MINUTE);
        }
        endpoint.is(Mood::Well);
        work_all(&hub);
    });
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.matches("cannot be used").count(), 1, "{log}");
    assert_eq!(log.matches("works again").count(), 1, "{log}");
}
