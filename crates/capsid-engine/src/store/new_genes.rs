//! Genes that their owner wrote, on their way into the store.

use super::AssetStore;
use super::collection::pretty;
use capsid_model::asset::stamp;
use capsid_model::gene::Gene;
use capsid_model::schema::{self, SchemaSeverity};
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, SCHEMA_VERSION, Value};
use std::collections::HashSet;

/// The most findings that one error names.
const MAX_FINDINGS: usize = 5;

/// The genes of a TOML text: one, or several under `[[genes]]`.
pub fn parse_toml(text: &str) -> Result<Vec<Value>> {
    let parsed: Value = toml::from_str(text).map_err(|error| {
        let message = format!("It is not TOML: {}.", inert_line(error.message()));
        Problem::new(Code::InputInvalid, message)
            .fix("Correct the file. `capsid genes show ID` shows a gene.")
    })?;
    Ok(match parsed {
        Value::Object(mut file) if !file.contains_key("id") && file.contains_key("genes") => {
            match file.remove("genes") {
                Some(Value::Array(genes)) => genes,
                other => other.into_iter().collect(),
            }
        }
        gene => vec![gene],
    })
}

/// A gene as the store keeps it: with its type, its version and its id, which is the hash of its content. `location`
/// says where it was read.
pub fn prepare(document: Value, location: &str) -> Result<Object> {
    let place = inert_line(location);
    let Value::Object(mut gene) = document else {
        return Err(Problem::new(
            Code::InputInvalid,
            format!("`{place}` is not an object, so it is no gene."),
        ));
    };
    gene.entry("type").or_insert_with(|| "Gene".into());
    gene.entry("schema_version").or_insert_with(|| SCHEMA_VERSION.into());
    stamp(&mut gene);
    if !Gene::is_gene(&gene) {
        let message = format!("`{place}` is another kind of asset, not a gene.");
        return Err(Problem::new(Code::InputInvalid, message).fix("Set `type` to `Gene`, or leave it out."));
    }
    let findings = schema::check(&Value::Object(gene.clone()));
    let errors: Vec<String> = findings
        .iter()
        .filter(|finding| finding.severity == SchemaSeverity::Error)
        .take(MAX_FINDINGS)
        .map(|finding| inert_line(&finding.to_string()))
        .collect();
    if errors.is_empty() {
        return Ok(gene);
    }
    let message = format!("`{place}` is no gene that can be used: {}.", errors.join("; "));
    Err(Problem::new(Code::SchemaViolation, message)
        .fix("Correct the file. `capsid genes show ID` shows a gene that is complete."))
}

/// Adds genes to the store, all or none: an id that is taken is refused. The caller holds the store's lock.
pub fn add(store: &AssetStore, genes: &[Object]) -> Result<()> {
    let known = store.genes.documents()?;
    let id = |gene: &Object| gene.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut taken: HashSet<String> = known.iter().map(id).collect();
    for gene in genes {
        let id = id(gene);
        if !taken.insert(id.clone()) {
            let shown = inert_line(cut(&id, 120));
            return Err(Problem::new(
                Code::GeneExists,
                format!("A gene `{shown}` is there already; nothing was added."),
            )
            .fix(format!("Give it another id. `capsid genes show {shown}` shows the one that is there.")));
        }
    }
    let texts: Vec<String> = genes.iter().map(pretty).collect();
    store.genes.extend(&texts)
}

#[cfg(test)]
#[path = "new_genes_tests.rs"]
mod tests;
