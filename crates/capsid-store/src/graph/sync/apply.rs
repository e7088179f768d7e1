//! Bringing what subjects say now into the index, in place of what they said before.

use super::load::Step;
use super::positions;
use crate::damaged;
use crate::db::tx::Tx;
use crate::graph::entity_rows::{by_wire_ids, source_number};
use crate::graph::facts::Facts;
use crate::graph::property_terms;
use crate::graph::refcounts::apply_sum;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::graph::StatementSum;
use serde_json::json;
use std::collections::HashSet;

/// Applies one step: the sum of what its subjects say now and of what they said when they were last looked at.
pub(super) fn apply_step(index: &mut dyn Tx, step: &Step, now: Time) -> Result<()> {
    let mut sum = StatementSum::default();
    let mut notes = Vec::new();
    let mut seen = HashSet::new();
    // What is named twice was read in one snapshot, so it is the same.
    for loaded in step.subjects.iter().filter(|loaded| seen.insert(loaded.key.as_str())) {
        let before =
            index.query_first::<String>("SELECT facts FROM said WHERE subject = $1", params![&loaded.key])?;
        let after = loaded.facts.as_ref().map(|facts| json!(facts).to_string());
        if before == after {
            continue;
        }
        if let Some(before) = &before {
            let facts: Facts = serde_json::from_str(before).map_err(|_| {
                damaged(format!("The index remembers `{}` in a form of its own.", loaded.key))
            })?;
            facts.count(loaded.body.as_ref(), &mut sum, -1)?;
            notes.extend(NoteChange::read(&facts, false));
        }
        if let Some(facts) = &loaded.facts {
            facts.count(loaded.body.as_ref(), &mut sum, 1)?;
            notes.extend(NoteChange::read(facts, true));
        }
        remember(index, &loaded.key, after.as_deref())?;
    }
    // What is withdrawn is found by the entities as they were.
    for note in notes.iter().filter(|note| !note.is_added) {
        note.apply(index)?;
    }
    apply_sum(index, &sum, &step.titles)?;
    for note in notes.iter().filter(|note| note.is_added) {
        note.apply(index)?;
    }
    for (log, followed) in &step.followed {
        positions::store(index, &positions::GRAPH_POSITIONS, *log, followed, now)?;
    }
    Ok(())
}

fn remember(index: &mut dyn Tx, key: &str, facts: Option<&str>) -> Result<()> {
    match facts {
        Some(facts) => index.run(
            "INSERT INTO said (subject, facts) VALUES ($1, $2)
             ON CONFLICT (subject) DO UPDATE SET facts = excluded.facts",
            params![key, facts],
        )?,
        None => index.run("DELETE FROM said WHERE subject = $1", params![key])?,
    };
    Ok(())
}

/// What somebody told of an entity beside its name, as terms.
struct NoteChange {
    entity: i64,
    said_by: String,
    terms: Vec<String>,
    is_added: bool,
}

impl NoteChange {
    /// Nothing where there are no terms, which is usual.
    fn read(facts: &Facts, is_added: bool) -> Option<Self> {
        match facts {
            Facts::Note(note) if !note.terms.is_empty() => Some(Self {
                entity: note.entity().id(),
                said_by: note.by.clone(),
                terms: note.terms.clone(),
                is_added,
            }),
            _ => None,
        }
    }

    fn apply(&self, index: &mut dyn Tx) -> Result<()> {
        let entity = by_wire_ids(index, &[self.entity])?;
        let Some((entity, _)) = entity.first() else {
            return Err(damaged("The index remembers what was told of an entity that it does not hold."));
        };
        let said_by = source_number(index, &self.said_by)?;
        match self.is_added {
            true => property_terms::add(index, *entity, said_by, &self.terms),
            false => property_terms::remove(index, *entity, said_by),
        }
    }
}
