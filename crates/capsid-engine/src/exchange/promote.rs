//! A staged asset becomes one of ours: after somebody vouched for it, or after our own sandbox validated it.

use super::incoming::{name_of, received_id};
use super::origin::source;
use super::stage::staged;
use crate::phase;
use crate::sealed_log;
use crate::snapshot;
use crate::solidify::{self, changed, validation};
use crate::store::events::object;
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::asset::stamp;
use capsid_model::gate;
use capsid_model::gene::Gene;
use capsid_model::report::{CommandResult, ReportInput, report};
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Value};
use capsid_rules::proof::{Proof, proof};

/// What is to be taken in.
#[derive(Debug, Clone, Default)]
pub struct PromoteRequest {
    /// The local id or the asset id.
    pub id: String,
    /// Somebody vouches that it was validated.
    pub validated: bool,
}

/// What was taken in.
#[derive(Debug, Clone)]
pub struct Promoted {
    /// The asset as it is stored now.
    pub asset: Object,
    /// The validation that was run, if one was.
    pub report: Option<Object>,
}

/// Takes a staged asset in. Takes the store's lock.
pub fn promote(workspace: &Workspace, request: &PromoteRequest) -> Result<Promoted> {
    let promoted = {
        let _lock = workspace.lock()?;
        let all = staged(workspace)?;
        let Some(asset) = find(&all, &request.id)? else {
            return taken_before(workspace, &request.id)?.ok_or_else(|| not_staged(&request.id));
        };
        if let Some(there) = conflict(workspace, asset)? {
            return forget(workspace, asset).map(|()| Promoted { asset: there, report: None });
        }
        let gene = gene_of(workspace, &all, asset)?;
        let report = match request.validated {
            true => gate_only(workspace, asset).map(|()| None)?,
            false => Some(validate(workspace, asset, gene.as_ref())?),
        };
        let ours = ours(workspace, asset, gene.as_ref(), report.as_ref())?;
        keep(workspace, &ours)?;
        forget(workspace, asset)?;
        Promoted { asset: ours, report }
    };
    if kind(&promoted.asset) == "EvolutionEvent" {
        // The event is in the log whether this works or not; the next settled cycle seals what this could not.
        let _ = solidify::own_append(workspace);
        if workspace.config.trail.seal_events {
            let _ = sealed_log::proof::seal(workspace, false);
        }
    }
    Ok(promoted)
}

/// The newest staged asset with an id; several that share a name have to be told apart.
fn find<'a>(all: &'a [Object], id: &str) -> Result<Option<&'a Object>> {
    let exact = all.iter().find(|asset| received_id(asset) == Some(id) || text(asset, "asset_id") == id);
    if exact.is_some() {
        return Ok(exact);
    }
    let mut named = all.iter().filter(|asset| !id.is_empty() && text(asset, "id") == id);
    let first = named.next();
    if let (Some(first), Some(other)) = (first, named.next()) {
        let ids = [first, other].map(|asset| received_id(asset).unwrap_or_default().to_owned());
        return Err(Problem::new(
            Code::InputInvalid,
            format!("Several staged assets are called {}: `{}`, `{}`.", name_of(first), ids[0], ids[1]),
        )
        .fix("Name the one that is meant by its asset id."));
    }
    Ok(first)
}

fn not_staged(id: &str) -> Problem {
    Problem::new(Code::NotFound, format!("Nothing is staged under `{}`.", inert_line(cut(id, 120)))).fix(
        "`capsid node ingest` and `capsid node fetch` stage assets; promote one by the id that they print.",
    )
}

/// What was taken in under an id before.
fn taken_before(workspace: &Workspace, id: &str) -> Result<Option<Promoted>> {
    let store = &workspace.store;
    let ours = store.genes.documents()?.into_iter().chain(store.capsules.documents()?);
    let mut taken = ours.filter(|asset| received_id(asset).is_some());
    let named = taken.find(|asset| {
        [text(asset, "id"), text(asset, "asset_id")].contains(&id) || received_id(asset) == Some(id)
    });
    Ok(named.map(|asset| Promoted { asset, report: None }))
}

