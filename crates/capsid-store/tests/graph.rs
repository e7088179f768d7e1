//! The graph on both databases: what is told is kept once, what is asked stays within bounds, and what is hostile leaves
//! nothing behind.

use capsid_model::time::Time;
use capsid_rules::graph::ingest::{self, IngestRefusal};
use capsid_rules::meaning::SemanticQuestion;
use capsid_store::graph::{
    self, Entity, IngestOutcome, IngestSummary, MAX_TOLD, OwnGraphCursor, PathStep, WalkBounds,
};
use capsid_store::work::tasks;
use capsid_store::work::tasks::NewTask;
use capsid_store::{Store, StoreOptions, params};
use capsid_testkit::postgres::TestPostgres;
use serde_json::{Value, json};

const NOW: Time = Time(1_767_225_600_000);

fn both(test: impl Fn(&Store)) {
    let folder = tempfile::tempdir().unwrap();
    test(&Store::open(&StoreOptions::new(folder.path(), None), NOW).unwrap());
    let database = TestPostgres::database();
    test(&Store::open(&StoreOptions::new(folder.path(), Some(database.url.clone())), NOW).unwrap());
}

fn tell_as(store: &Store, who: &str, body: &Value, most: i64, now: Time) -> IngestOutcome {
    let told = match ingest::read(body.as_object().unwrap()) {
        Ok(told) => told,
        Err(refusals) => return IngestOutcome::Refused(refusals),
    };
    let who = who.to_owned();
    let outcome = store.write_now(move |tx| graph::ingest(tx, &who, &told, most, now)).unwrap();
    store.follow_all(now).unwrap();
    outcome
}

#[track_caller]
fn ingest(store: &Store, body: &Value) -> IngestSummary {
    match tell_as(store, "user:u1", body, MAX_TOLD, NOW) {
        IngestOutcome::Done(done) => done,
        IngestOutcome::Refused(refusals) => panic!("{refusals:#?}"),
    }
}

#[track_caller]
fn refused(store: &Store, body: &Value) -> Vec<IngestRefusal> {
    let before = graph_dump(store);
    let refused = match tell_as(store, "user:u1", body, MAX_TOLD, NOW) {
        IngestOutcome::Done(done) => panic!("{done:?}"),
        IngestOutcome::Refused(refusals) => refusals,
    };
    assert_eq!(graph_dump(store), before, "a refused call leaves nothing behind");
    refused
}

fn graph_dump(store: &Store) -> String {
    store.follow_all(NOW).unwrap();
    store.read_now(graph::dump).unwrap()
}

fn named(store: &Store, kind: &str, name: &str) -> Entity {
    let (kind, name) = (kind.to_owned(), name.to_owned());
    let mut found = store.read_now(move |tx| graph::named(tx, Some(&kind), &name)).unwrap();
    found.pop().unwrap()
}

fn path(store: &Store, from: &Entity, to: &Entity, depth: usize) -> Option<Vec<PathStep>> {
    let (from, to) = (from.id, to.id);
    let bounds = WalkBounds { depth, fan_out: 50, most: 10_000 };
    store.read_now(move |tx| graph::path(tx, from, to, bounds)).unwrap()
}

fn small() -> Value {
    json!({
        "entities": [
            {"name": "PostgreSQL", "entity_type": "database", "properties": {"version": 16}},
            {"name": "Connection pool", "entity_type": "concept"},
            {"name": "TimeoutError", "entity_type": "signal"},
        ],
        "relations": [
            {"source_name": "postgresql", "target_name": "connection  POOL", "type": "NEEDS", "confidence": 0.9},
            {"source_name": "connection pool", "target_name": "timeout_error", "type": "causes"},
        ],
    })
}

fn task(store: &Store, n: usize, signals: &str) {
    let task = NewTask {
        task_id: format!("task_{n}"),
        asker: "user:u".to_owned(),
        title: format!("Repair the flaky upload number {n}"),
        signals: signals.to_owned(),
        expires_at: NOW.0 + 1_000_000,
        ..NewTask::default()
    };
    store.write_now(move |tx| tasks::add(tx, &task, NOW)).unwrap();
}

