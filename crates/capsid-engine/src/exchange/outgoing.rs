//! A bundle as it leaves this machine: redacted, stamped over the redacted form, complete.

use super::eligibility::{self, Eligibility, SharingContext};
use super::history::{self, CapsuleHistory};
use super::publication_log::{self, OutgoingBundle, PublicationRecord};
use super::redact::{self, RedactedAsset, SentMembers};
use crate::sealed_log;
use crate::sealed_log::compare::LogComparison;
use crate::workspace::Workspace;
use capsid_model::asset::{asset_id, stamp};
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, SCHEMA_VERSION, Value};
use capsid_rules::assets::traits::CATEGORIES;
use capsid_rules::learning::sharing::{SharingLimits, check_origin};
use std::collections::HashMap;

/// What an event may be for, by the word of hubs.
const INTENTS: [&str; 4] = ["repair", "optimize", "innovate", "explore"];

/// A capsule that could be offered.
#[derive(Debug, Clone)]
pub struct PublishCandidate {
    pub capsule: Object,
    pub eligibility: Eligibility,
    /// The id under which this content was published before, if it was.
    pub published_as: Option<String>,
    /// The hubs that it was published to.
    pub published_to: Vec<String>,
    /// The hubs that rejected this content, each with its reason.
    pub rejected_by: Vec<(String, String)>,
}

impl PublishCandidate {
    /// Its local id.
    pub fn id(&self) -> &str {
        text(&self.capsule, "id")
    }

    /// Whether it may be offered to a hub that has neither taken nor rejected this content yet.
    pub fn is_new_for(&self, hub: &str) -> bool {
        self.eligibility.eligible && !self.was_taken_by(hub) && self.rejection_by(hub).is_none()
    }

    /// Whether a hub has this content.
    pub fn was_taken_by(&self, hub: &str) -> bool {
        self.published_to.iter().any(|recipient| recipient == hub)
    }

    /// Why a hub rejected this content, if it did.
    pub fn rejection_by(&self, hub: &str) -> Option<&str> {
        self.rejected_by.iter().rev().find(|(rejecter, _)| rejecter == hub).map(|(_, reason)| reason.as_str())
    }
}

/// What the store knows that bears on what may leave it.
pub(super) struct PublishState {
    pub(super) genes: HashMap<String, Object>,
    records: HashMap<String, CapsuleHistory>,
    /// The owner's own validation commands.
    commands: Vec<String>,
    limits: SharingLimits,
    /// Whether the event log is as it was sealed.
    is_log_intact: bool,
    /// Whether only members of the protocol are sent.
    pub(super) members: SentMembers,
}

impl PublishState {
    pub(super) fn read(workspace: &Workspace) -> Result<Self> {
        workspace.require_store()?;
        let is_log_intact = is_log_intact(workspace)?;
        Self::read_with(workspace, is_log_intact)
    }

    fn read_with(workspace: &Workspace, is_log_intact: bool) -> Result<Self> {
        let genes = workspace.store.genes.documents()?;
        Ok(Self {
            genes: genes.into_iter().map(|gene| (text(&gene, "id").to_owned(), gene)).collect(),
            records: history::read(&workspace.store.events)?,
            commands: workspace.config.validation.commands.clone(),
            limits: SharingLimits::from_env(&*workspace.env),
            is_log_intact,
            members: if workspace.config.hub.strict { SentMembers::Protocol } else { SentMembers::All },
        })
    }

    fn gene(&self, capsule: &Object) -> Option<&Object> {
        self.genes.get(text(capsule, "gene"))
    }

    fn record(&self, capsule: &Object) -> CapsuleHistory {
        self.records.get(text(capsule, "id")).cloned().unwrap_or_default()
    }

    pub(super) fn eligibility(&self, capsule: &Object) -> Eligibility {
        let context = SharingContext {
            record: &self.record(capsule),
            gene: self.gene(capsule),
            commands: &self.commands,
            limits: self.limits,
            is_log_intact: self.is_log_intact,
        };
        eligibility::check_eligibility(capsule, &context)
    }

    /// The commands that can validate a capsule whose gene names none: that of its proof, then the owner's.
    fn other_commands(&self, capsule: &Object) -> Vec<String> {
        let proof = capsule.get("proof").and_then(|proof| proof.get("command")).and_then(Value::as_str);
        proof.map(str::to_owned).into_iter().chain(self.commands.iter().cloned()).collect()
    }
}

