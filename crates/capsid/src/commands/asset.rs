//! `capsid asset`: content addressing of any asset file.

use crate::cli::Json;
use crate::output::{self, BAD, DIM, GOOD, WARN, paint};
use capsid_model::asset::{self, Verdict};
use capsid_model::{Code, Problem, Result, Value, canonical, json, schema, text};
use clap::{Args, Subcommand};
use serde_json::value::RawValue;
use std::io::Read;
use std::path::Path;

/// Compute, show and check the content ids of asset files.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the id of each asset, alone on a line.
    Id(Files),
    /// Print the canonical form of each document, alone on a line.
    Canonical(Files),
    /// Check that each asset's stored id is the hash of its content; exit 1 and name what differs.
    Verify(FilesJson),
    /// Report every field that breaks the schema; exit 1 if one does.
    Check(FilesJson),
}

#[derive(Debug, Args)]
struct Files {
    /// JSON files: one document, an array, a list file such as genes.json, or JSON lines; `-` reads stdin.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

#[derive(Debug, Args)]
struct FilesJson {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    json: Json,
}

impl Arguments {
    /// Whether JSON was asked for.
    pub fn json(&self) -> bool {
        match &self.action {
            Action::Verify(arguments) | Action::Check(arguments) => arguments.json.json,
            Action::Id(_) | Action::Canonical(_) => false,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<u8> {
    match &arguments.action {
        Action::Id(files) => ids(&files.files),
        Action::Canonical(files) => canonical_forms(&files.files),
        Action::Verify(arguments) => verify(&arguments.files.files, arguments.json.json),
        Action::Check(arguments) => check(&arguments.files.files, arguments.json.json),
    }
}

/// One document of a file, as its exact text.
struct Document {
    /// The file, with the document's place when it holds several.
    place: String,
    text: String,
}

impl Document {
    fn value(&self) -> Result<Value> {
        canonical::read(&self.text).map_err(|problem| at(&self.place, problem))
    }

    fn name(&self) -> String {
        let id =
            self.value().ok().and_then(|value| value.get("id").and_then(Value::as_str).map(str::to_owned));
        id.map_or_else(|| self.place.clone(), |id| format!("{}: {}", self.place, text::inert_line(&id)))
    }
}

fn ids(files: &[String]) -> Result<u8> {
    for document in read_all(files)? {
        let id = asset::asset_id_of_text(&document.text).map_err(|problem| at(&document.place, problem))?;
        let id = id.ok_or_else(|| {
            Problem::new(
                Code::InputInvalid,
                format!("`{}` is not an object, so it has no id.", document.place),
            )
            .fix("Give an asset: a JSON object.")
        })?;
        output::line(id);
    }
    Ok(0)
}

fn canonical_forms(files: &[String]) -> Result<u8> {
    for document in read_all(files)? {
        output::line(canonical::of_text(&document.text).map_err(|problem| at(&document.place, problem))?);
    }
    Ok(0)
}

fn verify(files: &[String], as_json: bool) -> Result<u8> {
    let documents = read_all(files)?;
    let mut results = Vec::new();
    let mut failed = 0;
    for document in &documents {
        let verdict = asset::verify_text(&document.text).map_err(|problem| at(&document.place, problem))?;
        failed += u64::from(!verdict.holds());
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

fn verdict_line(document: &Document, verdict: &Verdict) -> String {
    let name = document.name();
    match verdict {
        Verdict::Verified => format!("{}  {name}", paint(GOOD, "verified")),
        Verdict::VerifiedLegacy => format!(
            "{}  {name}  {}",
            paint(GOOD, "verified-legacy"),
            paint(DIM, "(hashed with region: null)")
        ),
        Verdict::Mismatch { stored, computed } => format!(
            "{}  {name}\n  stored    {}\n  computed  {computed}",
            paint(BAD, "mismatch"),
            text::inert_line(stored)
        ),
        Verdict::Missing { computed } => {
            format!("{}  {name}\n  computed  {computed}", paint(BAD, "no asset_id"))
        }
        Verdict::NotAnObject => format!("{}  {name}", paint(BAD, "not an object")),
    }
}

fn verdict_json(document: &Document, verdict: &Verdict) -> Value {
    let mut value = json!({"place": document.place, "ok": verdict.holds()});
    let (status, stored, computed) = match verdict {
        Verdict::Verified => ("verified", None, None),
        Verdict::VerifiedLegacy => ("verified-legacy", None, None),
        Verdict::Mismatch { stored, computed } => ("asset_id_mismatch", Some(stored), Some(computed)),
        Verdict::Missing { computed } => ("asset_id_missing", None, Some(computed)),
        Verdict::NotAnObject => ("not_an_object", None, None),
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

fn check(files: &[String], as_json: bool) -> Result<u8> {
    let documents = read_all(files)?;
    let mut results = Vec::new();
    let mut errors = 0;
    for document in &documents {
        let findings = schema::check(&document.value()?);
        errors += findings.iter().filter(|f| f.severity == schema::Severity::Error).count();
        if as_json {
            let findings: Vec<Value> = findings.iter().map(finding_json).collect();
            results.push(json!({"place": document.place, "findings": findings}));
            continue;
        }
        if findings.is_empty() {
            output::line(format_args!("{}  {}", paint(GOOD, "ok"), document.name()));
        } else {
            output::line(document.name());
        }
        for finding in &findings {
            let mark = match finding.severity {
                schema::Severity::Error => paint(BAD, "error"),
                schema::Severity::Note => paint(WARN, "note "),
            };
            output::line(format_args!("  {mark}  {}: {}", finding.path, text::inert_line(&finding.message)));
        }
    }
    if as_json {
        output::document(&json!({"ok": errors == 0, "errors": errors, "assets": results}));
    }
    Ok(u8::from(errors > 0))
}

fn finding_json(finding: &schema::Finding) -> Value {
    let severity = match finding.severity {
        schema::Severity::Error => "error",
        schema::Severity::Note => "note",
    };
    json!({"path": finding.path, "severity": severity, "message": finding.message})
}

fn read_all(files: &[String]) -> Result<Vec<Document>> {
    let mut documents = Vec::new();
    for file in files {
        let text = read(file)?;
        documents.extend(split(file, &text)?);
    }
    Ok(documents)
}

fn read(file: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let result = if file == "-" {
        std::io::stdin().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(file).map(|content| bytes = content)
    };
    result.map_err(|error| Problem::io("read", Path::new(file), &error))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Problem::new(Code::JsonInvalid, format!("`{file}` is not UTF-8 text.")).fix("Save the file as UTF-8.")
    })?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// The documents of a text: the members of an array or of a store's list, the lines of JSON lines, or the text itself.
fn split(file: &str, text: &str) -> Result<Vec<Document>> {
    if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) {
        return Ok(numbered(file, "", items.into_iter().map(RawValue::get)));
    }
    if let Some((member, items)) = store_list(text) {
        return Ok(numbered(file, member, items.iter().map(|item| item.get())));
    }
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_lines =
        lines.len() > 1 && lines.iter().all(|line| serde_json::from_str::<&RawValue>(line).is_ok());
    if is_lines {
        return Ok(numbered(file, "", lines.into_iter()));
    }
    // Whatever it is, reading it later tells what is wrong with it and where.
    if lines.is_empty() && file != "-" && file.ends_with(".jsonl") {
        return Ok(Vec::new());
    }
    if lines.len() > 1 && lines[0].starts_with('{') && lines[0].ends_with('}') {
        return broken_line(file, &lines);
    }
    Ok(vec![Document { place: file.to_owned(), text: text.to_owned() }])
}

fn broken_line(file: &str, lines: &[&str]) -> Result<Vec<Document>> {
    let found = lines.iter().enumerate().find_map(|(at, line)| canonical::read(line).err().map(|p| (at, p)));
    match found {
        Some((at_line, problem)) => Err(at(&format!("{file}:{}", at_line + 1), problem)),
        None => Ok(numbered(file, "", lines.iter().copied())),
    }
}

/// The list of a store file such as `genes.json`, with the name of its member.
fn store_list(text: &str) -> Option<(&'static str, Vec<Box<RawValue>>)> {
    let members: std::collections::BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).ok()?;
    if members.contains_key("type") {
        return None;
    }
    ["genes", "capsules", "failed_capsules"]
        .into_iter()
        .find_map(|name| Some((name, serde_json::from_str(members.get(name)?.get()).ok()?)))
}

fn numbered<'a>(file: &str, member: &str, texts: impl Iterator<Item = &'a str>) -> Vec<Document> {
    texts
        .enumerate()
        .map(|(at, text)| {
            let place = if member.is_empty() {
                format!("{file}:{}", at + 1)
            } else {
                format!("{file}:{member}[{at}]")
            };
            Document { place, text: text.to_owned() }
        })
        .collect()
}

fn at(place: &str, mut problem: Problem) -> Problem {
    problem.message = format!("`{place}`: {}", problem.message);
    problem
}
