//! `capsid node export`: what may be shared, for files instead of a hub.

use crate::commands::{home_folder, variable, workspace};
use crate::output::{self, GOOD, NAME, paint};
use capsid_client::files::FileTransport;
use capsid_client::{Identity, envelope};
use capsid_disk::files;
use capsid_engine::exchange::export::{ShareExport, export};
use capsid_engine::workspace::Workspace;
use capsid_model::text::inert_line;
use capsid_model::{Result, Value, json};
use clap::Args;
use std::path::{Path, PathBuf};

/// Write eligible assets as lines, bundles or messages, for files instead of a hub.
///
/// Capsules that may be shared come first, then genes; all of it redacted, each with the id of its redacted form. Others
/// read it with `capsid node ingest`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node export > shared.jsonl                 one asset a line
  capsid node export --bundles --out shared.jsonl   one bundle a line: gene, capsule and event together
  capsid node export --protocol --persist           messages, also put into the outbox")]
pub struct NodeExportArgs {
    /// One bundle a line, as it would be published.
    #[arg(long, conflicts_with = "protocol")]
    bundles: bool,
    /// Messages of the protocol: a hello, then one publish a bundle, as a hub takes them.
    #[arg(long)]
    protocol: bool,
    /// One asset a line; this is the default.
    #[arg(long, value_name = "FORMAT", value_parser = ["jsonl"], conflicts_with_all = ["bundles", "protocol"])]
    format: Option<String>,
    /// The old name of `--format jsonl`.
    #[arg(long, hide = true, conflicts_with_all = ["bundles", "protocol"])]
    jsonl: bool,
    /// Events as well.
    #[arg(long)]
    include_events: bool,
    /// The file to write instead of printing; one that is there is replaced.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Put the messages into the outbox too, for whoever carries files.
    #[arg(long)]
    persist: bool,
}

/// Runs the command.
pub fn run(arguments: &NodeExportArgs, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    let export = export(&workspace, arguments.include_events)?;
    if (arguments.protocol || arguments.persist) && export.genes.len() > export.bundles.len() {
        output::talk(
            "Genes without an eligible capsule are in no message: a hub takes a gene and a capsule together.",
        );
    }
    let items: Vec<Value> = if arguments.bundles {
        export.bundles.iter().map(|bundle| json!({"assets": bundle.assets})).collect()
    } else if arguments.protocol {
        messages(&workspace, &export)?
    } else {
        export.assets().into_iter().cloned().map(Value::Object).collect()
    };
    write(arguments, items)?;
    if arguments.persist {
        let outbox = FileTransport::resolve(&workspace.paths.assets, &variable);
        for message in messages(&workspace, &export)? {
            outbox.send(&message)?;
        }
    }
    for note in &export.notes {
        output::talk(inert_line(note));
    }
    let (capsules, genes, events) = (export.bundles.len(), export.genes.len(), export.events.len());
    output::talk(format_args!("{capsules} capsules, {genes} genes, {events} events"));
    Ok(0)
}

fn write(arguments: &NodeExportArgs, items: Vec<Value>) -> Result<()> {
    let text = if output::is_json() {
        format!("{}\n", Value::Array(items))
    } else {
        items.iter().map(|item| format!("{item}\n")).collect()
    };
    let Some(path) = &arguments.out else {
        output::lines(&text);
        return Ok(());
    };
    files::replace(path, text.as_bytes())?;
    output::talk(format_args!("{}  {}", paint(GOOD, "written"), paint(NAME, path.display())));
    Ok(())
}

/// A hello, then one publish a bundle.
fn messages(workspace: &Workspace, export: &ShareExport) -> Result<Vec<Value>> {
    let identity = Identity::open(&home_folder()?, &variable)?;
    let now = workspace.now();
    let message = |kind: &str, payload: Value| {
        let id = envelope::message_id(now, workspace.random());
        envelope::message(kind, &id, &identity.node_id, now, payload)
    };
    let hello = json!({
        "capabilities": {},
        "gene_count": export.genes.len(),
        "capsule_count": export.bundles.len(),
        "env_fingerprint": workspace.fingerprint().to_object(),
    });
    let bundles = export.bundles.iter().map(|bundle| message("publish", json!({"assets": bundle.assets})));
    Ok(std::iter::once(message("hello", hello)).chain(bundles).collect())
}
