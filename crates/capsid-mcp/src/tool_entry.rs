//! One tool: its name, its schema, and the function behind it.

use crate::arguments::ToolArguments;
use crate::context::ServerContext;
use crate::tool_context::ToolContext;
use capsid_model::{Object, Result, Value};
use rmcp::model::{Tool, ToolAnnotations};
use std::sync::Arc;

/// What a tool does.
pub(crate) type ToolFn = fn(&ServerContext, &ToolContext, &ToolArguments) -> Result<Value>;

/// What a tool may do to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolEffect {
    /// It only reads, on this machine.
    Reads,
    /// It only reads, and may ask the hub.
    Asks,
    /// It adds records on this machine.
    Adds,
    Changes,
    /// It may send to the hub.
    Sends,
}

/// One tool.
pub(crate) struct ToolEntry {
    pub name: &'static str,
    pub description: &'static str,
    pub effect: ToolEffect,
    /// The members of its schema.
    pub properties: Value,
    pub required: &'static [&'static str],
    pub work: ToolFn,
}

impl ToolEntry {
    /// The names of its arguments.
    pub fn arguments(&self) -> Vec<&str> {
        let names = self.properties.as_object().map(|object| object.keys().map(String::as_str).collect());
        names.unwrap_or_default()
    }

    pub fn tool(&self) -> Tool {
        let mut schema = Object::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), self.properties.clone());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        Tool::new(self.name, self.description, Arc::new(schema)).with_annotations(self.annotations())
    }

    fn annotations(&self) -> ToolAnnotations {
        let mut hints = ToolAnnotations::new();
        hints.read_only_hint = Some(matches!(self.effect, ToolEffect::Reads | ToolEffect::Asks));
        if hints.read_only_hint == Some(false) {
            hints.destructive_hint = Some(matches!(self.effect, ToolEffect::Changes | ToolEffect::Sends));
        }
        hints.open_world_hint = Some(matches!(self.effect, ToolEffect::Asks | ToolEffect::Sends));
        hints
    }
}
