//! `capsid asset`: content addressing of any asset file.

use super::documents::{AssetDocument, at, read_all};
use crate::output::{self, BAD, DIM, GOOD, WARN, paint};
use capsid_model::asset::{self, IdVerdict};
use capsid_model::{Code, Problem, Result, Value, canonical, json, schema, text};
use clap::{Args, Subcommand};

/// Compute, show and check the content ids of asset files.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid asset verify assets/gep/genes.json assets/gep/events.jsonl
  capsid asset check gene.json
  curl -s https://example.org/gene.json | capsid asset id -")]
pub struct AssetArgs {
    #[command(subcommand)]
    action: AssetCommand,
}

#[derive(Debug, Subcommand)]
enum AssetCommand {
    /// Print the id of each asset, alone on a line.
    #[command(after_help = "\
Examples:
  capsid asset id gene.json               sha256:...
  capsid asset id --json genes.json       every id with its place in the file")]
    Id(AssetFiles),
    /// Print the canonical form of each document, alone on a line.
    #[command(after_help = "\
Examples:
  capsid asset canonical gene.json        members sorted, no white space, numbers in their shortest form
  echo '{\"b\":1.0,\"a\":2}' | capsid asset canonical -")]
    Canonical(AssetFiles),
    /// Check that each asset's stored id is the hash of its content; exit 1 and name what differs.
    #[command(after_help = "\
Examples:
  capsid asset verify assets/gep/*.json assets/gep/events.jsonl
  capsid asset verify --json gene.json")]
    Verify(AssetFiles),
    /// Report every field that breaks the schema; exit 1 if one does.
    #[command(after_help = "\
Examples:
  capsid asset check gene.json
  capsid asset check --json assets/gep/genes.json")]
    Check(AssetFiles),
}

#[derive(Debug, Args)]
struct AssetFiles {
    /// JSON files: one document, an array, a list file such as genes.json, or JSON lines; `-` reads stdin.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

impl AssetArgs {
    fn files(&self) -> &AssetFiles {
        match &self.action {
            AssetCommand::Id(files)
            | AssetCommand::Canonical(files)
            | AssetCommand::Verify(files)
            | AssetCommand::Check(files) => files,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &AssetArgs) -> Result<u8> {
    let documents = read_all(&arguments.files().files)?;
    let as_json = output::is_json();
    match &arguments.action {
        AssetCommand::Id(_) => print_each(&documents, "asset_id", id, as_json),
        AssetCommand::Canonical(_) => print_each(&documents, "canonical", canonical::canonical_text, as_json),
        AssetCommand::Verify(_) => verify(&documents, as_json),
        AssetCommand::Check(_) => check(&documents, as_json),
    }
}

/// Prints what a rule makes of each document; nothing if one of them cannot be read.
fn print_each(
    documents: &[AssetDocument],
    name: &str,
    rule: fn(&str) -> Result<String>,
    as_json: bool,
) -> Result<u8> {
    let made = documents
        .iter()
        .map(|document| document.text().and_then(rule).map_err(|problem| at(&document.location, problem)))
        .collect::<Result<Vec<String>>>()?;
    if as_json {
        let entries = documents.iter().zip(made);
        let entries = entries.map(|(document, text)| json!({"place": document.location, name: text}));
        output::document(&Value::Array(entries.collect()));
    } else {
        made.iter().for_each(|text| output::json_line(text));
    }
    Ok(0)
}

fn id(text: &str) -> Result<String> {
    asset::asset_id_of_text(text)?.ok_or_else(|| {
        Problem::new(Code::InputInvalid, "It is not an object, so it has no id.")
            .fix("Give an asset: a JSON object.")
    })
}

fn verify(documents: &[AssetDocument], as_json: bool) -> Result<u8> {
    let mut results = Vec::new();
    let mut failed = 0;
    for document in documents {
        let verdict = document.try_to(asset::verify_text)?;
        failed += u64::from(!verdict.as_ref().is_ok_and(IdVerdict::holds));
        if as_json {
            results.push(verdict_json(document, &verdict));
        } else {
            output::line(verdict_line(document, &verdict));
        }
    }
    if as_json {
        output::document(
            &json!({"ok": failed == 0, "verified": documents.len() as u64 - failed, "total": documents.len(), "assets": results}),
        );
    } else if documents.len() > 1 {
        output::talk(format_args!("{} of {} verified.", documents.len() as u64 - failed, documents.len()));
    }
    Ok(u8::from(failed > 0))
}

/// Why a document could not be read, printed after `not JSON`.
fn reason(problem: &Problem) -> &str {
    problem.message.trim_start_matches("Not JSON: ")
}

fn verdict_line(document: &AssetDocument, verdict: &Result<IdVerdict>) -> String {
    let name = document.name();
    let verdict = match verdict {
        Ok(verdict) => verdict,
        Err(problem) => {
            return format!("{}  {name}\n  {}", paint(BAD, "not JSON"), text::inert_line(reason(problem)));
        }
    };
    match verdict {
        IdVerdict::Verified => format!("{}  {name}", paint(GOOD, "verified")),
        IdVerdict::VerifiedLegacy => format!(
            "{}  {name}  {}",
            paint(GOOD, "verified-legacy"),
            paint(DIM, "(hashed with region: null)")
        ),
        IdVerdict::Mismatch { stored, computed } => format!(
            "{}  {name}\n  stored    {}\n  computed  {computed}",
            paint(BAD, "mismatch"),
            text::inert_line(stored)
        ),
        IdVerdict::Missing { computed } => {
            format!("{}  {name}\n  computed  {computed}", paint(BAD, "no asset_id"))
        }
        IdVerdict::NotAnObject => format!("{}  {name}", paint(BAD, "not an object")),
    }
}

fn verdict_json(document: &AssetDocument, verdict: &Result<IdVerdict>) -> Value {
    let verdict = match verdict {
        Ok(verdict) => verdict,
        Err(problem) => {
            return json!({"place": document.location, "ok": false, "status": "not_json", "reason": reason(problem)});
        }
    };
    let mut value = json!({"place": document.location, "ok": verdict.holds()});
    let (status, stored, computed) = match verdict {
        IdVerdict::Verified => ("verified", None, None),
        IdVerdict::VerifiedLegacy => ("verified-legacy", None, None),
        IdVerdict::Mismatch { stored, computed } => ("asset_id_mismatch", Some(stored), Some(computed)),
        IdVerdict::Missing { computed } => ("asset_id_missing", None, Some(computed)),
        IdVerdict::NotAnObject => ("not_an_object", None, None),
    };
    value["status"] = status.into();
    if let Some(stored) = stored {
        value["stored"] = stored.as_str().into();
    }
    if let Some(computed) = computed {
        value["computed"] = computed.as_str().into();
    }
    value
}

fn check(documents: &[AssetDocument], as_json: bool) -> Result<u8> {
    let mut results = Vec::new();
    let mut errors = 0;
    for document in documents {
        let findings = match document.try_to(canonical::read)? {
            Ok(value) => schema::check(&value),
            Err(problem) => vec![not_json(&problem)],
        };
        errors += findings.iter().filter(|f| f.severity == schema::SchemaSeverity::Error).count();
        if as_json {
            let findings: Vec<Value> = findings.iter().map(finding_json).collect();
            results.push(json!({"place": document.location, "findings": findings}));
            continue;
        }
        if findings.is_empty() {
            output::line(format_args!("{}  {}", paint(GOOD, "ok"), document.name()));
        } else {
            output::line(document.name());
        }
        for finding in &findings {
            let mark = match finding.severity {
                schema::SchemaSeverity::Error => paint(BAD, "error"),
                schema::SchemaSeverity::Note => paint(WARN, "note "),
            };
            output::line(format_args!("  {mark}  {}", text::inert_line(&finding.to_string())));
        }
    }
    if as_json {
        output::document(&json!({"ok": errors == 0, "errors": errors, "assets": results}));
    }
    Ok(u8::from(errors > 0))
}

fn not_json(problem: &Problem) -> schema::SchemaFinding {
    let message = format!("is not JSON: {}", reason(problem));
    schema::SchemaFinding { path: String::new(), severity: schema::SchemaSeverity::Error, message }
}

fn finding_json(finding: &schema::SchemaFinding) -> Value {
    json!({"path": finding.path, "severity": finding.severity.as_str(), "message": finding.message})
}
