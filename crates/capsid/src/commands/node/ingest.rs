//! `capsid node ingest`: foreign assets from files, checked and staged.

use crate::cli::Json;
use crate::commands::workspace;
use crate::output::{self, DIM, GOOD, NAME, paint};
use capsid_engine::exchange::stage::{Staged, stage};
use capsid_engine::workspace::Workspace;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Value, json};
use clap::Args;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file that is read.
const LARGEST: u64 = 64 << 20;

/// Take assets from files or the inbox, and stage them.
///
/// Each is checked: an id that is not the hash of the content, or a field that breaks the schema, and it is refused; the
/// rest goes on. What is staged is trusted less (confidence x 0.6) and never selected or run before
/// `capsid node promote`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node ingest shared.jsonl                   lines, a list, bundles or messages
  curl -s https://example.org/genes.json | capsid node ingest -
  capsid node ingest --inbox                        whatever lies in the inbox")]
pub struct Arguments {
    /// The files; `-` is standard input.
    #[arg(value_name = "FILE", required_unless_present = "inbox")]
    files: Vec<PathBuf>,
    /// The node that they come from, where they do not say themselves.
    #[arg(long, value_name = "NODE")]
    source: Option<String>,
    /// Read the messages in the inbox.
    #[arg(long)]
    inbox: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// Runs the command.
pub fn run(arguments: &Arguments, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    workspace.require_store()?;
    let mut files = arguments.files.clone();
    if arguments.inbox {
        files.extend(inbox(&workspace)?);
    }
    let mut all = Staged::default();
    for file in &files {
        match read(file).and_then(|text| stage(&workspace, &text, arguments.source.as_deref())) {
            Ok(staged) => {
                all.accepted.extend(staged.accepted);
                all.known += staged.known;
                all.refused.extend(staged.refused);
                all.notes.extend(staged.notes);
            }
            Err(problem) if files.len() == 1 => return Err(problem),
            Err(problem) => all.refused.push(problem),
        }
    }
    tell(&all, arguments.json.json);
    Ok(u8::from(!all.refused.is_empty()))
}

/// The files of messages that others left, in the order of their names.
fn inbox(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let folder = workspace.paths.assets.join("a2a/inbox");
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Problem::io("read", &folder, &error)),
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String> {
    let fail = |error: std::io::Error| Problem::io("read", path, &error);
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes).map_err(fail)?;
    } else {
        let file = std::fs::File::open(path).map_err(fail)?;
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(fail)?;
    }
    let name = inert_line(&path.display().to_string());
    if bytes.len() as u64 > LARGEST {
        return Err(Problem::new(Code::InputInvalid, format!("`{name}` is larger than 64 MiB."))
            .fix("Split it into smaller files."));
    }
    String::from_utf8(bytes).map_err(|_| Problem::new(Code::InputInvalid, format!("`{name}` is not UTF-8.")))
}

fn tell(all: &Staged, as_json: bool) {
    for problem in &all.refused {
        output::complain(problem);
    }
    for note in &all.notes {
        output::talk(inert_line(note));
    }
    if as_json {
        let refused: Vec<Value> = all
            .refused
            .iter()
            .map(|problem| json!({"code": problem.code.as_str(), "message": problem.message}))
            .collect();
        output::document(&json!({
            "ok": refused.is_empty(),
            "accepted": all.accepted.iter().map(summary).collect::<Vec<_>>(),
            "known": all.known,
            "refused": refused,
            "notes": all.notes,
        }));
        return;
    }
    let shown =
        |value: Option<&Value>| inert_line(cut(value.and_then(Value::as_str).unwrap_or_default(), 100));
    for asset in &all.accepted {
        let a2a = |name: &str| shown(asset.get("a2a").and_then(|a2a| a2a.get(name)));
        output::line(format_args!(
            "{}  {:<14} {}  from {}  {}",
            paint(GOOD, "staged"),
            shown(asset.get("type")),
            paint(NAME, shown(asset.get("id"))),
            a2a("source"),
            paint(DIM, a2a("received_asset_id"))
        ));
    }
    output::talk(format_args!(
        "{} staged, {} known, {} refused. `capsid node promote ID` takes one in.",
        all.accepted.len(),
        all.known,
        all.refused.len()
    ));
}

fn summary(asset: &Object) -> Value {
    json!({
        "type": asset.get("type"),
        "id": asset.get("id"),
        "asset_id": asset.get("asset_id"),
        "confidence": asset.get("confidence"),
        "a2a": asset.get("a2a"),
    })
}
