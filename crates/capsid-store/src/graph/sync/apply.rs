//! Bringing what subjects say now into the index, in place of what they said before.

use super::load::{Loaded, Step};
use super::positions;
use crate::damaged;
use crate::db::tx::Tx;
use crate::graph::facts::{AssetBody, Facts};
use crate::graph::refcounts::{RefcountChange, apply_sum, count_things};
use crate::graph::{index_sql, property_terms};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::graph::{CountedRelation, EntityKey, StatementSum, link};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};

/// Applies one step.
pub(super) fn apply_step(index: &mut dyn Tx, step: Step, now: Time) -> Result<()> {
    // What is named twice was read in one snapshot, so it is the same.
    let subjects: BTreeMap<String, Loaded> =
        step.subjects.into_iter().map(|loaded| (loaded.key.clone(), loaded)).collect();
    let (mut withdrawn, mut added) = (Delta::default(), Delta::default());
    for loaded in subjects.values() {
        let before =
            index.query_first::<String>("SELECT facts FROM said WHERE subject = $1", params![&loaded.key])?;
        let after = loaded.facts.as_ref().map(|facts| json!(facts).to_string());
        if before == after {
            continue;
        }
        if let Some(before) = &before {
            let facts = serde_json::from_str(before).map_err(|_| {
                damaged(format!("The index remembers `{}` in a form of its own.", loaded.key))
            })?;
            withdrawn.add(&facts, &loaded.body, -1)?;
        }
        if let Some(facts) = &loaded.facts {
            added.add(facts, &loaded.body, 1)?;
        }
        remember(index, &loaded.key, after.as_deref())?;
    }
    withdrawn.write(index, &step.titles)?;
    added.write(index, &step.titles)?;
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

/// What is added, or withdrawn, in one step.
#[derive(Default)]
struct Delta {
    sum: StatementSum,
    /// Things that notes and told relations name, and how often.
    told: BTreeMap<i64, (EntityKey, i64)>,
    /// What was told of things: the thing, by whom, its terms, and whether that is added.
    notes: Vec<(i64, String, Vec<String>, bool)>,
    relations: Vec<(i64, CountedRelation, bool)>,
}

impl Delta {
    fn add(&mut self, facts: &Facts, body: &AssetBody, by: i64) -> Result<()> {
        for statement in &facts.statements(body)? {
            match by > 0 {
                true => self.sum.add_statement(statement),
                false => self.sum.unsay(statement),
            }
        }
        for entity in facts.ingested_entities() {
            self.told.entry(entity.id()).or_insert((entity, 0)).1 += by;
        }
        match facts {
            Facts::Note(note) => {
                let told = (note.entity().id(), note.by.clone(), note.terms.clone(), by > 0);
                self.notes.push(told);
            }
            Facts::Relation(told) => {
                let (id, relation) = told.to_relation();
                self.relations.push((id, relation, by > 0));
            }
            Facts::Asset(_) | Facts::Report(_) | Facts::Task(_) => {}
        }
        Ok(())
    }

    fn write(&self, index: &mut dyn Tx, titles: &HashMap<String, String>) -> Result<()> {
        apply_sum(index, &self.sum, titles)?;
        let told: Vec<RefcountChange<'_>> = self
            .told
            .iter()
            .map(|(id, (thing, told))| RefcountChange { id: *id, thing, mentions: 0, told: *told })
            .collect();
        count_things(index, &told, titles)?;
        for (entity, by, terms, is_added) in &self.notes {
            match is_added {
                true => property_terms::add(index, *entity, by, terms)?,
                false => property_terms::remove(index, *entity, by)?,
            }
        }
        for (id, relation, is_added) in &self.relations {
            match is_added {
                true => add_relation(index, *id, relation)?,
                false => drop(index.run("DELETE FROM relations WHERE id = $1", params![*id])?),
            }
        }
        Ok(())
    }
}

fn add_relation(index: &mut dyn Tx, id: i64, told: &CountedRelation) -> Result<()> {
    index.run(
        index_sql::ADD_TOLD,
        params![
            id,
            told.source,
            &told.kind,
            told.target,
            &told.said_by,
            told.said_at,
            told.confidence,
            link::OTHER_LANE
        ],
    )?;
    Ok(())
}