/// Whether the log that a streak is counted by is still what was sealed of it. Where nothing was sealed, nothing is known.
fn is_log_intact(workspace: &Workspace) -> Result<bool> {
    let proof = match sealed_log::proof::prove(workspace) {
        // Without a home for the trail nothing was ever sealed.
        Err(problem) if problem.code == Code::ConfigInvalid => return Ok(true),
        proof => proof?,
    };
    let is_changed = |log: &LogComparison| log.difference.is_some();
    Ok(proof.chain.as_ref().is_none_or(|chain| chain.valid) && !proof.log.as_ref().is_some_and(is_changed))
}

/// Every capsule with its eligibility, best first.
pub fn offers(workspace: &Workspace) -> Result<Vec<PublishCandidate>> {
    offers_by(workspace, &PublishState::read(workspace)?)
}

/// How many capsules a hub may get and does not have. The seal of the event log is not verified, which takes long where
/// there are many events; publishing verifies it.
pub fn count_new_for(workspace: &Workspace, hub: &str) -> Result<usize> {
    let offers = offers_by(workspace, &PublishState::read_with(workspace, true)?)?;
    Ok(offers.iter().filter(|offer| offer.is_new_for(hub)).count())
}

fn offers_by(workspace: &Workspace, state: &PublishState) -> Result<Vec<PublishCandidate>> {
    let publications = publication_log::read(workspace)?;
    let none = Object::new();
    let mut offers: Vec<PublishCandidate> = workspace
        .store
        .capsules
        .documents()?
        .into_iter()
        .map(|capsule| {
            let content = publication_log::content(&capsule, state.gene(&capsule).unwrap_or(&none));
            let tries = || publications.iter().filter(|publication| publication.content == content);
            let accepted = || tries().filter(|publication| publication.rejected.is_none());
            let rejection = |p: &PublicationRecord| Some((p.hub.clone(), p.rejected.clone()?));
            PublishCandidate {
                eligibility: state.eligibility(&capsule),
                published_as: accepted().next_back().map(|publication| publication.asset_id.clone()),
                published_to: accepted().map(|publication| publication.hub.clone()).collect(),
                rejected_by: tries().filter_map(rejection).collect(),
                capsule,
            }
        })
        .collect();
    let rank = |offer: &PublishCandidate| {
        (offer.eligibility.eligible, offer.eligibility.streak, confidence(&offer.capsule))
    };
    offers.sort_by(|a, b| rank(b).partial_cmp(&rank(a)).unwrap_or(std::cmp::Ordering::Equal));
    Ok(offers)
}

/// The bundle of one capsule; refused where it is not eligible, unless `anyway`. What is somebody else's is always
/// refused.
pub fn outgoing(workspace: &Workspace, capsule_id: &str, anyway: bool) -> Result<OutgoingBundle> {
    let state = PublishState::read(workspace)?;
    let capsule = workspace.store.capsules.find(capsule_id)?.ok_or_else(|| {
        Problem::new(Code::NotFound, format!("No capsule has the id `{}`.", inert_line(cut(capsule_id, 120))))
            .fix("`capsid capsules` lists them.")
    })?;
    bundle(&state, &capsule, anyway)
}

pub(super) fn bundle(state: &PublishState, capsule: &Object, anyway: bool) -> Result<OutgoingBundle> {
    let eligibility = state.eligibility(capsule);
    let foreign = check_origin(capsule).is_err();
    if !eligibility.eligible && (foreign || !anyway) {
        return Err(not_eligible(capsule, &eligibility.reasons));
    }
    let stored = state.gene(capsule).ok_or_else(|| not_eligible(capsule, &eligibility.reasons))?;
    let gene = stamped_gene(stored, &state.other_commands(capsule))?;
    let record = state.record(capsule);
    let mut notes = gene.notes;
    let gene = gene.asset;

    let RedactedAsset { asset: mut sent, notes: of_capsule, .. } =
        redact::capsule(capsule, record.last_success.as_ref(), state.members);
    notes.extend(of_capsule);
    if list_is_empty(&sent, "trigger") {
        return Err(not_eligible(capsule, &["It has no signal of at least three characters.".to_owned()]));
    }
    sent.insert("schema_version".to_owned(), schema_version(capsule));
    sent.insert("gene".to_owned(), gene_id(&gene));
    sent.insert("success_streak".to_owned(), record.streak.into());
    if sent.get("confidence").and_then(Value::as_f64).is_none() {
        sent.insert("confidence".to_owned(), 0.5.into());
    }
    if let Some(parent) = parent(capsule, record.last_success.as_ref()) {
        sent.insert("parent".to_owned(), parent.into());
    }
    stamp(&mut sent);

    let event = record
        .last_success
        .as_ref()
        .map(|event| with_counts(event, &record))
        .and_then(|event| stamped_event(&event, &gene, &sent, state.members, &mut notes));
    if event.is_none() {
        notes.push("event: none is sent".to_owned());
    }
    Ok(OutgoingBundle {
        capsule_id: text(capsule, "id").to_owned(),
        content: publication_log::content(capsule, stored),
        assets: [gene, sent].into_iter().chain(event).collect(),
        notes,
    })
}