/// The asset that is there already, if it is this one; a problem if it is another of the same name.
fn conflict(workspace: &Workspace, asset: &Object) -> Result<Option<Object>> {
    let id = text(asset, "id");
    let there = match kind(asset) {
        "Gene" => workspace.store.genes.find(id)?,
        "Capsule" => workspace.store.capsules.find(id)?,
        _ => workspace.store.events.find(id)?,
    };
    let Some(there) = there else { return Ok(None) };
    if received_id(&there).is_some() && received_id(&there) == received_id(asset) {
        return Ok(Some(there));
    }
    Err(Problem::new(
        Code::ChangeRefused,
        format!("There is a local {} called {}; it was kept as it is.", kind(asset), name_of(asset)),
    )
    .fix("Rename the local one if the staged one is wanted as well."))
}

/// The gene whose commands judge an asset: itself, or the one that a capsule names, taken in or staged.
fn gene_of(workspace: &Workspace, all: &[Object], asset: &Object) -> Result<Option<Object>> {
    if kind(asset) == "Gene" {
        return Ok(Some(asset.clone()));
    }
    let named = text(asset, "gene");
    if kind(asset) != "Capsule" || named.is_empty() {
        return Ok(None);
    }
    let is_named = |gene: &Object| {
        kind(gene) == "Gene" && (received_id(gene) == Some(named) || text(gene, "asset_id") == named)
    };
    let local = workspace.store.genes.documents()?;
    let by_content = local.iter().chain(all).find(|gene| is_named(gene));
    // By its name only where it came from the same sender, or is ours: names are not unique.
    let by_name = || {
        let staged = all.iter().filter(|gene| kind(gene) == "Gene" && source(gene) == source(asset));
        staged.chain(&local).find(|gene| text(gene, "id") == named)
    };
    Ok(by_content.or_else(by_name).cloned())
}

/// Somebody vouches for it; but no gene comes in whose commands could never run here.
fn gate_only(workspace: &Workspace, asset: &Object) -> Result<()> {
    if kind(asset) == "Gene" {
        for command in Gene::read(asset).validation {
            gate::check(&command, &workspace.config.gate())?;
        }
    }
    Ok(())
}

/// Runs the commands of a gene on the files as they are, and takes back what they left.
fn validate(workspace: &Workspace, asset: &Object, gene: Option<&Object>) -> Result<Object> {
    let refused = |why: String| {
        Problem::new(Code::NotValidated, format!("{} was not taken in: {why}", name_of(asset)))
            .fix("Look at it; if you validated it yourself, promote it with `--validated`.")
    };
    if kind(asset) == "EvolutionEvent" {
        return Err(refused("an event holds nothing that could be run.".to_owned()));
    }
    let Some(gene) = gene else {
        return Err(refused(
            "its gene is neither here nor staged, so there is no command to run.".to_owned(),
        ));
    };
    let mut commands = Gene::read(gene).validation;
    commands.retain(|command| !command.trim().is_empty());
    if commands.is_empty() {
        return Err(refused("it names no validation command.".to_owned()));
    }
    if let Some(why) = proves_nothing(&commands) {
        return Err(refused(format!("its validation proves nothing. {why}")));
    }
    for command in &commands {
        gate::check(command, &workspace.config.gate())?;
    }
    let ran = run_and_take_back(workspace, &commands)?;
    if let Some(failed) = ran.commands.iter().find(|result| !result.ok) {
        let said = inert_line(cut(failed.stderr.trim(), 300));
        return Err(refused(format!("`{}` failed here: {said}", inert_line(cut(&failed.command, 120)))));
    }
    Ok(report_of(workspace, gene, &ran.commands, &ran))
}

/// Why commands prove nothing, if they do not.
fn proves_nothing(commands: &[String]) -> Option<String> {
    let (worth, findings) = proof(commands);
    let first = findings.first().filter(|_| worth != Proof::Real)?;
    Some(format!("`{}`: {}", inert_line(cut(&first.command, 120)), first.why))
}

