//! Taking back what was told, on both databases: nothing of it is left, and nothing of anybody else's goes.

use capsid_model::time::Time;
use capsid_rules::graph::ingest;
use capsid_store::graph::{self, ForgetOutcome, ForgetSelection, ForgetSummary, IngestOutcome, MAX_TOLD};
use capsid_store::work::tasks;
use capsid_store::work::tasks::NewTask;
use capsid_store::{Store, StoreOptions, fsck, params};
use capsid_testkit::postgres::TestPostgres;
use serde_json::{Value, json};

const NOW: Time = Time(1_767_225_600_000);

fn both(test: impl Fn(&Store)) {
    let folder = tempfile::tempdir().unwrap();
    test(&Store::open(&StoreOptions::new(folder.path(), None), NOW).unwrap());
    let database = TestPostgres::database();
    test(&Store::open(&StoreOptions::new(folder.path(), Some(database.url.clone())), NOW).unwrap());
}

#[track_caller]
fn ingest(store: &Store, who: &str, body: &Value) {
    let (told, who) = (ingest::read(body.as_object().unwrap()).unwrap(), who.to_owned());
    let done = store.write_now(move |tx| graph::ingest(tx, &who, &told, MAX_TOLD, NOW)).unwrap();
    store.follow_all(NOW).unwrap();
    assert!(matches!(done, IngestOutcome::Done(_)), "{done:?}");
}

fn forget(store: &Store, who: &str, which: ForgetSelection) -> ForgetOutcome {
    let who = who.to_owned();
    let outcome = store.write_now(move |tx| graph::forget_statements(tx, &who, &which, NOW)).unwrap();
    store.follow_all(NOW).unwrap();
    outcome
}

/// Takes back, and gives how many things, relations, and what was not told.
#[track_caller]
fn gone(store: &Store, who: &str, which: ForgetSelection) -> (usize, usize, usize) {
    match forget(store, who, which) {
        ForgetOutcome::Done(ForgetSummary { entities, relations, not_told }) => {
            (entities, relations, not_told)
        }
        ForgetOutcome::Refused(refusals) => panic!("{refusals:#?}"),
    }
}

fn named(body: &Value) -> ForgetSelection {
    ForgetSelection::Some(ingest::read(body.as_object().unwrap()).unwrap())
}

/// The rows of the graph, which is checked as well, and made again to the same.
#[track_caller]
fn graph_rows(store: &Store) -> String {
    store.follow_all(NOW).unwrap();
    let rows = || store.read_now(graph::dump).unwrap();
    let report = store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap();
    assert!(!report.counts.contains_key("graph_differs"), "{:#?}", report.findings);
    assert!(report.not_compared.is_empty(), "{:?}", report.not_compared);
    let before = rows();
    store.rebuild_index(NOW, &mut |_, _, _| {}).unwrap();
    assert_eq!(before, rows(), "a rebuild changes nothing");
    before
}

fn small() -> Value {
    json!({
        "entities": [
            {"name": "PostgreSQL", "entity_type": "database", "properties": {"version": 16}},
            {"name": "Connection pool", "entity_type": "concept"},
            {"name": "Timeout", "entity_type": "signal"},
        ],
        "relations": [
            {"source_name": "PostgreSQL", "target_name": "Connection pool", "type": "needs", "confidence": 0.9},
            {"source_name": "Connection pool", "target_name": "Timeout", "type": "causes"},
        ],
    })
}

/// A task that asks about the same signal, so that the hub names it too.
fn task(store: &Store) {
    let task = NewTask {
        task_id: "task_1".to_owned(),
        asker: "user:u".to_owned(),
        title: "Mend the upload".to_owned(),
        signals: "timeout,slow".to_owned(),
        expires_at: NOW.0 + 1_000_000,
        ..NewTask::default()
    };
    store.write_now(move |tx| tasks::add(tx, &task, NOW)).unwrap();
}

#[test]
fn everything_goes_and_nothing_of_others() {
    both(|store| {
        task(store);
        let empty = graph_rows(store);
        ingest(store, "node:n2", &small());
        let of_other = graph_rows(store);
        ingest(store, "user:u1", &small());
        ingest(store, "user:u1", &json!({"entities": [{"name": "Only mine", "entity_type": "concept"}]}));
        let counted = store.read_now(|tx| graph::count_statements_by(tx, "user:u1")).unwrap();
        assert_eq!((counted.entities, counted.relations), (4, 2));
        assert_eq!(gone(store, "user:u1", ForgetSelection::Everything), (4, 2, 0));
        assert_eq!(graph_rows(store), of_other);
        assert_eq!(
            gone(store, "user:u1", ForgetSelection::Everything),
            (0, 0, 0),
            "again it changes nothing"
        );
        assert_eq!(gone(store, "user:nobody", ForgetSelection::Everything), (0, 0, 0));
        assert_eq!(graph_rows(store), of_other);
        assert_eq!(gone(store, "node:n2", ForgetSelection::Everything), (3, 2, 0));
        assert_eq!(graph_rows(store), empty, "what the hub says stays");
    });
}

