//! Manifests that hold both source and checks: their dependencies are source, their scripts and settings of tests are
//! checks.
//!
//! A change of a manifest becomes two texts: the old one with the new source members, and the old one with the new
//! check members. Where only one part changed, the texts are the old and the new file as they are.

pub use super::members::ManifestKind;

use super::members::MemberRole;
use serde::Serialize;
use serde_json::ser::PrettyFormatter;
use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, Table, TableLike};

/// A changed manifest in two parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestSplit {
    /// The old manifest with the new source members.
    pub source_only: String,
    /// The old manifest with the new check members.
    pub check_only: String,
    pub has_source_change: bool,
    pub has_check_change: bool,
}

/// Splits the change of a manifest. An empty old text stands for a new file. If either text cannot be parsed, the
/// whole file is a check file.
pub fn split_manifest(kind: ManifestKind, old: &str, new: &str) -> ManifestSplit {
    let split = match kind {
        ManifestKind::PackageJson => split_json(old, new),
        ManifestKind::PyprojectToml | ManifestKind::CargoToml => split_toml(kind, old, new),
    };
    split.unwrap_or_else(|| {
        ManifestSplit::from_parts(old, new, old.to_owned(), new.to_owned(), false, old != new)
    })
}

impl ManifestSplit {
    fn from_parts(
        old: &str,
        new: &str,
        source_only: String,
        check_only: String,
        has_source_change: bool,
        has_check_change: bool,
    ) -> Self {
        match (has_source_change, has_check_change) {
            (true, true) => Self { source_only, check_only, has_source_change, has_check_change },
            (false, true) => Self {
                source_only: old.to_owned(),
                check_only: new.to_owned(),
                has_source_change,
                has_check_change,
            },
            // A change of comments or spacing counts as source.
            (_, false) => Self {
                source_only: new.to_owned(),
                check_only: old.to_owned(),
                has_source_change: old != new,
                has_check_change,
            },
        }
    }
}

fn split_json(old_text: &str, new_text: &str) -> Option<ManifestSplit> {
    let parse = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
    let old = if old_text.is_empty() { Map::new() } else { parse(old_text)? };
    let new = parse(new_text)?;
    let merge = |role: MemberRole| -> Map<String, Value> {
        let of_old = old
            .iter()
            .filter(|(name, _)| MemberRole::in_package_json(name) != role || new.contains_key(*name));
        let mut merged: Map<String, Value> =
            of_old.map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, value) in new.iter().filter(|(name, _)| MemberRole::in_package_json(name) == role) {
            merged.insert(name.clone(), value.clone());
        }
        merged
    };
    let (source, check) = (merge(MemberRole::Source), merge(MemberRole::Check));
    let (has_source_change, has_check_change) = (source != old, check != old);
    let style = if old_text.is_empty() { new_text } else { old_text };
    let (source, check) = (render_json(&source, style)?, render_json(&check, style)?);
    Some(ManifestSplit::from_parts(old_text, new_text, source, check, has_source_change, has_check_change))
}

/// Writes JSON with the indentation and the last line break of another text.
fn render_json(object: &Map<String, Value>, style: &str) -> Option<String> {
    let indent: &str = style
        .lines()
        .find_map(|line| {
            let rest = line.trim_start_matches([' ', '\t']);
            (rest.len() < line.len() && !rest.is_empty()).then(|| &line[..line.len() - rest.len()])
        })
        .unwrap_or("  ");
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(indent.as_bytes());
    object.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter)).ok()?;
    let mut text = String::from_utf8(bytes).ok()?;
    if style.ends_with('\n') {
        text.push('\n');
    }
    Some(text)
}

fn split_toml(kind: ManifestKind, old_text: &str, new_text: &str) -> Option<ManifestSplit> {
    let old: DocumentMut = old_text.parse().ok()?;
    let new: DocumentMut = new_text.parse().ok()?;
    let merge = |role: MemberRole| {
        let mut merged = old.clone();
        merge_table(kind, role, &mut Vec::new(), merged.as_table_mut(), new.as_table());
        merged.to_string()
    };
    let (source, check) = (merge(MemberRole::Source), merge(MemberRole::Check));
    let plain =
        |text: &str| text.parse::<DocumentMut>().ok().map(|document| plain_table(document.as_table()));
    let is_changed = |text: &str| Some(plain(text)? != plain_table(old.as_table()));
    let (has_source_change, has_check_change) = (is_changed(&source)?, is_changed(&check)?);
    Some(ManifestSplit::from_parts(old_text, new_text, source, check, has_source_change, has_check_change))
}

/// Takes the members of one role from the new table.
fn merge_table(
    kind: ManifestKind,
    role: MemberRole,
    path: &mut Vec<String>,
    merged: &mut dyn TableLike,
    new: &dyn TableLike,
) {
    let mut names: Vec<String> = merged.iter().map(|(name, _)| name.to_owned()).collect();
    names.extend(
        new.iter().map(|(name, _)| name).filter(|name| !merged.contains_key(name)).map(str::to_owned),
    );
    for name in names {
        path.push(name.clone());
        match MemberRole::in_toml(kind, path) {
            MemberRole::Mixed => merge_mixed(kind, role, path, &name, merged, new),
            found if found == role => match new.get(&name) {
                Some(item) => {
                    merged.insert(&name, item.clone());
                }
                None => {
                    merged.remove(&name);
                }
            },
            _ => {}
        }
        path.pop();
    }
}

/// Merges a table that has members of both roles; one that becomes empty is removed.
fn merge_mixed(
    kind: ManifestKind,
    role: MemberRole,
    path: &mut Vec<String>,
    name: &str,
    merged: &mut dyn TableLike,
    new: &dyn TableLike,
) {
    let empty = Table::new();
    let new_table = new.get(name).and_then(Item::as_table_like).unwrap_or(&empty);
    if !merged.contains_key(name) {
        let mut table = Table::new();
        table.set_implicit(true);
        merged.insert(name, Item::Table(table));
    }
    if let Some(table) = merged.get_mut(name).and_then(Item::as_table_like_mut) {
        let was_empty = table.is_empty();
        merge_table(kind, role, path, table, new_table);
        if table.is_empty() && (!was_empty || !new.contains_key(name)) {
            merged.remove(name);
        }
    }
}

/// The members without their spelling, so that equal tables are equal. An empty table is as good as none.
fn plain_table(table: &dyn TableLike) -> Value {
    let members = table.iter().map(|(name, item)| (name.to_owned(), plain_item(item)));
    let mut members: Vec<(String, Value)> = members.filter(|(_, value)| !value.is_null()).collect();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    if members.is_empty() { Value::Null } else { Value::Object(members.into_iter().collect()) }
}

fn plain_item(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return plain_table(table);
    }
    if let Some(tables) = item.as_array_of_tables() {
        return Value::Array(tables.iter().map(|table| plain_table(table)).collect());
    }
    if let Some(array) = item.as_array() {
        return Value::Array(array.iter().map(|value| plain_item(&Item::Value(value.clone()))).collect());
    }
    let text = match item.as_value() {
        Some(toml_edit::Value::String(text)) => format!("\"{}", text.value()),
        Some(toml_edit::Value::Integer(number)) => number.value().to_string(),
        Some(toml_edit::Value::Float(number)) => number.value().to_string(),
        Some(toml_edit::Value::Boolean(flag)) => flag.value().to_string(),
        Some(toml_edit::Value::Datetime(time)) => time.value().to_string(),
        _ => return Value::Null,
    };
    Value::String(text)
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