/// A gene as it leaves, with its id. Where others could run none of its own commands, the copy that leaves names the
/// first of `other_commands` that they could run; the id is that of the copy, as after every redaction.
pub(super) fn stamped_gene(stored: &Object, other_commands: &[String]) -> Result<RedactedAsset> {
    let mut clean = redact::gene(stored, other_commands);
    let category = text(stored, "category");
    let fault = if list_is_empty(&clean.asset, "signals_match") {
        Some("It names no signal of at least three characters.")
    } else if !CATEGORIES.contains(&category) {
        Some("Its category is none that hubs know.")
    } else {
        None
    };
    if let Some(fault) = fault {
        let message =
            format!("The gene `{}` cannot be shared. {fault}", inert_line(cut(text(stored, "id"), 120)));
        return Err(Problem::new(Code::NotEligible, message).fix("Change the gene, then publish again."));
    }
    clean.asset.insert("schema_version".to_owned(), schema_version(stored));
    stamp(&mut clean.asset);
    Ok(clean)
}

/// An event with how much it took to get there, where it does not say so itself.
fn with_counts(event: &Object, record: &CapsuleHistory) -> Object {
    let mut event = event.clone();
    for (member, count) in
        [("mutations_tried", record.mutations_tried), ("total_cycles", record.total_cycles)]
    {
        event.entry(member.to_owned()).or_insert_with(|| count.into());
    }
    event
}

fn stamped_event(
    stored: &Object,
    gene: &Object,
    capsule: &Object,
    members: SentMembers,
    notes: &mut Vec<String>,
) -> Option<Object> {
    if !INTENTS.contains(&text(stored, "intent")) {
        return None;
    }
    let mut clean = redact::event(stored, members);
    notes.append(&mut clean.notes);
    let mut event = clean.asset;
    event.insert("schema_version".to_owned(), schema_version(stored));
    event.insert("genes_used".to_owned(), vec![gene_id(gene)].into());
    event.insert("capsule_id".to_owned(), gene_id(capsule));
    let score = stored.get("outcome").and_then(|outcome| outcome.get("score")).and_then(Value::as_f64);
    let outcome = capsid_model::event::EventOutcome::read(stored.get("outcome"));
    if score.is_none() {
        event.insert("outcome".to_owned(), outcome.to_value());
    }
    stamp(&mut event);
    Some(event)
}

/// The foreign solution that this one was made after, if it was.
fn parent(capsule: &Object, event: Option<&Object>) -> Option<String> {
    let of = |asset: &Object| {
        let reused = text(asset, "reused_asset_id");
        (text(asset, "source_type") == "reference" && reused.starts_with("sha256:"))
            .then(|| reused.to_owned())
    };
    of(capsule).or_else(|| of(event?))
}

fn gene_id(stamped: &Object) -> Value {
    stamped.get("asset_id").cloned().unwrap_or_else(|| asset_id(stamped).into())
}

fn schema_version(stored: &Object) -> Value {
    let recorded =
        stored.get("schema_version").filter(|version| version.as_str().is_some_and(|v| v.len() <= 40));
    recorded.cloned().unwrap_or_else(|| SCHEMA_VERSION.into())
}

fn not_eligible(capsule: &Object, reasons: &[String]) -> Problem {
    let id = inert_line(cut(text(capsule, "id"), 120));
    Problem::new(Code::NotEligible, format!("`{id}` is not offered to others. {}", reasons.join(" ")))
        .fix("Let it prove itself in further cycles; `capsid node publish --dry-run` shows how each capsule stands.")
}

fn list_is_empty(asset: &Object, member: &str) -> bool {
    asset.get(member).and_then(Value::as_array).is_none_or(Vec::is_empty)
}

fn confidence(capsule: &Object) -> f64 {
    capsid_model::capsule::Capsule::read(capsule).confidence
}

fn text<'a>(document: &'a Object, member: &str) -> &'a str {
    document.get(member).and_then(Value::as_str).unwrap_or_default()
}
