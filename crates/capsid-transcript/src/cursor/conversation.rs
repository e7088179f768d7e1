//! What the database says of a conversation as a whole, and which bubbles it has.

use super::database::Database;
use capsid_model::exact::{Json, parse_lossy};
use capsid_model::{Code, Problem, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt;

/// The key under which a conversation is described.
pub(super) fn key(session: &str) -> String {
    format!("composerData:{session}")
}

/// The description of a conversation. It can be very long, so only what is asked for is taken apart.
pub(super) struct Composer {
    text: String,
}

/// One bubble: stored under its own key, or, in old versions, in the description itself.
pub(super) struct Entry<'a> {
    /// Its id.
    pub(super) id: String,
    /// The bubble, where it is here.
    pub(super) inline: Option<&'a str>,
}

impl Composer {
    /// The description of a conversation; none if the database does not know it.
    pub(super) fn load(state: &Database, session: &str) -> Result<Option<Self>> {
        let Some(bytes) = state.composer(&key(session))? else { return Ok(None) };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        if text == "null" {
            return Ok(None);
        }
        if serde_json::from_str::<Members<'_>>(&text).is_err() {
            let message = format!("Cursor's description of conversation `{session}` is no JSON object.");
            return Err(Problem::new(Code::TranscriptUnreadable, message)
                .fix("Nothing is lost: try again, or name a text transcript with `--transcript`."));
        }
        Ok(Some(Self { text }))
    }

    fn members(&self) -> HashMap<String, &RawValue> {
        let members =
            serde_json::from_str::<Members<'_>>(&self.text).map_or_else(|_| Vec::new(), |found| found.0);
        members.into_iter().collect()
    }

    /// One member; null when it is absent.
    pub(super) fn member(&self, name: &str) -> Json {
        self.members().get(name).and_then(|raw| parse_lossy(raw.get().as_bytes()).ok()).unwrap_or_default()
    }

    /// When it was created, in milliseconds.
    pub(super) fn created_at(&self) -> Json {
        self.member("createdAt")
    }

    /// The model that was chosen for it.
    pub(super) fn model(&self) -> String {
        self.member("modelConfig").text("modelName").unwrap_or_default().to_owned()
    }

    /// Whether its last turn is over.
    pub(super) fn is_finished(&self) -> bool {
        let status = self.member("status");
        matches!(status.as_str(), Some("completed" | "aborted" | "error")) && !self.is_generating()
    }

    /// Whether a turn is under way.
    pub(super) fn is_generating(&self) -> bool {
        self.member("generatingBubbleIds").is_truthy()
            || matches!(self.member("status").as_str(), Some("generating" | "running" | "streaming"))
    }

    /// The texts of a list of ids.
    pub(super) fn ids(&self, name: &str) -> Vec<String> {
        let list = self.member(name);
        list.as_array().unwrap_or_default().iter().filter_map(Json::as_str).map(str::to_owned).collect()
    }

    /// The bubbles in their order.
    pub(super) fn entries(&self) -> Vec<Entry<'_>> {
        let members = self.members();
        let list = |name: &str| {
            let raw = members.get(name).map_or("[]", |raw| raw.get());
            serde_json::from_str::<Vec<&RawValue>>(raw).unwrap_or_default()
        };
        let map = members.get("conversationMap").map_or("{}", |raw| raw.get());
        let map = serde_json::from_str::<Members<'_>>(map).map_or_else(|_| Vec::new(), |found| found.0);
        let headers = list("fullConversationHeadersOnly");
        if !headers.is_empty() {
            let inline: HashMap<&str, &str> = map.iter().map(|(id, raw)| (id.as_str(), raw.get())).collect();
            let entry = |header: &&RawValue| {
                let id = id_of(header)?;
                let inline = inline.get(id.as_str()).copied();
                Some(Entry { id, inline })
            };
            return headers.iter().filter_map(entry).collect();
        }
        let conversation = list("conversation");
        if !conversation.is_empty() {
            let named = |(index, raw): (usize, &&'_ RawValue)| {
                id_of(raw).unwrap_or_else(|| format!("inline:{index}"))
            };
            return conversation
                .iter()
                .enumerate()
                .map(|(index, raw)| Entry { id: named((index, raw)), inline: Some(raw.get()) })
                .collect();
        }
        map.into_iter().map(|(id, raw)| Entry { id, inline: Some(raw.get()) }).collect()
    }
}

fn id_of(raw: &RawValue) -> Option<String> {
    let bubble = parse_lossy(raw.get().as_bytes()).ok()?;
    bubble.text("bubbleId").filter(|id| !id.is_empty()).map(str::to_owned)
}

/// The members of an object in their order, none of them taken apart.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}
