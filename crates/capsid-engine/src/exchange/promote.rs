//! A staged asset becomes one of ours: after somebody vouched for it, or after our own sandbox validated it.

use super::consent::{CommandConsent, require_consent, unknown_commands};
use super::incoming::{name_of, received_id};
use super::origin::source;
use super::stage::{identity, remove_staged, staged};
use super::trial;
use crate::files::phase;
use crate::run::validation::{self, Validated, ValidationTree};
use crate::sealed_log;
use crate::workspace::Workspace;
use capsid_model::asset::stamp;
use capsid_model::gate;
use capsid_model::gene::Gene;
use capsid_model::report::{CommandResult, ReportInput, report};
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Value};
use capsid_rules::evaluation::proof::{ProofLevel, proof};

/// What is to be taken in.
#[derive(Debug, Clone, Default)]
pub struct PromoteRequest {
    /// The local id or the asset id.
    pub id: String,
    /// Somebody vouches that it was validated.
    pub validated: bool,
    /// The commands that the owner agrees to.
    pub consent: CommandConsent,
}

/// What was taken in.
#[derive(Debug, Clone)]
pub struct PromoteOutcome {
    /// The asset as it is stored now.
    pub asset: Object,
    /// The gene that came in with a capsule.
    pub gene: Option<Object>,
    /// The validation that was run, if one was.
    pub report: Option<Object>,
}

/// Takes a staged asset in, a capsule with its gene. Takes the store's lock.
pub fn promote(workspace: &Workspace, request: &PromoteRequest) -> Result<PromoteOutcome> {
    let promoted = {
        let _lock = workspace.lock()?;
        let all = staged(workspace)?;
        let Some(asset) = find(&all, &request.id)? else {
            return is_promoted(workspace, &request.id)?.ok_or_else(|| not_staged(&request.id));
        };
        if let Some(there) = conflict(workspace, asset)? {
            remove_staged(workspace, &[asset])?;
            return Ok(PromoteOutcome { asset: there, gene: None, report: None });
        }
        promote_asset(workspace, &all, asset, request)?
    };
    if kind(&promoted.asset) == "EvolutionEvent" {
        // The event is in the log whether this works or not; the next cycle seals what this could not.
        if workspace.config.trail.seal_events {
            let _ = sealed_log::proof::seal(workspace, false);
        }
    }
    Ok(promoted)
}

/// The commands of a staged asset, or of its gene, that the owner has to agree to before it is promoted.
pub fn commands_to_confirm(workspace: &Workspace, id: &str) -> Result<Vec<String>> {
    let all = staged(workspace)?;
    let Some(asset) = find(&all, id)? else { return Ok(Vec::new()) };
    match gene_for_asset(workspace, &all, asset)? {
        Some(judge) => unknown_commands(workspace, judge.gene()),
        None => Ok(Vec::new()),
    }
}

fn promote_asset(
    workspace: &Workspace,
    all: &[Object],
    asset: &Object,
    request: &PromoteRequest,
) -> Result<PromoteOutcome> {
    let judge = gene_for_asset(workspace, all, asset)?;
    if judge.is_none() && kind(asset) == "Capsule" {
        return Err(without_gene(asset));
    }
    let gene = judge.as_ref().map(JudgingGene::gene);
    let report = if request.validated {
        gate_only(workspace, gene)?;
        require_consent(workspace, asset, gene, &request.consent)?;
        None
    } else {
        Some(validate(workspace, asset, gene, &request.consent)?)
    };
    let coming = match &judge {
        Some(JudgingGene::Coming(gene)) => {
            let mut gene = ours(workspace, gene, report.as_ref());
            gene.insert("id".to_owned(), free_name(workspace, &gene)?.into());
            stamp(&mut gene);
            Some(gene)
        }
        _ => None,
    };
    let mut ours = ours(workspace, asset, report.as_ref());
    if let Some(gene) = coming.as_ref().or(gene).filter(|_| kind(asset) == "Capsule") {
        ours.insert("gene".to_owned(), text(gene, "id").into());
        stamp(&mut ours);
    }
    // The gene first: a capsule never points to what is not there, wherever this is cut short.
    if let Some(gene) = &coming {
        save_promoted(workspace, gene)?;
    }
    save_promoted(workspace, &ours)?;
    let done: Vec<&Object> = std::iter::once(asset).chain(gene).collect();
    remove_staged(workspace, &done)?;
    Ok(PromoteOutcome { asset: ours, gene: coming, report })
}

/// The newest staged asset with an id; if several share a name, the caller must choose one.
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
fn is_promoted(workspace: &Workspace, id: &str) -> Result<Option<PromoteOutcome>> {
    let store = &workspace.store;
    let ours = store.genes.documents()?.into_iter().chain(store.capsules.documents()?);
    let mut received_assets = ours.filter(|asset| received_id(asset).is_some());
    let named = received_assets.find(|asset| {
        [text(asset, "id"), text(asset, "asset_id")].contains(&id) || received_id(asset) == Some(id)
    });
    Ok(named.map(|asset| PromoteOutcome { asset, gene: None, report: None }))
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
    let fix = match kind(asset) {
        "Gene" => {
            "Promote a capsule of the staged one: its gene then comes with it, under a name of its own. Or rename the \
             local one, if the staged one is wanted as well."
        }
        _ => "Rename the local one if the staged one is wanted as well.",
    };
    Err(Problem::new(
        Code::ChangeRefused,
        format!("There is a local {} called {}; it was kept as it is.", kind(asset), name_of(asset)),
    )
    .fix(fix))
}

