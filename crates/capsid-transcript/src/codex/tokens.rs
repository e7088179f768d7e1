//! What each answer of the model cost.

use capsid_model::exact::{ExactFields, ExactJson};

/// The last reported sum.
#[derive(Debug, Default)]
pub(super) struct TokenTotals {
    total: Option<ExactFields>,
}

impl TokenTotals {
    /// The cost of the last answer. None if the same count was recorded before: it is repeated with every change of the
    /// rate limits, and by forks.
    pub(super) fn since_last(&mut self, info: &ExactJson) -> Option<ExactFields> {
        let total = info.get("total_token_usage").and_then(ExactJson::as_object);
        let last = info.get("last_token_usage").and_then(ExactJson::as_object);
        if total.is_some() && total == self.total.as_ref() {
            return None;
        }
        let mut usage = match (last, total) {
            (Some(last), _) => last.clone(),
            (None, Some(total)) => self.grown(total),
            (None, None) => return None,
        };
        if let Some(total) = total {
            self.total = Some(total.clone());
        }
        if let Some(window) = info.get("model_context_window").filter(|window| window.is_truthy()) {
            usage.insert("model_context_window".to_owned(), window.clone());
        }
        Some(usage)
    }

    fn grown(&self, total: &ExactFields) -> ExactFields {
        let before = |name: &str| self.total.as_ref()?.get(name)?.as_i64();
        let grown = |(name, value): (&String, &ExactJson)| {
            let grown = value.as_i64().map(|now| now.saturating_sub(before(name).unwrap_or(0)).max(0));
            (name.clone(), grown.map_or_else(|| value.clone(), ExactJson::from))
        };
        total.iter().map(grown).collect()
    }
}
