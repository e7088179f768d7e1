//! `capsid trail canonical`: the text that is hashed, of any JSON document.

use crate::commands::store::documents::read_bytes;
use crate::output;
use capsid_model::exact::{ExactJson as Value, canonical, parse};
use capsid_model::{Code, Problem, Result, json};
use capsid_seal::hash::sha3_hex;
use clap::Args;

/// The seal's own fields, which are no part of what is hashed.
const SEAL_FIELDS: [&str; 5] = ["hash", "signature", "signature_pq", "signed_at", "signed_by"];

/// Print the canonical text of a JSON document, or its SHA3-256: for implementers.
///
/// Names in code-point order, no white space, numbers as Python prints them. Nothing follows the text, not even a
/// line break, so that its hash is the record's.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '{\"b\": 1.0, \"a\": [1e16]}' | capsid trail canonical -
  capsid trail canonical record.json --hash
  capsid trail canonical sealed.json --content | openssl dgst -sha3-256")]
pub(super) struct TrailCanonicalArgs {
    /// The document; `-` reads stdin.
    file: String,
    /// Print the SHA3-256 of the canonical text instead.
    #[arg(long)]
    hash: bool,
    /// Leave the five fields of the seal out first: what a sealed record's hash is over.
    #[arg(long)]
    content: bool,
}

pub(super) fn run(arguments: &TrailCanonicalArgs) -> Result<u8> {
    let bytes = read_bytes(&arguments.file)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| {
        Problem::new(Code::JsonInvalid, format!("`{}` is not UTF-8 text.", arguments.file))
            .fix("Save the file as UTF-8.")
    })?;
    let mut document = parse(text.trim_start_matches('\u{feff}'))?;
    if let (true, Value::Object(fields)) = (arguments.content, &mut document) {
        SEAL_FIELDS.iter().for_each(|name| {
            fields.shift_remove(*name);
        });
    }
    let text = canonical(&document);
    let hash = sha3_hex(text.as_bytes());
    if output::is_json() {
        output::document(&json!({"canonical": text, "hash": hash}));
    } else if arguments.hash {
        output::line(hash);
    } else {
        output::exact(&text);
    }
    Ok(0)
}
