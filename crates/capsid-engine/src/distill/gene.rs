//! Checks a distilled gene. It is rebuilt from the members that may come from a model. Pure.

use super::name::distilled_id;
use super::request::object;
use capsid_model::gene::Gene;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, SCHEMA_VERSION, asset, json};

const CATEGORIES: [&str; 4] = ["repair", "optimize", "innovate", "explore"];

/// The most files that a distilled gene may change.
const MAX_FILES: u64 = 12;

/// The most entries of each list, and the most units of each entry.
const LIST: (usize, usize) = (30, 500);

/// A shorter pattern would match nearly every signal.
const SHORTEST_PATTERN: usize = 3;

/// Checks a gene from a model and returns the stamped one to store, or what is wrong with it.
pub fn checked(answer: &Object, existing: &[Gene], allows: &dyn Fn(&str) -> bool) -> Result<Object, String> {
    let gene = Gene::read(answer);
    if !CATEGORIES.contains(&gene.category.as_str()) {
        return Err(format!("its category is `{}`", inert_line(cut(&gene.category, 40))));
    }
    let mut signals = tidy(&gene.signals_match);
    signals.retain(|pattern| pattern.chars().count() >= SHORTEST_PATTERN);
    if signals.is_empty() {
        return Err("it names no signals".to_owned());
    }
    let strategy = tidy(&gene.strategy);
    if strategy.is_empty() {
        return Err("it has no strategy".to_owned());
    }
    if let Some(known) = existing.iter().find(|known| covers(known, &signals)) {
        return Err(format!("`{}` matches all of its signals already", inert_line(&known.id)));
    }
    let existing_ids = existing.iter().map(|gene| gene.id.clone()).collect();
    let mut finished = object(json!({
        "type": "Gene",
        "schema_version": SCHEMA_VERSION,
        "id": distilled_id(&gene.id, &signals, &existing_ids),
        "category": gene.category,
        "signals_match": signals,
        "summary": summary(&gene.summary, &strategy),
        "preconditions": tidy(&gene.preconditions),
        "strategy": strategy,
        "constraints": {
            "max_files": gene.max_files.unwrap_or(MAX_FILES).min(MAX_FILES),
            "forbidden_paths": forbidden(&gene.forbidden_paths),
        },
        "validation": tidy(&gene.validation).into_iter().filter(|command| allows(command)).collect::<Vec<_>>(),
    }));
    asset::stamp(&mut finished);
    Ok(finished)
}

/// The entries trimmed and bounded, without blanks and repetitions.
fn tidy(list: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for entry in list {
        let entry = cut(entry.trim(), LIST.1).to_owned();
        if !entry.is_empty() && !names.contains(&entry) && names.len() < LIST.0 {
            names.push(entry);
        }
    }
    names
}

fn covers(known: &Gene, signals: &[String]) -> bool {
    signals.iter().all(|signal| {
        known.signals_match.iter().any(|pattern| pattern.trim().to_lowercase() == signal.to_lowercase())
    })
}

fn summary(text: &str, strategy: &[String]) -> String {
    let text = text.trim();
    if text.chars().count() >= 10 {
        cut(text, 300).to_owned()
    } else {
        format!("Distilled strategy: {}", cut(&strategy[0], 200))
    }
}

fn forbidden(requested: &[String]) -> Vec<String> {
    let mut paths = vec![".git".to_owned(), "node_modules".to_owned()];
    paths.extend(tidy(requested).into_iter().filter(|path| path != ".git" && path != "node_modules"));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(changes: &str) -> Object {
        let mut gene: Object = serde_json::from_str(
            r#"{"type":"Gene","id":"gene_distilled_guard_inputs","category":"repair",
                "signals_match":["null_input","log_error"],"strategy":["Check inputs first."],
                "constraints":{"max_files":99},"validation":["npm test","rm -rf /"],
                "epigenetic_marks":[{"context":"x","boost":0.5}],"asset_id":"sha256:forged"}"#,
        )
        .unwrap();
        gene.extend(serde_json::from_str::<Object>(changes).unwrap());
        gene
    }

    fn check(changes: &str, existing: &[Gene]) -> Result<Object, String> {
        checked(&answer(changes), existing, &|command| command == "npm test")
    }

    #[test]
    fn a_good_gene_is_bounded_gated_and_stamped() {
        let gene = check("{}", &[]).unwrap();
        assert!(asset::verify(&gene).holds());
        assert_eq!(gene["constraints"]["max_files"], 12);
        assert_eq!(gene["constraints"]["forbidden_paths"], json!([".git", "node_modules"]));
        assert_eq!(gene["validation"], json!(["npm test"]));
        assert_eq!(gene["summary"], "Distilled strategy: Check inputs first.");
        assert!(!gene.contains_key("epigenetic_marks"));
    }

    #[test]
    fn what_is_missing_or_there_already_is_refused() {
        assert!(check(r#"{"category":"destroy"}"#, &[]).is_err());
        assert!(check(r#"{"signals_match":["", "a"]}"#, &[]).is_err());
        assert!(check(r#"{"strategy":" "}"#, &[]).is_err());
        let known = Gene {
            id: "known".to_owned(),
            signals_match: ["Log_Error", "null_input", "more"].map(str::to_owned).to_vec(),
            ..Gene::default()
        };
        let reason = check("{}", std::slice::from_ref(&known)).unwrap_err();
        assert!(reason.contains("`known`"), "{reason}");
        assert!(check(r#"{"signals_match":["null_input","other"]}"#, &[known]).is_ok());
    }
}
