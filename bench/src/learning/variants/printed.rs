//! Logs as tools print them, with new names, places and numbers.

use super::VariantLog;
use super::words::{KEY_SLOTS, fill_slot};
use super::wrap::wrap_log;
use crate::Result;
use crate::learning::corpus::corpus_folder;
use fastrand::Rng;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Problems per template, and logs per problem.
const PROBLEMS: usize = 4;
const LOGS: usize = 4;

#[derive(Deserialize)]
struct PrintedFile {
    printed: Vec<PrintedLog>,
}

/// One way to print a problem. Several with one name print the same problem.
#[derive(Deserialize)]
struct PrintedLog {
    name: String,
    log: String,
    /// A log whose lines cannot be changed on their own.
    #[serde(default)]
    is_document: bool,
}

/// Every template, several times.
pub fn generate(rng: &mut Rng) -> Result<Vec<VariantLog>> {
    let text = std::fs::read_to_string(corpus_folder().join("printed.toml"))?;
    let mut printed = toml::from_str::<PrintedFile>(&text)?.printed;
    printed.sort_by(|one, two| one.name.cmp(&two.name));
    let mut logs = Vec::new();
    for group in printed.chunk_by(|one, two| one.name == two.name) {
        for _ in 0..PROBLEMS {
            let keys: BTreeMap<&str, String> =
                KEY_SLOTS.iter().filter_map(|slot| Some((*slot, fill_slot(slot, rng)?))).collect();
            for at in 0..LOGS {
                let template = &group[at % group.len()];
                let (log, used) = fill_slots(&template.log, &keys, rng)?;
                let log = if template.is_document { log } else { wrap_log(&log, rng) };
                logs.push(VariantLog {
                    name: format!("printed {}", template.name),
                    base: None,
                    key: format!("{} {}", template.name, used.join(" ")),
                    log,
                });
            }
        }
    }
    Ok(logs)
}

/// The log, and the values of its slots that are part of the message.
fn fill_slots(template: &str, keys: &BTreeMap<&str, String>, rng: &mut Rng) -> Result<(String, Vec<String>)> {
    let mut values: BTreeMap<String, String> =
        keys.iter().map(|(slot, value)| ((*slot).to_owned(), value.clone())).collect();
    let mut used: BTreeMap<String, String> = BTreeMap::new();
    let mut log = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        log.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let slot = after.find('}').map(|end| &after[..end]).filter(|slot| {
            !slot.is_empty() && slot.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        });
        let value = match slot {
            Some(slot) if values.contains_key(slot) => values.get(slot).cloned(),
            Some(slot) => {
                let value = fill_slot(slot, rng);
                values.extend(value.clone().map(|value| (slot.to_owned(), value)));
                value
            }
            None => None,
        };
        match (slot, value) {
            (Some(slot), Some(value)) => {
                log.push_str(&value);
                if keys.contains_key(slot) {
                    used.insert(slot.to_owned(), value);
                }
                rest = &after[slot.len() + 1..];
            }
            // A brace of the log itself.
            _ => {
                log.push('{');
                rest = after;
            }
        }
    }
    log.push_str(rest);
    Ok((log.trim_start_matches('\n').to_owned(), used.into_values().collect()))
}
