//! Whose word it takes to run a command of a foreign asset.

use super::incoming::name_of;
use crate::workspace::Workspace;
use capsid_model::gene::Gene;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result};

/// The commands of a foreign gene that the owner agrees to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CommandConsent {
    /// Those that a gene of the store or `capsid.toml` names.
    #[default]
    Known,
    /// These too: the owner has seen them.
    Listed(Vec<String>),
    /// Every command.
    All,
}

/// The commands of a gene that neither a gene of the store nor `capsid.toml` names.
pub fn unknown_commands(workspace: &Workspace, gene: &Object) -> Result<Vec<String>> {
    let settings = &workspace.config.validation;
    let mut known: Vec<String> = settings.commands.iter().chain(&settings.load_check).cloned().collect();
    known.extend(workspace.store.genes.documents()?.iter().flat_map(|gene| Gene::read(gene).validation));
    let is_known = |command: &str| known.iter().any(|known| known.trim() == command.trim());
    let mut unknown = Gene::read(gene).validation;
    unknown.retain(|command| !command.trim().is_empty() && !is_known(command));
    Ok(unknown)
}

/// Refuses where a command of the gene was not agreed to.
pub(super) fn require_consent(
    workspace: &Workspace,
    asset: &Object,
    gene: Option<&Object>,
    consent: &CommandConsent,
) -> Result<()> {
    let Some(gene) = gene.filter(|_| *consent != CommandConsent::All) else { return Ok(()) };
    let mut unknown = unknown_commands(workspace, gene)?;
    if let CommandConsent::Listed(listed) = consent {
        unknown.retain(|command| !listed.contains(command));
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let listed: Vec<String> =
        unknown.iter().map(|command| format!("`{}`", inert_line(cut(command, 500)))).collect();
    Err(Problem::new(
        Code::ConfirmationRequired,
        format!(
            "{} brings commands that neither your genes nor `capsid.toml` name: {}.",
            name_of(asset),
            listed.join(", ")
        ),
    )
    .fix("Look at them; if they may run here, run `capsid node promote` in a terminal and confirm, or add `--yes`."))
}
