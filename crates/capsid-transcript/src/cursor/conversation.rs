//! The database's data about a conversation, and its list of bubbles.

use super::database::CursorDatabase;
use capsid_model::exact::{ExactFields, ExactJson, parse_lossy};
use capsid_model::{Code, Problem, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt;

/// The key under which a conversation is described.
pub(super) fn key(session: &str) -> String {
    format!("composerData:{session}")
}

/// The members of a description that are short and of interest.
const SHORT: [&str; 10] = [
    "name",
    "createdAt",
    "contextTokensUsed",
    "status",
    "modelConfig",
    "generatingBubbleIds",
    "subagentComposerIds",
    "subagentInfo",
    "createdOnBranch",
    "activeBranch",
];

/// The description of a conversation. It can be very long, so only what is of interest is taken apart.
pub(super) struct Composer {
    text: String,
    short: ExactFields,
}

/// One bubble: stored under its own key, or, in old versions, in the description itself.
pub(super) struct CursorEntry<'a> {
    pub(super) id: String,
    /// The bubble, where it is here.
    pub(super) inline: Option<&'a str>,
    /// What the list says about it.
    pub(super) header: &'a str,
}

impl Composer {
    /// The description of a conversation; none if the database does not know it.
    pub(super) fn load(state: &CursorDatabase, session: &str) -> Result<Option<Self>> {
        let Some(bytes) = state.composer(&key(session))? else { return Ok(None) };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        if text == "null" {
            return Ok(None);
        }
        let Ok(RawMembers(members)) = serde_json::from_str(&text) else {
            let message = format!("Cursor's description of conversation `{session}` is no JSON object.");
            return Err(Problem::new(Code::TranscriptUnreadable, message)
                .fix("Nothing is lost: try again, or name a text transcript with `--transcript`."));
        };
        let short = members
            .iter()
            .filter(|(name, _)| SHORT.contains(&name.as_str()))
            .filter_map(|(name, raw)| Some((name.clone(), parse_lossy(raw.get().as_bytes()).ok()?)))
            .collect();
        Ok(Some(Self { text, short }))
    }

    /// One of the short members; null when it is absent.
    pub(super) fn member(&self, name: &str) -> ExactJson {
        self.short.get(name).cloned().unwrap_or_default()
    }

    /// When it was created, in milliseconds.
    pub(super) fn created_at(&self) -> ExactJson {
        self.member("createdAt")
    }

    /// The model that was chosen for it.
    pub(super) fn model(&self) -> String {
        self.member("modelConfig").text("modelName").unwrap_or_default().to_owned()
    }

    /// The branch that it works on, where that is noted.
    pub(super) fn branch(&self) -> Option<ExactJson> {
        let names = |value: ExactJson| match value {
            ExactJson::Object(fields) => fields.get("branchName").cloned().unwrap_or_default(),
            other => other,
        };
        ["activeBranch", "createdOnBranch"]
            .iter()
            .map(|name| names(self.member(name)))
            .find(|name| name.as_str().is_some_and(|name| !name.is_empty()))
    }

    /// Whether its last turn is over.
    pub(super) fn is_finished(&self) -> bool {
        let status = self.member("status");
        matches!(status.as_str(), Some("completed" | "aborted" | "error")) && !self.is_generating()
    }

    /// Whether a turn is in progress.
    pub(super) fn is_generating(&self) -> bool {
        self.member("generatingBubbleIds").is_truthy()
            || matches!(self.member("status").as_str(), Some("generating" | "running" | "streaming"))
    }

    /// The texts of a list of ids.
    pub(super) fn ids(&self, name: &str) -> Vec<String> {
        let list = self.member(name);
        list.as_array().unwrap_or_default().iter().filter_map(ExactJson::as_str).map(str::to_owned).collect()
    }

    /// The bubbles in their order.
    pub(super) fn entries(&self) -> Vec<CursorEntry<'_>> {
        let members: HashMap<String, &str> = members_of(&self.text).into_iter().collect();
        let list = |name: &str| {
            let raw = members.get(name).copied().unwrap_or("[]");
            serde_json::from_str::<Vec<&RawValue>>(raw).unwrap_or_default().into_iter().map(RawValue::get)
        };
        let map = members_of(members.get("conversationMap").copied().unwrap_or("{}"));
        let by_id: HashMap<&str, &str> = map.iter().map(|(id, raw)| (id.as_str(), *raw)).collect();
        let headers: Vec<CursorEntry<'_>> = list("fullConversationHeadersOnly")
            .filter_map(|header| Some((id_of(header)?, header)))
            .map(|(id, header)| CursorEntry { inline: by_id.get(id.as_str()).copied(), id, header })
            .collect();
        if !headers.is_empty() {
            return headers;
        }
        let id = |index: usize, raw| id_of(raw).unwrap_or_else(|| format!("inline:{index}"));
        let conversation: Vec<CursorEntry<'_>> = list("conversation")
            .enumerate()
            .map(|(index, raw)| CursorEntry { id: id(index, raw), inline: Some(raw), header: raw })
            .collect();
        if !conversation.is_empty() {
            return conversation;
        }
        map.into_iter().map(|(id, raw)| CursorEntry { id, inline: Some(raw), header: raw }).collect()
    }
}

fn id_of(raw: &str) -> Option<String> {
    let bubble = parse_lossy(raw.as_bytes()).ok()?;
    bubble.text("bubbleId").filter(|id| !id.is_empty()).map(str::to_owned)
}

/// The members of an object in their order; none if it is no object.
fn members_of(text: &str) -> Vec<(String, &str)> {
    let members = serde_json::from_str::<RawMembers<'_>>(text).map_or_else(|_| Vec::new(), |raw| raw.0);
    members.into_iter().map(|(name, raw)| (name, raw.get())).collect()
}

/// The members of an object, none of them taken apart.
struct RawMembers<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for RawMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(RawMembersVisitor)
    }
}

struct RawMembersVisitor;

impl<'de> Visitor<'de> for RawMembersVisitor {
    type Value = RawMembers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(RawMembers(members))
    }
}
