//! The terms of what was told of things beside their names, so that a question finds them by these too.

use super::{index_sql, notes};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::graph::ingest::{MAX_PROPERTY_TEXT, property_text};
use capsid_rules::meaning::terms::encode_term;
use capsid_rules::meaning::{MeaningTerms, SearchableText};
use serde_json::json;
use std::collections::HashMap;

/// The terms of the properties that a teller told of a thing, as JSON.
pub(super) fn terms_of(properties: &str) -> Vec<String> {
    meaning(&property_text(properties)).terms().into_iter().map(encode_term).collect()
}

/// Lets a thing be found by what a teller told of it, both by their numbers.
pub(super) fn add(index: &mut dyn Tx, entity: i64, said_by: i64, terms: &[String]) -> Result<()> {
    if !terms.is_empty() {
        index.run(index_sql::ADD_PROPERTY_TERMS, params![&json!(terms).to_string(), entity, said_by])?;
    }
    Ok(())
}

/// Forgets the terms of what a teller told of a thing.
pub(super) fn remove(index: &mut dyn Tx, entity: i64, said_by: i64) -> Result<()> {
    index.run("DELETE FROM property_terms WHERE said_by = $1 AND entity = $2", params![said_by, entity])?;
    Ok(())
}

/// What was told of things beside their names, thing by thing.
pub(super) fn property_meanings(tx: &mut dyn Tx, ids: &[i64]) -> Result<HashMap<i64, MeaningTerms>> {
    let mut told: HashMap<i64, String> = HashMap::new();
    for note in notes(tx, ids)? {
        let text = told.entry(note.entity).or_default();
        if text.len() < MAX_PROPERTY_TEXT {
            text.push_str(&property_text(&note.properties));
        }
    }
    Ok(told.into_iter().map(|(id, text)| (id, meaning(&text))).collect())
}

fn meaning(text: &str) -> MeaningTerms {
    MeaningTerms::parse(&SearchableText { title: text, ..SearchableText::default() })
}
