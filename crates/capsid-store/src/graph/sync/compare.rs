//! Comparing what every subject says now with what the index remembers of it.

use super::load::{
    Loaded, MAX_STEP, Step, ToldCursor, load_assets, load_reports, load_tasks, load_told, next_seqs,
};
use super::positions::Log;
use crate::db::tx::Tx;
use crate::graph::facts::{AssetBody, Facts};
use crate::params;
use capsid_model::problem::Result;
use serde_json::json;

/// Is shown what each subject says.
pub(in crate::graph) type FactsVisitor<'a> = &'a mut dyn FnMut(&Facts, Option<&AssetBody>) -> Result<()>;

/// Visits what every subject says now, and tells how many say something else than the index remembers. The index has
/// followed all logs.
pub(in crate::graph) fn compare_all(tx: &mut dyn Tx, visit: FactsVisitor<'_>) -> Result<u64> {
    let (mut speaking, mut stale) = (0_i64, 0);
    let mut look = |tx: &mut dyn Tx, step: Step| -> Result<()> {
        for loaded in step.subjects {
            stale += u64::from(!is_remembered(tx, &loaded)?);
            if let Some(facts) = &loaded.facts {
                speaking += 1;
                visit(facts, loaded.body.as_ref())?;
            }
        }
        Ok(())
    };
    for log in [Log::Assets, Log::Reports, Log::Tasks] {
        let mut after = 0;
        loop {
            let seqs = next_seqs(tx, log, after, MAX_STEP)?;
            let (Some(first), Some(last)) = (seqs.first(), seqs.last()) else { break };
            let mut step = Step::default();
            match log {
                Log::Reports => load_reports(tx, (*first, *last), &mut step)?,
                Log::Tasks => load_tasks(tx, (*first, *last), &mut step)?,
                Log::Assets | Log::Changes | Log::Told => load_assets(tx, (*first, *last), &mut step)?,
            }
            look(tx, step)?;
            after = *last;
        }
    }
    let mut cursor = Some(ToldCursor::START);
    while let Some(from) = cursor {
        let mut step = Step::default();
        cursor = load_told(tx, from, &mut step)?;
        look(tx, step)?;
    }
    let remembered = tx.index()?.count("SELECT COUNT(*) FROM said", params![])?;
    // What is remembered of subjects that are not there any more.
    Ok(stale.max(remembered.abs_diff(speaking)))
}

fn is_remembered(tx: &mut dyn Tx, loaded: &Loaded) -> Result<bool> {
    let remembered = tx
        .index()?
        .query_first::<String>("SELECT facts FROM said WHERE subject = $1", params![&loaded.key])?;
    Ok(remembered == loaded.facts.as_ref().map(|facts| json!(facts).to_string()))
}