/// The gene whose commands judge an asset.
enum JudgingGene {
    /// The asset itself, or a gene of the store.
    Here(Object),
    /// A staged gene, which comes in with its capsule.
    Coming(Object),
}

impl JudgingGene {
    fn gene(&self) -> &Object {
        match self {
            Self::Here(gene) | Self::Coming(gene) => gene,
        }
    }
}

/// The gene that judges an asset: itself, or the one that a capsule names, taken in or staged.
fn gene_for_asset(workspace: &Workspace, all: &[Object], asset: &Object) -> Result<Option<JudgingGene>> {
    if kind(asset) == "Gene" {
        return Ok(Some(JudgingGene::Here(asset.clone())));
    }
    let named = text(asset, "gene");
    if kind(asset) != "Capsule" || named.is_empty() {
        return Ok(None);
    }
    let has_id = |gene: &Object, id: &str| received_id(gene) == Some(id) || text(gene, "asset_id") == id;
    let local = workspace.store.genes.documents()?;
    let of_content = |id: &str| local.iter().find(|gene| has_id(gene, id)).cloned().map(JudgingGene::Here);
    if let Some(here) = of_content(named) {
        return Ok(Some(here));
    }
    // By its name only where it came from the same sender, or is ours: names are not unique.
    let genes = || all.iter().filter(|staged| kind(staged) == "Gene");
    let staged = genes()
        .find(|gene| has_id(gene, named))
        .or_else(|| genes().find(|gene| text(gene, "id") == named && source(gene) == source(asset)));
    Ok(match staged {
        Some(gene) => of_content(identity(gene)).or_else(|| Some(JudgingGene::Coming(gene.clone()))),
        None => local.into_iter().find(|gene| text(gene, "id") == named).map(JudgingGene::Here),
    })
}

fn without_gene(capsule: &Object) -> Problem {
    let gene = inert_line(cut(text(capsule, "gene"), 100));
    Problem::new(
        Code::NotValidated,
        format!(
            "{} was not taken in: its gene `{gene}` is neither here nor staged, so there is no command to run.",
            name_of(capsule)
        ),
    )
    .fix(format!(
        "`capsid node fetch {gene} --stage` brings it from a hub; of a file, ingest the bundle that holds both."
    ))
}

/// A name for a gene under which no other one is here.
fn free_name(workspace: &Workspace, gene: &Object) -> Result<String> {
    let id = text(gene, "id");
    let hex = identity(gene).trim_start_matches("sha256:");
    for name in [id.to_owned(), format!("{id}_{}", cut(hex, 8))] {
        if workspace.store.genes.find(&name)?.is_none() {
            return Ok(name);
        }
    }
    Ok(format!("{id}_{hex}"))
}

/// Somebody vouches for it; but no gene comes in whose commands could never run here.
fn gate_only(workspace: &Workspace, gene: Option<&Object>) -> Result<()> {
    for command in gene.map(|gene| Gene::read(gene).validation).unwrap_or_default() {
        gate::check(&command, &workspace.config.gate())?;
    }
    Ok(())
}

/// Runs the commands of a gene here, in the sandbox: for a gene on the files as they are, for a capsule on a copy with
/// its change made.
fn validate(
    workspace: &Workspace,
    asset: &Object,
    gene: Option<&Object>,
    consent: &CommandConsent,
) -> Result<Object> {
    let refused = |reason: String| {
        Problem::new(Code::NotValidated, format!("{} was not taken in: {reason}", name_of(asset)))
            .fix("Look at it; if you validated it yourself, promote it with `--validated`.")
    };
    if kind(asset) == "EvolutionEvent" {
        return Err(refused("an event holds nothing that could be run.".to_owned()));
    }
    let Some(gene) = gene else { return Err(without_gene(asset)) };
    let mut commands = Gene::read(gene).validation;
    commands.retain(|command| !command.trim().is_empty());
    if commands.is_empty() {
        return Err(refused("it names no validation command.".to_owned()));
    }
    if let Some(reason) = proves_nothing(&commands) {
        return Err(refused(format!("its validation proves nothing. {reason}")));
    }
    for command in &commands {
        gate::check(command, &workspace.config.gate())?;
    }
    require_consent(workspace, asset, Some(gene), consent)?;
    let validated = match kind(asset) {
        "Capsule" => try_change(workspace, text(asset, "diff"), &commands).map_err(refused)?,
        _ => run_here(workspace, &commands)?,
    };
    if let Some(failed) = validated.commands.iter().find(|result| !result.ok) {
        let stderr = inert_line(cut(failed.stderr.trim(), 300));
        return Err(refused(format!("`{}` failed here: {stderr}", inert_line(cut(&failed.command, 120)))));
    }
    Ok(report_of(workspace, gene, &validated))
}

