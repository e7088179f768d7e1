//! What a search asks of an index: terms joined by "and" and "or".

use capsid_rules::lifecycle::AssetType;
use capsid_rules::meaning::terms::{SignalQuery, encode_term, hashed_term};

/// Terms that an asset must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TermExpression {
    Term(String),
    /// All of these; never empty.
    All(Vec<TermExpression>),
    /// One of these; never empty.
    Any(Vec<TermExpression>),
}

impl TermExpression {
    /// A term of the rules, in the form that indexes take.
    pub fn term(term: &str) -> Self {
        Self::Term(encode_term(term))
    }

    /// What an asked signal is looked up by, where words alone are not enough.
    pub fn whole_signal(wanted: &SignalQuery) -> Option<Self> {
        let ways: Vec<Self> = wanted.exact.iter().map(|term| Self::term(term)).collect();
        (!ways.is_empty()).then_some(Self::Any(ways))
    }

    /// What an asked signal is looked up by.
    pub fn signal(wanted: &SignalQuery) -> Self {
        let mut ways: Vec<Self> = wanted.exact.iter().map(|term| Self::term(term)).collect();
        if !wanted.words.is_empty() {
            ways.push(Self::All(wanted.words.iter().map(|word| Self::term(word)).collect()));
        }
        Self::Any(ways)
    }

    /// The expression in the words of the index. Terms hold no quotes, so quoting them is all it takes.
    pub fn text(&self) -> String {
        match self {
            Self::Term(term) => format!("\"{term}\""),
            Self::All(parts) => joined(parts, " AND "),
            Self::Any(parts) => joined(parts, " OR "),
        }
    }

    /// Whether an asset with these terms, in the form that indexes take, is found.
    pub fn finds(&self, terms: &[String]) -> bool {
        match self {
            Self::Term(term) => terms.contains(term),
            Self::All(parts) => parts.iter().all(|part| part.finds(terms)),
            Self::Any(parts) => parts.iter().any(|part| part.finds(terms)),
        }
    }
}

fn joined(parts: &[TermExpression], word: &str) -> String {
    let parts: Vec<String> = parts.iter().map(TermExpression::text).collect();
    format!("({})", parts.join(word))
}

/// The term that all assets of a type have.
pub fn type_term(asset_type: AssetType) -> &'static str {
    match asset_type {
        AssetType::Gene => "t_gene",
        AssetType::Capsule => "t_capsule",
        AssetType::EvolutionEvent => "t_event",
    }
}

/// The term that all assets of a node have.
pub fn node_term(node_id: &str) -> String {
    hashed_term("n", node_id)
}

/// The term that all assets of a kind of change have.
pub fn category_term(category: &str) -> String {
    hashed_term("k", category)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_written_in_the_words_of_the_index() {
        let wanted = SignalQuery { exact: vec!["s_timeout".into()], words: vec!["a1".into(), "b2".into()] };
        let expression =
            TermExpression::All(vec![TermExpression::signal(&wanted), TermExpression::term("retry")]);
        assert_eq!(expression.text(), r#"(("s_timeout" OR ("a1" AND "b2")) AND "retry")"#);
        let finds =
            |terms: &[&str]| expression.finds(&terms.iter().map(|&t| t.to_owned()).collect::<Vec<_>>());
        assert!(finds(&["retry", "b2", "a1"]) && finds(&["s_timeout", "retry"]));
        assert!(!finds(&["retry", "b2"]) && !finds(&["s_timeout", "a1", "b2"]));
    }
}
