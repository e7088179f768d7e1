//! `capsid node ingest`: foreign assets from files, checked and staged.

use crate::commands::{variable, workspace};
use crate::output::{self, DIM, GOOD, NAME, paint};
use capsid_client::files::FileTransport;
use capsid_engine::exchange::stage::{StageOutcome, stage};
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
/// Each is checked: an id that is not the hash of the content, a field that breaks the schema, or none that its type is
/// nothing without (a gene without signals, a capsule without a gene), and it is refused; the rest goes on. What is staged is trusted less (confidence x 0.6) and never selected or run before
/// `capsid node promote`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node ingest shared.jsonl                   lines, a list, bundles or messages
  curl -s https://example.org/genes.json | capsid node ingest -
  capsid node ingest --inbox                        everything in the inbox")]
pub struct NodeIngestArgs {
    /// The files; `-` is standard input.
    #[arg(value_name = "FILE", required_unless_present = "inbox")]
    files: Vec<PathBuf>,
    /// The node that they come from, where they do not say themselves.
    #[arg(long, value_name = "NODE")]
    source: Option<String>,
    /// Read the messages in the inbox.
    #[arg(long)]
    inbox: bool,
}

/// Runs the command.
pub fn run(arguments: &NodeIngestArgs, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    workspace.require_store()?;
    let (files, source) = (&arguments.files, arguments.source.as_deref());
    let mut all = StageOutcome::default();
    if arguments.inbox {
        from_inbox(&workspace, source, &mut all)?;
    }
    for file in files {
        match read(file).and_then(|text| stage(&workspace, &text, source)) {
            Ok(staged) => gather(&mut all, staged),
            Err(problem) if files.len() == 1 && !arguments.inbox => return Err(problem),
            Err(problem) => all.refused.push(problem),
        }
    }
    print_staged(&all, output::is_json());
    Ok(u8::from(!all.refused.is_empty()))
}

/// Stages what others left in the inbox. A message is consumed once its assets are staged.
fn from_inbox(workspace: &Workspace, source: Option<&str>, all: &mut StageOutcome) -> Result<()> {
    let inbox = FileTransport::resolve(&workspace.paths.assets, &variable);
    loop {
        let mut batch = inbox.read_batch()?;
        let text: String = batch.messages.iter().map(|message| format!("{}\n", json!(message))).collect();
        if !text.is_empty() {
            gather(all, stage(workspace, &text, source)?);
        }
        all.refused.append(&mut batch.problems);
        let more = batch.more;
        batch.done()?;
        if !more {
            return Ok(());
        }
    }
}

fn gather(all: &mut StageOutcome, staged: StageOutcome) {
    all.accepted.extend(staged.accepted);
    all.known += staged.known;
    all.refused.extend(staged.refused);
    all.notes.extend(staged.notes);
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

fn print_staged(all: &StageOutcome, as_json: bool) {
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
    let display =
        |value: Option<&Value>| inert_line(cut(value.and_then(Value::as_str).unwrap_or_default(), 100));
    for asset in &all.accepted {
        let a2a = |name: &str| display(asset.get("a2a").and_then(|a2a| a2a.get(name)));
        output::line(format_args!(
            "{}  {:<14} {}  from {}  {}",
            paint(GOOD, "staged"),
            display(asset.get("type")),
            paint(NAME, display(asset.get("id"))),
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
