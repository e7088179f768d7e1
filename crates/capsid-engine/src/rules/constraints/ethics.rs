//! What no gene may request.

use capsid_model::gene::Gene;
use regex::Regex;
use std::sync::LazyLock;

/// Each aim with the words that give it away.
const RULES: [(&str, &str); 5] = [
    (
        "weaken safety",
        r"\b(?:bypass|disabl|circumvent|remov)\w*\s+(?:(?:the|all|any|its|our|your)\s+)?(?:safety|guardrail|security|ethic|constraint|protection)\w*",
    ),
    (
        "spy on people",
        r"\bkey\s?logg\w*|\bscreen\s?captur\w*|\bwebcam\s+hijack\w*|\bmic(?:rophone)?\s+record\w*",
    ),
    ("deceive people", r"\b(?:social\s+engineering|phishing)\s+(?:attack|template|script)s?\b"),
    (
        "harm people",
        r"\b(?:exploit|hack)\w*\s+(?:(?:the|a|our|your)\s+)?(?:users?|humans?|people|victims?)\b",
    ),
    (
        "hide its doings",
        r"\b(?:hid(?:e|es|ing)|conceal\w*|obfuscat\w*)\s+(?:(?:the|all|any|its|our|your)\s+)?(?:actions?|behaviou?rs?|intent\w*|logs?|logging)\b",
    ),
];

/// Words that turn a demand into a ban on it.
const NEGATIONS: [&str; 7] = ["not", "never", "don't", "without", "avoid", "cannot", "no"];

static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    RULES.iter().filter_map(|(aim, rule)| Some((*aim, Regex::new(&format!("(?i){rule}")).ok()?))).collect()
});

/// A violation for each aim that the gene's own text asks for.
pub fn objections(gene: &Gene) -> Vec<String> {
    let text = format!("{}\n{}", gene.strategy.join("\n"), gene.summary);
    let mut objections = Vec::new();
    for (aim, pattern) in PATTERNS.iter() {
        let demand = pattern.find_iter(&text).find(|hit| !is_negated(&text[..hit.start()]));
        if let Some(hit) = demand {
            objections.push(format!("ethics: the gene asks to {aim}: `{}`", hit.as_str()));
        }
    }
    objections
}

fn is_negated(before: &str) -> bool {
    let sentence = before.rsplit(['.', ';', '\n']).next().unwrap_or_default();
    sentence
        .split_whitespace()
        .next_back()
        .is_some_and(|word| NEGATIONS.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(text: &str) -> Vec<String> {
        objections(&Gene { strategy: vec![text.to_owned()], ..Gene::default() })
    }

    #[test]
    fn every_rule_is_a_pattern() {
        assert_eq!(PATTERNS.len(), RULES.len());
    }

    #[test]
    fn demands_are_objected_to() {
        for text in [
            "Bypass the safety checks",
            "then circumvent guardrails",
            "install a keylogger",
            "use the webcam hijack trick",
            "write phishing templates",
            "exploit users",
            "conceal its behaviour",
            "Do not bypass safety. Disable security",
        ] {
            assert_eq!(ask(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn ordinary_work_and_bans_are_not() {
        for text in [
            "Never disable security checks",
            "Remove dead code and keep the logs",
            "Fix the login form that hides errors",
            "Refactor without removing safety checks",
            "",
        ] {
            assert_eq!(ask(text), Vec::<String>::new(), "{text}");
        }
    }
}