#[test]
fn telling_twice_changes_nothing() {
    both(|store| {
        let first = ingest(store, &small());
        assert_eq!((first.entities, first.relations, first.added, first.unchanged), (3, 2, 5, 0));
        let dump = graph_dump(store);
        let later = Time(NOW.0 + 5);
        let IngestOutcome::Done(again) = tell_as(store, "user:u1", &small(), MAX_TOLD, later) else {
            panic!()
        };
        assert_eq!((again.added, again.changed, again.unchanged), (0, 0, 5));
        assert_eq!(graph_dump(store), dump);
        // What the same teller tells otherwise takes the place of what it told before.
        let mut other = small();
        other["entities"][0]["properties"]["version"] = json!(17);
        other["relations"][0]["confidence"] = json!(0.2);
        let changed = ingest(store, &other);
        assert_eq!((changed.added, changed.changed, changed.unchanged), (0, 2, 3));
        // Another teller's word is its own.
        let IngestOutcome::Done(second) = tell_as(store, "node:n2", &small(), MAX_TOLD, later) else {
            panic!()
        };
        assert_eq!(second.added, 5);
        let thing = named(store, "database", "postgresql");
        assert_eq!((thing.name.as_str(), thing.told, thing.mentions), ("PostgreSQL", 4, 0));
        let rebuilt = graph_dump(store);
        store.rebuild_index(NOW, &mut |_, _, _| {}).unwrap();
        assert_eq!(graph_dump(store), rebuilt, "what was told stays");
    });
}

#[test]
fn what_somebody_told_is_listed_in_pages() {
    both(|store| {
        ingest(store, &small());
        let (mut mark, mut notes, mut relations) = (OwnGraphCursor::default(), 0, 0);
        for _ in 0..9 {
            let page = store.read_now(move |tx| graph::mine(tx, "user:u1", mark, 1)).unwrap();
            notes += page.notes.len();
            relations += page.relations.len();
            let Some(next) = page.next else { break };
            mark = next;
        }
        assert_eq!((notes, relations), (3, 2));
        let whole = store.read_now(|tx| graph::mine(tx, "user:u1", OwnGraphCursor::default(), 100)).unwrap();
        assert!(whole.next.is_none() && whole.entities.len() == 3);
        let none = store.read_now(|tx| graph::mine(tx, "user:u2", OwnGraphCursor::default(), 100)).unwrap();
        assert!(none.notes.is_empty() && none.relations.is_empty());
    });
}

#[test]
fn names_that_mean_nothing_or_too_much_are_refused() {
    both(|store| {
        ingest(store, &small());
        task(store, 1, "timeout");
        let relation = |source: &str, target: &str| json!({"relations": [{"source_name": source, "target_name": target, "type": "uses"}]});
        let code = |body: &Value| refused(store, body)[0].code;
        assert_eq!(code(&relation("PostgreSQL", "nobody")), "unknown_name");
        assert_eq!(code(&relation("PostgreSQL", " postgresql")), "self_relation");
        ingest(store, &json!({"entities": [{"name": "PostgreSQL", "entity_type": "product"}]}));
        let ambiguous = refused(store, &relation("PostgreSQL", "connection pool"));
        assert_eq!(ambiguous[0].code, "ambiguous_name");
        assert!(ambiguous[0].problem.contains("`database`, `product`"), "{ambiguous:?}");
        assert!(ambiguous[0].fix.contains("source_type"), "{ambiguous:?}");
        for kind in ["gene", "capsule", "event", "node", "task"] {
            let invented = json!({"entities": [{"name": "sha256:00", "entity_type": kind}]});
            assert_eq!(code(&invented), "unknown_thing", "{kind}");
        }
        // A task that is there may be told of.
        ingest(
            store,
            &json!({"relations": [{"source_name": "task_1", "source_type": "task",
            "target_name": "connection pool", "type": "asks_about"}]}),
        );
        // In a call that has one bad item nothing else is kept.
        let mut mixed = small();
        mixed["entities"][0]["name"] = json!("Something new");
        mixed["relations"][1]["target_name"] = json!("nobody");
        refused(store, &mixed);
    });
}

