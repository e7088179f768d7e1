//! The calls of the hub, as its description names them, each with a sample that can be sent as it is.

use serde_json::{Map, Value, json};

/// How deep a sample goes into a description.
const SAMPLE_DEPTH: usize = 6;
/// More parts than any path has.
const MAX_PARTS: usize = 50;
/// Calls that nobody has to show anything for.
const OPEN: &[&str] =
    &["/a2a/hello", "/auth/login", "/auth/register", "/health", "/metrics", "/openapi.json", "/skill"];
/// Words that say how a call is made, and not which.
const METHODS: [&str; 4] = ["get", "post", "put", "delete"];

/// One call of the hub.
#[derive(Debug, Clone, PartialEq)]
pub struct GuideCall {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// The path, with `{names}` for its variable parts.
    pub path: String,
    /// What it does, in a sentence.
    pub summary: String,
    pub query: Vec<String>,
    pub body: Option<Value>,
}

impl GuideCall {
    /// How to make it from a shell.
    pub(super) fn curl(&self, base: &str) -> String {
        let Self { method, path, .. } = self;
        let verb = if method == "GET" { String::new() } else { format!("-X {method} ") };
        let credential =
            self.credential().map_or_else(String::new, |name| format!(" -H 'authorization: Bearer {name}'"));
        let body = self.body.as_ref().map_or_else(String::new, |body| {
            let body = body.to_string().replace('\'', "'\\''");
            format!(" -H 'content-type: application/json' -d '{body}'")
        });
        format!("curl {verb}'{base}{path}'{credential}{body}")
    }

    /// What a caller shows: a person the token of a session, a node its secret.
    fn credential(&self) -> Option<&'static str> {
        let is_of = |parts: &[&str]| parts.iter().any(|part| self.path.starts_with(part));
        if is_of(OPEN) || self.path == "/" {
            return None;
        }
        match is_of(&["/auth/", "/account", "/admin", "/claim", "/billing"]) {
            true => Some("SESSION_TOKEN"),
            false => Some("NODE_SECRET"),
        }
    }

    /// How well its name answers some words in lower case; 0 where it does not. A call that is named by all of them comes
    /// before one that only mentions them, and of several that are the one with the shortest name.
    pub fn named_by(&self, words: &[&str]) -> usize {
        let parts = self.path.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_lowercase);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty() && part != "a2a").collect();
        let mut wanted = words.iter().filter(|word| **word != "a2a" && !METHODS.contains(word)).peekable();
        if wanted.peek().is_none() || !wanted.all(|word| parts.iter().any(|part| part == word)) {
            return 0;
        }
        let is_method = words.iter().any(|word| self.method.eq_ignore_ascii_case(word));
        2 * MAX_PARTS.saturating_sub(parts.len()) + usize::from(is_method)
    }
}

/// Every call in the hub's description.
pub fn calls(document: &Value) -> Vec<GuideCall> {
    let nothing = Map::new();
    let paths = document["paths"].as_object().unwrap_or(&nothing);
    let operations = paths.iter().flat_map(|(path, methods)| {
        methods.as_object().into_iter().flatten().map(move |(method, operation)| (path, method, operation))
    });
    operations.map(|(path, method, operation)| call(document, path, method, operation)).collect()
}

fn call(document: &Value, path: &str, method: &str, operation: &Value) -> GuideCall {
    let text = |key: &str| operation[key].as_str().map(str::to_owned);
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let query = parameters.filter(|parameter| parameter["in"] == "query").filter_map(|p| p["name"].as_str());
    let media = &operation["requestBody"]["content"]["application/json"];
    let mut body = (!media.is_null()).then(|| {
        media.get("example").cloned().unwrap_or_else(|| sample(document, &media["schema"], SAMPLE_DEPTH))
    });
    // A message names its own type.
    let kind = path.rsplit('/').next().unwrap_or_default();
    if let Some(named) = body.as_mut().and_then(|body| body.get_mut("message_type")) {
        *named = kind.into();
    }
    GuideCall {
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text("summary").or_else(|| text("description")).unwrap_or_default(),
        query: query.map(str::to_owned).collect(),
        body,
    }
}

/// A value that fits a schema: its own example where it has one.
fn sample(document: &Value, schema: &Value, depth: usize) -> Value {
    if let Some(example) =
        schema.get("example").or_else(|| schema["examples"].get(0)).or(schema.get("default"))
    {
        return example.clone();
    }
    let Some(depth) = depth.checked_sub(1) else { return Value::Null };
    if let Some(name) = schema["$ref"].as_str() {
        let target = name.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
        return target.map_or(Value::Null, |target| sample(document, target, depth));
    }
    if let Some(first) = ["oneOf", "anyOf", "allOf"]
        .iter()
        .find_map(|many| schema[*many].as_array()?.iter().find(|one| one["type"] != "null"))
    {
        return sample(document, first, depth);
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    let kinds = schema["type"].as_array().into_iter().flatten().chain([&schema["type"]]);
    match kinds.filter_map(Value::as_str).find(|kind| *kind != "null") {
        Some("string") => json!("text"),
        Some("integer") => json!(1),
        Some("number") => json!(0.5),
        Some("boolean") => json!(true),
        Some("array") => json!([sample(document, &schema["items"], depth)]),
        _ => {
            let members = schema["properties"].as_object().into_iter().flatten();
            members
                .map(|(name, member)| (name.clone(), sample(document, member, depth)))
                .collect::<Map<_, _>>()
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::GuideCall;

    fn call(method: &str, path: &str) -> GuideCall {
        let (method, path) = (method.to_owned(), path.to_owned());
        GuideCall { method, path, summary: String::new(), query: Vec::new(), body: None }
    }

    #[test]
    fn a_call_is_found_by_its_name() {
        let publish = call("POST", "/a2a/publish").named_by(&["publish"]);
        assert!(publish > call("POST", "/a2a/skill/store/publish").named_by(&["publish"]));
        assert!(call("POST", "/a2a/skill/store/publish").named_by(&["skill", "publish"]) > 0);
        assert!(call("PUT", "/x/y").named_by(&["put", "x"]) > call("GET", "/x/y").named_by(&["put", "x"]));
        for words in [&["pub"][..], &["get"], &["a2a"], &[], &["publish", "else"]] {
            assert_eq!(call("POST", "/a2a/publish").named_by(words), 0, "{words:?}");
        }
    }
}