#[test]
fn the_body_of_a_telling_takes_it_back() {
    both(|store| {
        task(store);
        ingest(store, "user:u1", &json!({"entities": [{"name": "Kept", "entity_type": "concept"}]}));
        let before = graph_rows(store);
        ingest(store, "user:u1", &small());
        assert_eq!(gone(store, "node:n2", named(&small())), (0, 0, 5), "another one did not tell it");
        assert_eq!(gone(store, "user:u1", named(&small())), (3, 2, 0));
        assert_eq!(graph_rows(store), before);
        assert_eq!(gone(store, "user:u1", named(&small())), (0, 0, 5));
        assert_eq!(graph_rows(store), before);
    });
}

#[test]
fn some_of_it_goes() {
    both(|store| {
        ingest(store, "user:u1", &small());
        // The thing stays while relations name it; only what was told of it goes.
        let note = json!({"entities": [{"name": "postgresql", "entity_type": "database"},
            {"name": "Unheard of", "entity_type": "database"}]});
        assert_eq!(gone(store, "user:u1", named(&note)), (1, 0, 1));
        let thing =
            store.read_now(|tx| graph::named(tx, Some("database"), "PostgreSQL")).unwrap().pop().unwrap();
        assert_eq!((thing.told, thing.name.as_str()), (1, "postgresql"));
        graph_rows(store);
        // How sure one was does not matter, nor does case; the type of an end may be left out.
        let relation = |kind: &str, target: &str| json!({"relations": [{"source_name": "POSTGRESQL", "target_name": target, "type": kind, "confidence": 0.1}]});
        assert_eq!(gone(store, "user:u1", named(&relation("causes", "connection pool"))), (0, 0, 1));
        assert_eq!(gone(store, "user:u1", named(&relation("needs", "nowhere"))), (0, 0, 1));
        assert_eq!(gone(store, "user:u1", named(&relation("needs", "connection  pool"))), (0, 1, 0));
        assert!(store.read_now(|tx| graph::named(tx, Some("database"), "PostgreSQL")).unwrap().is_empty());
        graph_rows(store);
        assert_eq!(gone(store, "user:u1", ForgetSelection::Everything), (2, 1, 0));
        let left =
            store.read_now(|tx| tx.index()?.count("SELECT COUNT(*) FROM entity_terms", params![])).unwrap();
        assert_eq!(left, 0);
    });
}

#[test]
fn what_may_mean_several_things_is_asked_about() {
    both(|store| {
        ingest(store, "user:u1", &small());
        ingest(store, "node:n2", &json!({"entities": [{"name": "PostgreSQL", "entity_type": "product"}]}));
        let before = graph_rows(store);
        let mut body = json!({
            "entities": [{"name": "Timeout", "entity_type": "signal"}],
            "relations": [{"source_name": "PostgreSQL", "target_name": "Connection pool", "type": "needs"}],
        });
        let ForgetOutcome::Refused(refusals) = forget(store, "user:u1", named(&body)) else { panic!() };
        assert_eq!(
            (refusals[0].code, refusals[0].field.as_str()),
            ("ambiguous_name", "relations[0].source_name")
        );
        assert_eq!(graph_rows(store), before, "a refused call takes nothing back");
        body["relations"][0]["source_type"] = json!("database");
        assert_eq!(gone(store, "user:u1", named(&body)), (1, 1, 0));
    });
}

#[test]
fn much_is_taken_back_in_one_go_and_makes_room() {
    both(|store| {
        let empty = graph_rows(store);
        let thing = |n: usize| json!({"name": format!("thing {n}"), "entity_type": "thing"});
        let relation = |n: usize| {
            json!({"source_name": "thing 0", "source_type": "thing", "target_name": format!("thing {}", n + 1),
                "target_type": "thing", "type": "leads_to"})
        };
        for from in (0..2_400).step_by(800) {
            let things: Vec<Value> = (from..from + 800).map(thing).collect();
            ingest(store, "user:u1", &json!({"entities": things}));
        }
        for from in (0..1_500).step_by(750) {
            let relations: Vec<Value> = (from..from + 750).map(relation).collect();
            ingest(store, "user:u1", &json!({"relations": relations}));
        }
        let more = ingest::read(json!({"entities": [thing(9_999)]}).as_object().unwrap()).unwrap();
        let tell_more = move || {
            let more = more.clone();
            store.write_now(move |tx| graph::ingest(tx, "user:u1", &more, 3_900, NOW)).unwrap()
        };
        let IngestOutcome::Refused(refusals) = tell_more() else { panic!("it is full") };
        assert!(refusals[0].fix.contains("/kg/forget") && refusals[0].fix.contains("graph.most_told"));
        assert_eq!(gone(store, "user:u1", ForgetSelection::Everything), (2_400, 1_500, 0));
        assert_eq!(graph_rows(store), empty);
        assert!(matches!(tell_more(), IngestOutcome::Done(_)));
    });
}