#[test]
fn names_that_look_like_others_are_refused() {
    both(|store| {
        ingest(
            store,
            &json!({"entities": [{"name": "scope", "entity_type": "tool"}, {"name": "modem", "entity_type": "tool"}]}),
        );
        task(store, 1, "timeout,access");
        let told = |name: &str, kind: &str| json!({"entities": [{"name": name, "entity_type": kind}]});
        // All letters are Cyrillic, so the scripts are not mixed.
        assert_eq!(refused(store, &told("ѕсоре", "tool"))[0].code, "confusable_name");
        ingest(store, &told("ѕсоре", "word"));
        ingest(store, &told("modern", "tool"));
        // Neither may a name look like what the hub itself names.
        assert_eq!(named(store, "signal", "access").told, 0);
        assert_eq!(refused(store, &told("ассеѕѕ", "signal"))[0].code, "confusable_name");
        assert_eq!(refused(store, &told("tіmeоut", "signal"))[0].code, "mixed_scripts");
    });
}

#[test]
fn nobody_fills_the_graph() {
    both(|store| {
        let IngestOutcome::Refused(refusals) = tell_as(store, "user:u1", &small(), 4, NOW) else { panic!() };
        assert_eq!(refusals[0].code, "graph_full");
        assert!(matches!(tell_as(store, "user:u1", &small(), 5, NOW), IngestOutcome::Done(_)));
        // What is there already may be told again.
        assert!(matches!(tell_as(store, "user:u1", &small(), 5, NOW), IngestOutcome::Done(_)));
    });
}

fn told_things(count: usize) -> Vec<Value> {
    (0..count).map(|n| json!({"name": format!("thing {n}"), "entity_type": "thing"})).collect()
}

fn told_relation(from: usize, to: usize) -> Value {
    json!({"source_name": format!("thing {from}"), "source_type": "thing", "target_name": format!("thing {to}"),
        "target_type": "thing", "type": "next", "confidence": 0.5})
}

/// Things in a ring.
fn ingest_ring(store: &Store, count: usize) {
    let things: Vec<Value> = told_things(count);
    for some in things.chunks(1000) {
        ingest(store, &json!({"entities": some}));
    }
    let relations: Vec<Value> = (0..count).map(|n| told_relation(n, (n + 1) % count)).collect();
    for some in relations.chunks(1000) {
        ingest(store, &json!({"relations": some}));
    }
}

#[test]
fn a_walk_around_a_star_stays_within_bounds() {
    both(|store| {
        let things = told_things(1_501);
        for some in things.chunks(1000) {
            ingest(store, &json!({"entities": some}));
        }
        let relations: Vec<Value> = (1..=1_500).map(|n| told_relation(0, n)).collect();
        for some in relations.chunks(1000) {
            ingest(store, &json!({"relations": some}));
        }
        let middle = named(store, "thing", "thing 0").id;
        let walk = |ids: Vec<i64>, bounds: WalkBounds| {
            store.read_now(move |tx| graph::walk(tx, &ids, bounds)).unwrap().steps
        };
        assert_eq!(walk(vec![middle], WalkBounds { depth: 3, fan_out: 20, most: 500 }).len(), 20);
        assert_eq!(walk(vec![middle], WalkBounds { depth: 2, fan_out: 9_999, most: 300 }).len(), 300);
        let leaf = named(store, "thing", "thing 77").id;
        let steps = walk(vec![leaf], WalkBounds { depth: 2, fan_out: 10, most: 500 });
        assert!((11..=12).contains(&steps.len()) && steps[0].depth == 1 && steps[5].depth == 2);
        assert!(walk(vec![], WalkBounds { depth: 2, fan_out: 10, most: 500 }).is_empty());
        assert!(walk(vec![12345], WalkBounds { depth: 2, fan_out: 10, most: 500 }).is_empty());
        let degrees = store.read_now(move |tx| graph::degrees(tx, &[middle, leaf])).unwrap();
        assert_eq!((degrees[&middle], degrees[&leaf]), (1_000, 1));
    });
}

