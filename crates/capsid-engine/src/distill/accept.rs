//! Taking the answer to a request.

use super::request::object;
use super::{DistillPaths, extract, gene};
use crate::store::{self, AssetStore};
use capsid_disk::files;
use capsid_model::gene::Gene;
use capsid_model::{Code, Object, Problem, Result, Time, Value, json};
use std::path::Path;

/// The longest answer that is read.
const MAX_ANSWER: usize = 1 << 20;

/// What an answer is checked against and stored in.
pub struct DistillAcceptance<'a> {
    /// The store that takes the gene.
    pub store: &'a AssetStore,
    /// The folder of the distiller's files.
    pub memory: &'a Path,
    pub now: Time,
    /// Whether the gate lets a validation command through.
    pub allows: &'a dyn Fn(&str) -> bool,
}

/// Takes the first gene of an answer into the store, stamped, and settles the request.
pub fn accept(response: &str, input: &DistillAcceptance<'_>) -> Result<Object> {
    let paths = DistillPaths(input.memory);
    let request = store::read_state(&paths.request())?;
    if request.is_empty() {
        return Err(refused("no_request", "no request waits for an answer")
            .fix("Run `capsid distill` first to write a request."));
    }
    let answer = (response.len() <= MAX_ANSWER)
        .then(|| extract::first_gene(response))
        .flatten()
        .ok_or_else(|| refused("no_gene_in_response", "it holds no JSON object of type `Gene`"))?;
    let existing: Vec<Gene> = input.store.genes.documents()?.iter().map(Gene::read).collect();
    let gene = gene::checked(&answer, &existing, input.allows)
        .map_err(|reason| refused("validation_failed", &reason))?;
    crate::files::phase::enter("genes");
    input.store.genes.upsert(&gene)?;
    log(input, &request, &gene)?;
    files::remove(&paths.request())?;
    Ok(gene)
}

fn log(input: &DistillAcceptance<'_>, request: &Object, gene: &Object) -> Result<()> {
    let line = object(json!({
        "type": "Distillation",
        "at": input.now.iso(),
        "gene_id": gene.get("id"),
        "asset_id": gene.get("asset_id"),
        "data_hash": request.get("data_hash"),
        "input_capsule_count": request.get("input_capsule_count"),
    }));
    files::append(&DistillPaths(input.memory).log(), &format!("{}\n", Value::Object(line)))
}

fn refused(reason: &str, detail: &str) -> Problem {
    Problem::new(Code::DistillRefused, format!("The answer was not taken ({reason}): {detail}."))
        .fix("Give the prompt of the request to a model again and pass on its answer.")
}