fn report_of(
    workspace: &Workspace,
    gene: &Object,
    commands: &[CommandResult],
    ran: &validation::Validated,
) -> Object {
    let now = workspace.now();
    report(&ReportInput {
        id: format!("vr_{}", now.0),
        gene_id: Some(text(gene, "id")),
        env: &workspace.fingerprint(),
        commands,
        isolation: &ran.isolation,
        duration_ms: ran.duration.as_millis() as u64,
        created_at: now,
    })
}

fn run_and_take_back(workspace: &Workspace, commands: &[String]) -> Result<validation::Validated> {
    let shadow = changed::shadow(workspace, &[])?;
    let before = shadow.take(workspace.now(), None)?;
    let ran = validation::run(commands, false, workspace);
    let after = shadow.take(workspace.now(), Some(&before))?;
    if !snapshot::changes(&shadow, &before, &after)?.files.is_empty() {
        snapshot::rollback(&shadow, &before, &after)?;
    }
    Ok(ran)
}

/// The asset as it is kept from now on: still trusted less, its origin told, under an id of its own.
fn ours(
    workspace: &Workspace,
    asset: &Object,
    gene: Option<&Object>,
    report: Option<&Object>,
) -> Result<Object> {
    let mut ours = asset.clone();
    let now = workspace.now().iso();
    let by = if report.is_some() { "sandbox" } else { "owner" };
    let mut a2a = ours.get("a2a").and_then(Value::as_object).cloned().unwrap_or_default();
    a2a.insert("status".to_owned(), "promoted".into());
    a2a.insert("promoted_at".to_owned(), now.into());
    a2a.insert("validated_by".to_owned(), by.into());
    match kind(asset) {
        "Capsule" => {
            if let Some(id) = local_gene_id(workspace, gene)? {
                ours.insert("gene".to_owned(), id.into());
            }
        }
        "EvolutionEvent" => detach(&mut ours, &mut a2a),
        _ => {}
    }
    ours.insert("a2a".to_owned(), a2a.into());
    stamp(&mut ours);
    Ok(ours)
}

/// The name that a capsule's gene has here, unless another gene goes by it.
fn local_gene_id(workspace: &Workspace, gene: Option<&Object>) -> Result<Option<String>> {
    let Some(gene) = gene else { return Ok(None) };
    let id = text(gene, "id");
    let there = workspace.store.genes.find(id)?;
    let is_it = there.is_none_or(|there| received_id(&there) == received_id(gene));
    Ok(is_it.then(|| id.to_owned()))
}

/// A stranger's event says nothing of our capsules, whatever it calls its own: their streaks are counted by these names.
fn detach(event: &mut Object, a2a: &mut Object) {
    for (member, kept) in [("capsule_id", "capsule_id"), ("validation_report_id", "validation_report_id")] {
        if let Some(id) = event.shift_remove(member).filter(|id| !id.is_null()) {
            a2a.insert(kept.to_owned(), id);
        }
    }
    event.shift_remove("parent");
    if let Some(Value::Object(meta)) = event.get_mut("meta") {
        meta.shift_remove("reused_capsule_id");
    }
}

fn keep(workspace: &Workspace, ours: &Object) -> Result<()> {
    let store = &workspace.store;
    match kind(ours) {
        "Gene" => {
            phase::enter("genes");
            store.genes.upsert(ours)
        }
        "Capsule" => {
            phase::enter("capsules");
            store.capsules.upsert(ours)
        }
        _ => store.events.append(std::slice::from_ref(ours)),
    }
}

/// Takes an asset that was taken in off the stage.
fn forget(workspace: &Workspace, asset: &Object) -> Result<()> {
    phase::enter("candidates");
    let path = workspace.store.external_candidates();
    let text = files::read_optional(&path)?.unwrap_or_default();
    let is_it = |line: &&str| {
        object(line.as_bytes()).is_some_and(|staged| received_id(&staged) == received_id(asset))
    };
    let left: String = text.split_inclusive('\n').filter(|line| !is_it(line)).collect();
    files::replace(&path, left.as_bytes())
}

fn kind(asset: &Object) -> &str {
    text(asset, "type")
}

fn text<'a>(document: &'a Object, member: &str) -> &'a str {
    document.get(member).and_then(Value::as_str).unwrap_or_default()
}
