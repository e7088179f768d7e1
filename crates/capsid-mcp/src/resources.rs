//! What can be read under `gep://`: the records of the store, and a text about the protocol.

use crate::context::ServerContext;
use crate::tools::help::SPEC;
use crate::tools::status::{capsule_row, event_row, gene_row, one};
use capsid_client::node::encoded;
use capsid_engine::workspace::Workspace;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Value, json};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

/// The bytes on the wire, for those who want to compute them.
const WIRE: &str = include_str!("../../../docs/reference/wire-format.md");

/// Resources on a page of the list.
const LISTED: usize = 50;
/// Records on a page of a collection.
const PAGE: usize = 100;
/// The furthest that paging goes.
const FURTHEST: usize = 1_000_000;

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// A page of resources, and where the next one begins.
pub fn list(server: &ServerContext, cursor: Option<&str>) -> Result<(Vec<Resource>, Option<String>)> {
    let offset = match cursor {
        None => 0,
        Some(cursor) => cursor.parse::<usize>().ok().filter(|at| *at <= FURTHEST).ok_or_else(bad_cursor)?,
    };
    let mut all = fixed();
    match server.store() {
        Ok(workspace) => {
            for (kind, documents) in [
                ("genes", workspace.store.genes.documents()?),
                ("capsules", workspace.store.capsules.documents()?),
            ] {
                all.extend(documents.iter().filter_map(|document| listed(kind, document)));
            }
        }
        // Without a store there is nothing but the text.
        Err(problem) if matches!(problem.code, Code::NotInitialised | Code::NotAGitRepository) => {}
        Err(problem) => return Err(problem),
    }
    let next = (offset + LISTED < all.len()).then(|| (offset + LISTED).to_string());
    Ok((all.into_iter().skip(offset).take(LISTED).collect(), next))
}

fn bad_cursor() -> Problem {
    Problem::new(Code::InputInvalid, "The argument `cursor` is none that this server gave.")
        .fix("Begin the list anew without a cursor.")
}

fn fixed() -> Vec<Resource> {
    let made = |uri: &str, name: &str, description: &str, mime: &str| {
        Resource::new(uri, name).with_description(description).with_mime_type(mime)
    };
    vec![
        made("gep://spec", "spec", "The protocol, and the bytes on the wire", MARKDOWN),
        made("gep://genes", "genes", "Strategies of this repository, a row each", JSON),
        made("gep://capsules", "capsules", "Solutions that worked here, a row each", JSON),
        made("gep://events", "events", "What happened here, newest first, a row each", JSON),
    ]
}

fn listed(kind: &str, document: &Object) -> Option<Resource> {
    let id = document.get("id").and_then(Value::as_str).filter(|id| !id.is_empty())?;
    let summary = document.get("summary").and_then(Value::as_str).unwrap_or_default();
    let resource = Resource::new(format!("gep://{kind}/{}", encoded(id)), inert_line(cut(id, 100)));
    let resource = resource.with_mime_type(JSON);
    Some(if summary.is_empty() { resource } else { resource.with_description(inert_line(cut(summary, 200))) })
}

/// The templates.
pub fn templates() -> Vec<ResourceTemplate> {
    let one = |kind: &str, description: &str| {
        ResourceTemplate::new(format!("gep://{kind}/{{id}}"), kind.trim_end_matches('s'))
            .with_description(description)
            .with_mime_type(JSON)
    };
    let more = |kind: &str| {
        ResourceTemplate::new(format!("gep://{kind}{{?offset}}"), format!("{kind}_page"))
            .with_description(format!("{PAGE} {kind} from an offset on"))
            .with_mime_type(JSON)
    };
    vec![
        one("genes", "One gene as it is stored"),
        one("capsules", "One capsule as it is stored, with its change"),
        one("events", "One event or report as it is stored"),
        more("genes"),
        more("capsules"),
        more("events"),
    ]
}

/// What is under an address. None where it is no address of ours.
pub fn read(server: &ServerContext, uri: &str) -> Result<Option<ResourceContents>> {
    let Some(path) = uri.strip_prefix("gep://") else { return Ok(None) };
    if path.trim_end_matches('/') == "spec" {
        return Ok(Some(ResourceContents::text(format!("{SPEC}\n{WIRE}"), uri).with_mime_type(MARKDOWN)));
    }
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let (kind, id) = path.split_once('/').unwrap_or((path, ""));
    if !matches!(kind, "genes" | "capsules" | "events") {
        return Ok(None);
    }
    let workspace = server.store()?;
    let value = match decoded(id) {
        id if id.is_empty() => rows(&workspace, kind, offset(query)?)?,
        id => match one(&workspace, kind, &id) {
            Ok(value) => value,
            Err(problem) if problem.code == Code::NotFound => return Ok(None),
            Err(problem) => return Err(problem),
        },
    };
    let text = serde_json::to_string(&value).unwrap_or_default();
    Ok(Some(ResourceContents::text(text, uri).with_mime_type(JSON)))
}

fn rows(workspace: &Workspace, kind: &str, offset: usize) -> Result<Value> {
    let store = &workspace.store;
    let (rows, total) = match kind {
        "genes" => page(&store.genes.documents()?, offset, gene_row),
        "capsules" => page(&store.capsules.documents()?, offset, capsule_row),
        _ => {
            let mut newest = store.events.recent_documents(offset + PAGE + 1)?;
            newest.reverse();
            page(&newest, offset, event_row)
        }
    };
    let end = offset + rows.len();
    Ok(json!({kind: rows, "next": (end < total).then(|| format!("gep://{kind}?offset={end}"))}))
}

fn page(all: &[Object], offset: usize, row: fn(&Object) -> Value) -> (Vec<Value>, usize) {
    (all.iter().skip(offset).take(PAGE).map(row).collect(), all.len())
}

fn offset(query: &str) -> Result<usize> {
    let value = match query.split('&').find_map(|pair| pair.strip_prefix("offset=")) {
        None => return Ok(0),
        Some(value) => value,
    };
    value.parse().ok().filter(|at| *at <= FURTHEST).ok_or_else(|| {
        Problem::new(Code::InputInvalid, "The `offset` in the address is no number that can be meant.")
    })
}

/// A part of an address without its escapes; what is no escape stays as it is.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_being_an_address() {
        for id in ["gene_1", "a b/c?d#e%20", "日本", "%", "%zz", "100%é"] {
            assert_eq!(decoded(&encoded(id)), id);
        }
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }

    #[test]
    fn an_offset_that_is_no_number_is_named() {
        assert_eq!(offset("").unwrap(), 0);
        assert_eq!(offset("x=1&offset=7").unwrap(), 7);
        for bad in ["offset=-1", "offset=x", "offset=99999999999999999999"] {
            assert!(offset(bad).unwrap_err().message.contains("offset"));
        }
    }
}
