//! What the store offers for a set of signals, and what is chosen from it.

use crate::memory::remote::advice::RemoteAdvice;
use crate::rules::select;
use crate::rules::select::{FailedCapsule, SelectInput, Selection};
use crate::workspace::Workspace;
use capsid_model::capsule::Capsule;
use capsid_model::gene::Gene;
use capsid_model::{Object, Result, env};
use capsid_rules::memory::advice::advise;
use capsid_rules::memory::graph::GraphStats;

/// A selection with the assets it named.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The selection, with every score.
    pub selection: Selection,
    /// The gene to follow.
    pub gene: Option<Gene>,
    /// The same as it is stored.
    pub document: Option<Object>,
    /// The capsule to apply again.
    pub capsule: Option<Capsule>,
    /// Attempts that failed, oldest first.
    pub failed: Vec<Object>,
}

/// Loads what the store offers and chooses for the signals, by this repository's own memory and what a shared one advises.
pub fn choose(
    workspace: &Workspace,
    signals: &[String],
    statistics: &GraphStats,
    heard: Option<&RemoteAdvice>,
    drift: Option<u64>,
) -> Result<Choice> {
    let pool = workspace.store.gene_pool()?;
    let mut advice = advise(statistics, signals, pool.ids(), workspace.now());
    if let Some(heard) = heard {
        heard.join(&mut advice);
    }
    let capsules: Vec<Capsule> = workspace.store.capsules.documents()?.iter().map(Capsule::read).collect();
    let failed = workspace.store.failed.documents()?;
    let failures: Vec<FailedCapsule> = failed.iter().map(FailedCapsule::read).collect();
    let selection = select::select(SelectInput {
        signals,
        genes: pool.as_pool(),
        capsules: &capsules,
        advice: &advice,
        failed: &failures,
        env_context: &workspace.fingerprint().context(),
        platform: env::platform(),
        drift,
    });
    let document = match &selection.gene_id {
        Some(id) => workspace.store.genes.find(id)?,
        None => None,
    };
    let gene = document.as_ref().map(Gene::read);
    let chosen = selection.capsule_id.clone();
    let capsule = chosen.and_then(|id| capsules.into_iter().find(|capsule| capsule.id == id));
    Ok(Choice { selection, gene, document, capsule, failed })
}
