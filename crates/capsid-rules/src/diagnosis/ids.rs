//! Ids of a problem: what must be equal so that two logs show the same one.

use super::RULES_VERSION;
use super::diagnostic::Diagnostic;
use capsid_model::hash::sha256_hex;
use serde::{Deserialize, Serialize};

/// The ids of a problem. Equal ids mean the same thing only within one version of the rules, which is part of them.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct DiagnosisIds {
    /// The same problem.
    pub exact: String,
    /// The same mistake elsewhere.
    pub message: String,
    /// The same location with other values.
    pub site: String,
    /// The same kind of problem.
    pub template: String,
}

impl DiagnosisIds {
    pub(super) fn from_diagnostic(diagnostic: &Diagnostic) -> Self {
        let family = diagnostic.family.as_str();
        let code = diagnostic.code.as_deref().unwrap_or_default();
        let location = render_location(diagnostic);
        Self {
            exact: hash_parts(&[family, code, &diagnostic.text, &location]),
            message: hash_parts(&[family, code, &diagnostic.text]),
            site: hash_parts(&[family, code, &diagnostic.template, &location]),
            template: hash_parts(&[family, code, &diagnostic.template]),
        }
    }
}

/// The failing test; otherwise the function and file of the topmost in-app frame; otherwise the file.
fn render_location(diagnostic: &Diagnostic) -> String {
    if let Some(test) = &diagnostic.test {
        return test.clone();
    }
    match (&diagnostic.frame, &diagnostic.place) {
        (Some(frame), Some(place)) => format!("{frame}@{place}"),
        (Some(frame), None) => frame.clone(),
        (None, Some(place)) => place.clone(),
        (None, None) => String::new(),
    }
}

fn hash_parts(parts: &[&str]) -> String {
    let mut text = RULES_VERSION.to_string();
    for part in parts {
        text.push('\u{1f}');
        text.push_str(part);
    }
    let mut id = sha256_hex(text.as_bytes());
    id.truncate(16);
    id
}