#[test]
fn a_way_round_a_ring_is_the_shorter_one() {
    both(|store| {
        ingest_ring(store, 40);
        let thing = |n: usize| named(store, "thing", &format!("thing {n}"));
        let way = path(store, &thing(0), &thing(5), 6).unwrap();
        let names: Vec<&str> = way.iter().map(|hop| hop.to.name.as_str()).collect();
        assert_eq!(names, ["thing 1", "thing 2", "thing 3", "thing 4", "thing 5"]);
        assert!(way.iter().all(|hop| hop.relation.source == hop.from.id));
        let back = path(store, &thing(2), &thing(39), 6).unwrap();
        assert_eq!(back.len(), 3);
        assert!(back.iter().all(|hop| hop.relation.target == hop.from.id), "against the arrows");
        assert!(path(store, &thing(0), &thing(20), 19).is_none());
        assert_eq!(path(store, &thing(0), &thing(20), 20).unwrap().len(), 20);
        assert!(path(store, &thing(3), &thing(3), 6).unwrap().is_empty());
        // Of two ways that are as short the surer one is taken.
        ingest(
            store,
            &json!({"relations": [
            {"source_name": "thing 0", "target_name": "thing 9", "type": "sure", "confidence": 1.0},
            {"source_name": "thing 9", "target_name": "thing 2", "type": "sure", "confidence": 1.0}]}),
        );
        let sure = path(store, &thing(0), &thing(2), 6).unwrap();
        assert_eq!(sure[0].to.name, "thing 9");
    });
}

#[test]
fn a_walk_round_a_ring_comes_to_its_end() {
    both(|store| {
        ingest_ring(store, 30);
        let start = named(store, "thing", "thing 0").id;
        let bounds = WalkBounds { depth: 50, fan_out: 5, most: 1_000 };
        let steps = store.read_now(move |tx| graph::walk(tx, &[start], bounds)).unwrap().steps;
        assert_eq!((steps.len(), steps.last().unwrap().depth), (30, 15));
    });
}

#[test]
fn things_are_found_by_what_they_are_called() {
    both(|store| {
        ingest(store, &small());
        task(store, 1, "upload_failed,slow");
        store.follow_all(NOW).unwrap();
        let find = |words: &str, kinds: &[&str]| {
            let question = SemanticQuestion::parse(words, &[]);
            let kinds: Vec<String> = kinds.iter().map(|&kind| kind.to_owned()).collect();
            let found = store.read_now(move |tx| graph::matching(tx, &question, &kinds, 5)).unwrap();
            found.into_iter().map(|(thing, ..)| thing.name).collect::<Vec<_>>()
        };
        assert_eq!(find("why does the connection pool starve", &[])[0], "Connection pool");
        assert_eq!(find("timeout", &[])[0], "timeout_error");
        assert_eq!(find("flaky upload", &["task"]), ["Repair the flaky upload number 1"]);
        assert!(find("", &[]).is_empty() && find("zebra", &[]).is_empty());
        let by_name = store.read_now(|tx| graph::named(tx, None, "UPLOAD_FAILED")).unwrap();
        assert_eq!((by_name[0].kind.as_str(), by_name[0].mentions), ("signal", 1));
    });
}

#[test]
fn what_is_called_exactly_as_asked_is_found_among_many() {
    both(|store| {
        let others: Vec<Value> = (0..1_200)
            .map(|n| json!({"name": format!("replica election {n}"), "entity_type": "concept"}))
            .collect();
        for some in others.chunks(600) {
            ingest(store, &json!({"entities": some}));
        }
        // Names whose numbers are spread over all there are: by chance alone not each would be among the first.
        let names = ["Replica election", "replica_election", "replica-election", "election replica"];
        for (at, name) in names.iter().enumerate() {
            ingest(store, &json!({"entities": [{"name": name, "entity_type": format!("kind_{at}")}]}));
        }
        let question = SemanticQuestion::parse("what about the replica election", &[]);
        let found = store.read_now(move |tx| graph::matching(tx, &question, &[], 4)).unwrap();
        let mut found: Vec<String> = found.into_iter().map(|(thing, ..)| thing.name).collect();
        found.sort();
        assert_eq!(found, ["Replica election", "election replica", "replica-election", "replica_election"]);
    });
}

#[test]
fn tasks_leave_with_their_things() {
    both(|store| {
        let empty = graph_dump(store);
        task(store, 1, "upload_failed,slow");
        assert_ne!(graph_dump(store), empty);
        let counts = store.read_now(graph::counts).unwrap();
        assert_eq!((counts.entities["signal"], counts.relations["asks_about"]), (2, 2));
        store
            .write_now(|tx| tx.run("UPDATE tasks SET status = 'expired', expires_at = 0", params![]))
            .unwrap();
        let much_later = Time(NOW.0 + 400 * 86_400_000);
        store.write_now(move |tx| tasks::cleanup::delete_unpaid(tx, much_later)).unwrap();
        assert_eq!(graph_dump(store), empty);
    });
}
