//! The terms of what was told of things beside their names, so that a question finds them by these too.

use super::{notes, texts};
use crate::db::tx::Tx;
use crate::params;
use crate::store::Store;
use capsid_model::problem::Result;
use capsid_rules::graph::ingest::{MAX_PROPERTY_TEXT, property_text};
use capsid_rules::meaning::terms::encode_term;
use capsid_rules::meaning::{MeaningTerms, SearchableText};
use serde_json::{Value, json};
use std::collections::HashMap;

/// How many rows are written together.
const TOGETHER: usize = 500;
/// How many notes are read together.
const PAGE: i64 = 200;

/// Replaces the terms of what a teller told of things: each with its properties as JSON, where there are any.
pub(super) fn set_property_words(tx: &mut dyn Tx, who: &str, told: &[(i64, Option<&str>)]) -> Result<()> {
    let ids: Vec<i64> = told.iter().map(|(id, _)| *id).collect();
    forget_property_words(tx, who, &ids)?;
    let rows: Vec<Value> = told
        .iter()
        .filter_map(|(id, properties)| Some((id, meaning(&property_text(properties.as_deref()?)))))
        .flat_map(|(id, meaning)| {
            meaning.terms().into_iter().map(|term| json!([encode_term(term), id])).collect::<Vec<_>>()
        })
        .collect();
    for some in rows.chunks(TOGETHER) {
        let sql = texts(tx).add_property_words;
        tx.run(sql, params![&json!(some).to_string(), who])?;
    }
    Ok(())
}

/// Forgets the terms of what a teller told of things.
pub(super) fn forget_property_words(tx: &mut dyn Tx, who: &str, ids: &[i64]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let sql = texts(tx).forget_property_words;
    tx.run(sql, params![who, &json!(ids).to_string()])?;
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

/// Makes the terms of everything that was told again.
pub(super) fn rebuild_property_words(tx: &mut dyn Tx) -> Result<()> {
    tx.run("DELETE FROM graph_property_words", params![])?;
    let (mut entity, mut who) = (i64::MIN, String::new());
    loop {
        let page = tx.query_all::<(i64, String, Option<String>)>(
            "SELECT entity, said_by, properties FROM graph_notes
             WHERE (entity, said_by) > ($1, $2) ORDER BY entity, said_by LIMIT $3",
            params![entity, &who, PAGE],
        )?;
        let Some((last, teller, _)) = page.last() else { return Ok(()) };
        (entity, who) = (*last, teller.clone());
        for (id, teller, properties) in &page {
            set_property_words(tx, teller, &[(*id, properties.as_deref())])?;
        }
    }
}

/// Makes the terms of a hub that was told things before there were any.
pub(crate) fn fill_property_words(store: &Store) -> Result<()> {
    let lacks = |tx: &mut dyn Tx| {
        Ok(!tx.exists("SELECT 1 FROM graph_property_words LIMIT 1", params![])?
            && tx.exists("SELECT 1 FROM graph_notes WHERE properties IS NOT NULL LIMIT 1", params![])?)
    };
    if !store.read_now(lacks)? {
        return Ok(());
    }
    store.write_now(move |tx| if lacks(tx)? { rebuild_property_words(tx) } else { Ok(()) })
}