/// Makes a change in a copy of what is committed here, as a validator does, and runs the commands on it. Nothing of the
/// owner's tree is touched. Or why nothing could be tried.
fn try_change(
    workspace: &Workspace,
    diff: &str,
    commands: &[String],
) -> std::result::Result<Validated, String> {
    if let Some(reason) = not_to_be_made(diff) {
        return Err(reason.to_owned());
    }
    let (config, root) = (&workspace.config, &workspace.repository.root);
    let trial = trial::run_under(&config.gate(), diff, commands, Some(root), config.validation_timeout())
        .map_err(|problem| format!("its change could not be tried: {}", inert_line(&problem.message)))?;
    match trial.class {
        "hostile_diff" => return Err("its change reaches outside of a repository.".to_owned()),
        "sandbox_diff_too_large" => return Err("its change is larger than any that is tried.".to_owned()),
        "sandbox_too_many_commands" => return Err("it names too many commands.".to_owned()),
        _ if trial.commands.is_empty() => {
            return Err("its change does not apply to what is committed here.".to_owned());
        }
        _ => {}
    }
    let (isolation, duration) = (trial.isolation.to_owned(), trial.duration());
    let commands = trial.commands.into_iter().map(|tried| CommandResult {
        command: tried.command,
        ok: tried.ok,
        stdout: String::new(),
        stderr: tried.stderr_tail,
    });
    Ok(Validated { commands: commands.collect(), isolation, duration, ..Validated::default() })
}

/// Why a change cannot be made again from what its capsule holds of it.
fn not_to_be_made(diff: &str) -> Option<&'static str> {
    let is_cut = diff.trim_end().ends_with("[TRUNCATED]")
        || diff.lines().any(|line| matches!(line, "... [TRUNCATED]" | "[content left out: protected]"));
    match diff.trim().is_empty() {
        true => Some("it does not hold its change, so there is nothing to try."),
        false => is_cut
            .then_some("it holds only a part of its change (the rest is cut off), so it cannot be tried."),
    }
}

/// Why commands prove nothing, if they do not.
fn proves_nothing(commands: &[String]) -> Option<String> {
    let (level, findings) = proof(commands);
    let first = findings.first().filter(|_| level < ProofLevel::Weak)?;
    Some(format!("`{}`: {}", inert_line(cut(&first.command, 120)), first.why))
}

fn report_of(workspace: &Workspace, gene: &Object, validated: &Validated) -> Object {
    let now = workspace.now();
    report(&ReportInput {
        id: format!("vr_{}", now.0),
        gene_id: Some(text(gene, "id")),
        env: &workspace.fingerprint(),
        commands: &validated.commands,
        isolation: &validated.isolation,
        duration_ms: validated.duration.as_millis() as u64,
        created_at: now,
    })
}

/// Runs the commands on the files as they are, in a view that is thrown away.
fn run_here(workspace: &Workspace, commands: &[String]) -> Result<Validated> {
    let scratch = workspace.create_state_dir()?.join("promote");
    validation::run(commands, false, workspace, &ValidationTree { change: None, scratch })
}

/// The asset as it is stored from now on: with lowered confidence, its origin, and a new id.
fn ours(workspace: &Workspace, asset: &Object, report: Option<&Object>) -> Object {
    let mut ours = asset.clone();
    let now = workspace.now().iso();
    let by = if report.is_some() { "sandbox" } else { "owner" };
    let mut a2a = ours.get("a2a").and_then(Value::as_object).cloned().unwrap_or_default();
    a2a.insert("status".to_owned(), "promoted".into());
    a2a.insert("promoted_at".to_owned(), now.into());
    a2a.insert("validated_by".to_owned(), by.into());
    match kind(asset) {
        "Capsule" => {
            // What it did elsewhere is a claim; here it has worked once, or not at all yet.
            let claimed = ours.insert("success_streak".to_owned(), u64::from(report.is_some()).into());
            a2a.extend(claimed.map(|claimed| ("claimed_streak".to_owned(), claimed)));
        }
        "EvolutionEvent" => detach(&mut ours, &mut a2a),
        _ => {}
    }
    ours.insert("a2a".to_owned(), a2a.into());
    stamp(&mut ours);
    ours
}

/// A stranger's event does not count for our capsules, whatever names it uses: streaks are counted by these names.
fn detach(event: &mut Object, a2a: &mut Object) {
    for (member, field) in [("capsule_id", "capsule_id"), ("validation_report_id", "validation_report_id")] {
        if let Some(id) = event.shift_remove(member).filter(|id| !id.is_null()) {
            a2a.insert(field.to_owned(), id);
        }
    }
    event.shift_remove("parent");
    if let Some(Value::Object(meta)) = event.get_mut("meta") {
        meta.shift_remove("reused_capsule_id");
    }
}

fn save_promoted(workspace: &Workspace, ours: &Object) -> Result<()> {
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

fn kind(asset: &Object) -> &str {
    text(asset, "type")
}

fn text<'a>(document: &'a Object, member: &str) -> &'a str {
    document.get(member).and_then(Value::as_str).unwrap_or_default()
}
