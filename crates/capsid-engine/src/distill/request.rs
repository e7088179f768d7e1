//! Whether it is time to distill, and the request if it is.

use super::{DistillPaths, prompt};
use crate::store::{self, AssetStore};
use capsid_disk::files;
use capsid_model::capsule::Capsule;
use capsid_model::{Object, Result, Time, Value, hash, id, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Days between two distillations.
const INTERVAL_DAYS: f64 = 1.0;

/// Successful capsules that must exist, and newest attempts that are looked at.
const NEEDED: usize = 10;

/// How many of the newest attempts must have been successes.
const NEEDED_RECENT: usize = 7;

/// What a request is made from.
pub struct DistillRequest<'a> {
    /// The store with the capsules.
    pub store: &'a AssetStore,
    /// The folder of the distiller's files.
    pub memory: &'a Path,
    /// Whether the owner wants distillation at all.
    pub enabled: bool,
    /// Whether to ask although the last time was less than a day ago.
    pub force: bool,
    pub now: Time,
    /// Removes secrets from a text.
    pub redact: &'a dyn Fn(&str) -> String,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum DistillOutcome {
    Written {
        /// The prompt for the model.
        prompt: PathBuf,
        /// The request as written.
        document: Object,
    },
    /// There was no reason to ask.
    Skipped(DistillSkip),
}

/// Why no request was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistillSkip {
    /// The owner switched it off.
    Disabled,
    /// The last time was less than a day ago.
    TooSoon,
    InsufficientData,
    /// The capsules are those of the last time.
    IdempotentSkip,
}

impl DistillSkip {
    /// The reason as it is recorded.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::TooSoon => "too_soon",
            Self::InsufficientData => "insufficient_data",
            Self::IdempotentSkip => "idempotent_skip",
        }
    }
}

/// Writes the prompt, the request and the distiller's state, when it is time.
pub fn request(input: &DistillRequest<'_>) -> Result<DistillOutcome> {
    let paths = DistillPaths(input.memory);
    let state = store::read_state(&paths.state())?;
    if !input.enabled {
        return Ok(DistillOutcome::Skipped(DistillSkip::Disabled));
    }
    if !input.force && is_too_soon(&state, input.now) {
        return Ok(DistillOutcome::Skipped(DistillSkip::TooSoon));
    }
    let successes = successes(input.store)?;
    if successes.len() < NEEDED || recent_successes(input.store)? < NEEDED_RECENT {
        return Ok(DistillOutcome::Skipped(DistillSkip::InsufficientData));
    }
    let data_hash = data_hash(&successes);
    if state.get("last_data_hash").and_then(Value::as_str) == Some(&data_hash) {
        return Ok(DistillOutcome::Skipped(DistillSkip::IdempotentSkip));
    }
    write(input, &successes, &data_hash)
}

fn write(input: &DistillRequest<'_>, capsules: &[Capsule], data_hash: &str) -> Result<DistillOutcome> {
    let paths = DistillPaths(input.memory);
    let path = input.memory.join(format!("distill_prompt_{}.txt", input.now.0));
    let genes = input.store.genes.documents()?;
    let text = prompt::build(capsules, &genes, data_hash, input.redact);
    let document = object(json!({
        "type": "DistillationRequest",
        "created_at": input.now.iso(),
        "prompt_path": path.display().to_string(),
        "data_hash": data_hash,
        "input_capsule_count": capsules.len(),
        "analysis_summary": analysis(capsules),
    }));
    let state = object(json!({
        "last_distillation_at": input.now.iso(),
        "last_data_hash": data_hash,
    }));
    // The state comes last: until it is there, the same request is simply made again.
    files::replace(&path, text.as_bytes())?;
    store::write_state(&paths.request(), &document)?;
    store::write_state(&paths.state(), &state)?;
    Ok(DistillOutcome::Written { prompt: path, document })
}

fn is_too_soon(state: &Object, now: Time) -> bool {
    state
        .get("last_distillation_at")
        .and_then(Value::as_str)
        .and_then(Time::parse)
        .is_some_and(|last| now.days_since(last) < INTERVAL_DAYS)
}

fn successes(store: &AssetStore) -> Result<Vec<Capsule>> {
    let capsules = store.capsules.documents()?;
    Ok(capsules.iter().map(Capsule::read).filter(|capsule| capsule.outcome.is_success()).collect())
}

/// The successes among the newest attempts, those in the list of failed ones included.
fn recent_successes(store: &AssetStore) -> Result<usize> {
    let mut attempts: Vec<(i64, bool)> = Vec::new();
    for document in store.capsules.documents()?.iter().chain(&store.failed.documents()?) {
        let capsule = Capsule::read(document);
        let stamp = id::stamp_of(&capsule.id).unwrap_or_default();
        attempts.push((stamp, capsule.outcome.is_success()));
    }
    attempts.sort_by_key(|(stamp, _)| std::cmp::Reverse(*stamp));
    Ok(attempts.iter().take(NEEDED).filter(|(_, success)| *success).count())
}

/// The first 16 hex digits of the hash of the sorted ids: the same capsules are not distilled twice.
fn data_hash(capsules: &[Capsule]) -> String {
    let mut ids: Vec<&str> = capsules.iter().map(|capsule| capsule.id.as_str()).collect();
    ids.sort_unstable();
    let mut digest = hash::sha256_hex(ids.join("|").as_bytes());
    digest.truncate(16);
    digest
}

/// How often each gene led to a success, the most frequent ones.
fn analysis(capsules: &[Capsule]) -> Object {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for capsule in capsules {
        *counts.entry(capsule.gene.as_str()).or_default() += 1;
    }
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let genes: Vec<Value> =
        counts.iter().take(10).map(|(gene, count)| json!({"gene": gene, "capsules": count})).collect();
    object(json!({"successes": capsules.len(), "genes": genes}))
}

pub(super) fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}
