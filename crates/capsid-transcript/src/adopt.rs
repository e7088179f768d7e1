//! The keys of records that the reference sealer wrote and whose checkpoint is lost.

use crate::Tool;
use capsid_model::exact::Json;
use std::cell::RefCell;
use std::collections::HashMap;

/// Tells the key of each record of a chain, asked in order; none where the record does not say enough.
///
/// Claude Code's and Cursor's records name what they were made from. Those of the other tools do not.
pub fn keys_of(tool: Tool) -> impl Fn(&Json) -> Option<String> {
    let calls: RefCell<HashMap<String, usize>> = RefCell::default();
    move |content| match tool {
        Tool::ClaudeCode => claude_code(content, &mut calls.borrow_mut()),
        Tool::Cursor => cursor(content),
        Tool::Codex | Tool::Cline => None,
    }
}

/// `<uuid>:<n>` for the n-th call of a line, `<uuid>:resp` for what was said, `<uuid>:attach` for an attachment.
fn claude_code(content: &Json, calls: &mut HashMap<String, usize>) -> Option<String> {
    let uuid = content.at(&["context", "environment", "message_uuid"])?.as_str()?;
    match content.text("type")? {
        "tool" => {
            let count = calls.entry(uuid.to_owned()).or_default();
            let key = format!("{uuid}:{count}");
            *count += 1;
            Some(key)
        }
        "chat" => Some(format!("{uuid}:resp")),
        _ => Some(format!("{uuid}:attach")),
    }
}

fn cursor(content: &Json) -> Option<String> {
    let environment = content.at(&["context", "environment"])?;
    if let Some(bubble) = environment.text("bubble_id") {
        return Some(bubble.to_owned());
    }
    if let Some(line) = environment.get("transcript_line").and_then(Json::as_i64) {
        return Some(format!("line:{line}"));
    }
    environment.get("ai_tracking_db")?;
    Some(format!("authorship:{}", content.at(&["context", "session_id"])?.as_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::fields;

    fn content(kind: &str, environment: capsid_model::exact::Fields) -> Json {
        let context = fields! {"session_id": "s", "environment": environment};
        Json::Object(fields! {"type": kind, "context": context})
    }

    #[test]
    fn a_record_tells_what_it_was_made_from() {
        let key = keys_of(Tool::ClaudeCode);
        let of = |kind| key(&content(kind, fields! {"message_uuid": "u"}));
        assert_eq!(of("tool").as_deref(), Some("u:0"));
        assert_eq!(of("tool").as_deref(), Some("u:1"));
        assert_eq!(of("chat").as_deref(), Some("u:resp"));
        assert_eq!(of("system").as_deref(), Some("u:attach"));
        let key = keys_of(Tool::Cursor);
        assert_eq!(key(&content("tool", fields! {"bubble_id": "b"})).as_deref(), Some("b"));
        assert_eq!(key(&content("chat", fields! {"transcript_line": 3_i64})).as_deref(), Some("line:3"));
        assert_eq!(key(&content("system", fields! {"ai_tracking_db": "x"})).as_deref(), Some("authorship:s"));
        assert_eq!(keys_of(Tool::Codex)(&content("tool", fields! {})), None);
    }
}
