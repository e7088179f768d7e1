//! A hub from before the graph had a file of its own keeps what it was told.

use crate::db::migrate;
use crate::graph::{self, ForgetOutcome, ForgetSelection, ForgetSummary};
use crate::{Store, StoreOptions};
use capsid_model::time::Time;
use capsid_rules::graph::names::entity_id;
use capsid_rules::graph::sum::relation_id;

const NOW: Time = Time(1_767_225_600_000);

#[test]
fn what_an_older_hub_was_told_is_kept_and_found() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new(folder.path(), None);
    let file = options.file();
    migrate::sqlite_before(&file, "20261119-graph-index");
    let (database, pool) = (entity_id("database", "postgresql"), entity_id("concept", "connection pool"));
    let relation = relation_id(database, "needs", pool, "user:u1", true);
    rusqlite::Connection::open(&file)
        .unwrap()
        .execute_batch(&format!(
            "INSERT INTO graph_entities (id, kind, key, looks, mentions, told)
                VALUES ({database}, 'database', 'postgresql', 1, 0, 2), ({pool}, 'concept', 'connection pool', 2, 0, 1);
             INSERT INTO graph_words (term, entity) VALUES ('m_postgresql', {database});
             INSERT INTO graph_notes (entity, said_by, name, properties, confidence, said_at)
                VALUES ({database}, 'user:u1', 'PostgreSQL', '{{\"version\":16}}', 0.5, 7);
             INSERT INTO graph_property_words (term, entity, said_by) VALUES ('m_version', {database}, 'user:u1');
             INSERT INTO graph_relations (id, source, kind, target, said_by, said_at, confidence, claims, is_told, lane)
                VALUES ({relation}, {database}, 'needs', {pool}, 'user:u1', 7, 0.9, 1, 1, 99);"
        ))
        .unwrap();
    let store = Store::open(&options, NOW).unwrap();
    store.follow_all(NOW).unwrap();
    let named = store.read_now(|tx| graph::named(tx, Some("database"), "PostgreSQL")).unwrap();
    assert_eq!((named[0].name.as_str(), named[0].told, named[0].id), ("PostgreSQL", 2, database));
    let notes = store.read_now(move |tx| graph::notes(tx, &[database])).unwrap();
    assert_eq!(
        (notes[0].properties.as_str(), notes[0].confidence, notes[0].said_at),
        ("{\"version\":16}", 0.5, 7)
    );
    let bounds = graph::WalkBounds { depth: 1, fan_out: 5, most: 5 };
    let steps = store.read_now(move |tx| graph::walk(tx, &[pool], bounds)).unwrap().steps;
    assert_eq!(
        (steps.len(), steps[0].relation.kind.as_str(), steps[0].relation.confidence),
        (1, "needs", 0.9)
    );
    let gone = store
        .write_now(|tx| graph::forget_statements(tx, "user:u1", &ForgetSelection::Everything, NOW))
        .unwrap();
    assert_eq!(gone, ForgetOutcome::Done(ForgetSummary { entities: 1, relations: 1, not_told: 0 }));
    store.follow_all(NOW).unwrap();
    assert_eq!(store.read_now(graph::dump).unwrap(), "");
}
