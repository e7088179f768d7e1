//! `capsid trail inspect`: look into a chain.

use super::chains::{all, named};
use crate::output::{self, DIM, NAME, WARN, paint};
use capsid_model::exact::{ExactJson as Document, indented, parse};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_seal::chain::ChainReader;
use capsid_seal::sources::{ChainSource, SourceKind};
use capsid_seal::uri::{CapsuleUri, RecordReference};
use capsid_seal::{StoredRecord, TrailHome};
use clap::Args;

/// How much of a request a line shows.
const REQUEST: usize = 70;

/// Show the records of a chain, one a line, or one of them whole.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail inspect 5f0c1b9e                  a session of the home, by the beginning of its name
  capsid trail inspect 5f0c1b9e --long           with what came of each action
  capsid trail inspect codex/019e2f00 --seq 3    one record with its six sections
  capsid trail inspect meta                      the meta-chain
  capsid trail inspect chain.db --json")]
pub(super) struct TrailInspectArgs {
    /// A chain: a file, PATH#TENANT in a shared database, a session of the home, tool/session, `meta`, or a capsule:// address.
    chain: String,
    /// Also show what came of each: the records of one turn have one request.
    #[arg(long, short)]
    long: bool,
    /// Show the record at this position whole.
    #[arg(long, value_name = "N")]
    seq: Option<u64>,
}

pub(super) fn run(arguments: &TrailInspectArgs, home: &TrailHome) -> Result<u8> {
    let (chain, seq) = match arguments.chain.starts_with("capsule:") {
        true => addressed(home, &arguments.chain)?,
        false => (named(home, &arguments.chain)?, arguments.seq),
    };
    match seq {
        Some(seq) => one(&chain, seq, output::is_json()),
        None => every(&chain, arguments.long, output::is_json()),
    }
}

/// The record that an address names. One without a chain is looked for in all of the home.
fn addressed(home: &TrailHome, text: &str) -> Result<(ChainSource, Option<u64>)> {
    let uri = CapsuleUri::parse(text)?;
    let chains = match uri.chain.as_deref() {
        Some(chain) => vec![named(home, chain)?],
        None => all(home)?,
    };
    for chain in chains {
        for (position, stored) in (0..).zip(chain.records()?) {
            let stored = stored?;
            let id =
                || parse(&stored.canonical).ok().and_then(|content| content.text("id").map(str::to_owned));
            let is_match = match &uri.reference {
                RecordReference::Hash(hash) => *hash == stored.seal.hash,
                RecordReference::Sequence(sequence) => *sequence == position,
                RecordReference::Id(wanted) => id().as_ref() == Some(wanted),
            };
            if is_match {
                return Ok((chain, Some(position)));
            }
        }
    }
    Err(Problem::new(Code::NotFound, format!("No record of the home has the address `{text}`."))
        .fix("`capsid trail list` shows every chain."))
}

fn every(chain: &ChainSource, long: bool, as_json: bool) -> Result<u8> {
    let mut entries: Vec<Value> = Vec::new();
    for (position, stored) in (0..).zip(chain.records()?) {
        let row = RecordLine::from_record(position, &stored?);
        if as_json {
            entries.push(row.to_json());
        } else {
            output::line(row.line(long));
        }
    }
    let pending = pending(chain)?;
    if as_json {
        output::document(&json!({"chain": chain.label, "records": entries, "pending": pending}));
    } else if pending > 0 {
        output::talk(format_args!(
            "{} {pending} record(s) wait for the signing service; `capsid trail signer flush` signs them",
            paint(WARN, "note:")
        ));
    }
    Ok(0)
}

/// Records that are not in the chain yet, because nobody signed them.
fn pending(chain: &ChainSource) -> Result<u64> {
    match chain.kind {
        SourceKind::Database => ChainReader::open(chain.path())?.pending(chain.tenant.as_deref()),
        _ => Ok(0),
    }
}

fn one(chain: &ChainSource, seq: u64, as_json: bool) -> Result<u8> {
    for (position, stored) in (0..).zip(chain.records()?) {
        let stored = stored?;
        if position != seq {
            continue;
        }
        let content = parse(&stored.canonical)?;
        if as_json {
            let seal = &stored.seal;
            let text = indented(&content);
            let content: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
            output::document(&json!({
                "content": content, "canonical": stored.canonical, "hash": seal.hash, "signature": seal.signature,
                "signature_pq": seal.signature_pq, "signed_at": seal.signed_at, "signed_by": seal.signed_by,
            }));
        } else {
            output::line(RecordLine::from_record(position, &stored).line(false));
            output::json_line(&indented(&content));
        }
        return Ok(0);
    }
    output::talk(format_args!("no record at sequence {seq}"));
    Ok(1)
}

/// What one line shows of a record.
struct RecordLine {
    sequence: i64,
    kind: String,
    hash: String,
    request: String,
    summary: String,
    signed_at: Option<String>,
    signed_by: String,
}

impl RecordLine {
    fn from_record(position: u64, stored: &StoredRecord) -> Self {
        let content = parse(&stored.canonical).unwrap_or_default();
        let text =
            |names: &[&str]| content.at(names).and_then(Document::as_str).unwrap_or_default().to_owned();
        Self {
            sequence: content.get("sequence").and_then(Document::as_i64).unwrap_or(position.cast_signed()),
            kind: text(&["type"]),
            hash: stored.seal.hash.clone(),
            request: text(&["trigger", "request"]),
            summary: text(&["outcome", "summary"]),
            signed_at: stored.seal.signed_at.clone(),
            signed_by: stored.seal.signed_by.clone(),
        }
    }

    fn line(&self, long: bool) -> String {
        let first: String = self.request.lines().next().unwrap_or_default().chars().take(REQUEST).collect();
        let hash: String = self.hash.chars().take(12).collect();
        let line = format!(
            "#{:>3} {} {} {}",
            self.sequence,
            paint(NAME, format_args!("{:<7}", inert_line(&self.kind))),
            paint(DIM, inert_line(&hash)),
            inert_line(&first)
        );
        let summary: String = self.summary.lines().next().unwrap_or_default().chars().take(REQUEST).collect();
        if summary.is_empty() || !long {
            line
        } else {
            format!("{line}  {}", paint(DIM, inert_line(&summary)))
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "sequence": self.sequence, "type": self.kind, "hash": self.hash, "request": self.request,
            "summary": self.summary, "signed_at": self.signed_at, "signed_by": self.signed_by,
        })
    }
}
