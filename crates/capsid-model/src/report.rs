//! A ValidationReport: which commands ran, and what they printed.

use crate::asset::stamp;
use crate::env::EnvFingerprint;
use crate::text::cut_front;
use crate::{Object, SCHEMA_VERSION, Time, Value, json};

/// The most that is kept of the end of each output, in UTF-16 units.
pub const OUTPUT_LIMIT: usize = 4000;

/// The result of one validation command.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommandResult {
    /// The command as the gene wrote it.
    pub command: String,
    /// Whether it passed.
    pub ok: bool,
    /// What it printed.
    pub stdout: String,
    /// What it complained.
    pub stderr: String,
}

/// Everything a report says.
#[derive(Debug, Clone)]
pub struct ReportInput<'a> {
    /// Its id, `vr_<ms>`.
    pub id: String,
    /// The gene whose commands ran.
    pub gene_id: Option<&'a str>,
    /// Where they ran.
    pub env: &'a EnvFingerprint,
    /// Each command that ran or was refused.
    pub commands: &'a [CommandResult],
    /// How the commands were kept apart from the machine: `bubblewrap`, `landlock`, `none`.
    pub isolation: &'a str,
    /// How long they took.
    pub duration_ms: u64,
    /// When they ended.
    pub created_at: Time,
}

/// Builds a stamped report.
///
/// `overall_ok` needs at least one command: a gene that validates nothing proves nothing.
pub fn report(input: &ReportInput<'_>) -> Object {
    let commands: Vec<Value> = input
        .commands
        .iter()
        .map(|result| {
            json!({
                "command": result.command,
                "ok": result.ok,
                "stdout": cut_front(&result.stdout, OUTPUT_LIMIT),
                "stderr": cut_front(&result.stderr, OUTPUT_LIMIT),
            })
        })
        .collect();
    let overall_ok = !input.commands.is_empty() && input.commands.iter().all(|result| result.ok);
    let mut object = Object::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("type", "ValidationReport".into());
    put("schema_version", SCHEMA_VERSION.into());
    put("id", input.id.as_str().into());
    put("gene_id", input.gene_id.map_or(Value::Null, Value::from));
    put("env_fingerprint", input.env.to_object().into());
    put("env_fingerprint_key", input.env.key().into());
    put("commands", commands.into());
    put("overall_ok", overall_ok.into());
    put("isolation", input.isolation.into());
    put("duration_ms", input.duration_ms.into());
    put("created_at", input.created_at.iso().into());
    stamp(&mut object);
    object
}
