//! The ids of the problem that a stored object names: its member `problem`, or the signature of an older one.

use capsid_model::signal::normalise_errsig;
use capsid_model::{Object, Value};
use capsid_rules::diagnosis::{DiagnosisIds, ProblemRecord, parse_errsig};
use capsid_rules::learning::match_level::ProblemIds;

/// The ids of a stored problem. An object without `problem` has a message id at most.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredProblemIds {
    pub exact: Option<String>,
    pub message: Option<String>,
    pub site: Option<String>,
    pub template: Option<String>,
}

impl StoredProblemIds {
    /// The ids as the rules compare them.
    pub fn as_ids(&self) -> ProblemIds<'_> {
        ProblemIds {
            exact: self.exact.as_deref(),
            message: self.message.as_deref(),
            site: self.site.as_deref(),
            template: self.template.as_deref(),
        }
    }

    fn from_ids(ids: DiagnosisIds) -> Self {
        Self {
            exact: Some(ids.exact),
            message: Some(ids.message),
            site: Some(ids.site),
            template: Some(ids.template),
        }
    }
}

impl From<&ProblemRecord> for StoredProblemIds {
    fn from(problem: &ProblemRecord) -> Self {
        Self::from_ids(problem.ids.clone())
    }
}

/// The ids of the problem that a capsule solved. None if only generic signals say what it is about: such a capsule is
/// never offered.
pub fn capsule_problem_ids(capsule: &Object) -> Option<StoredProblemIds> {
    let stored = capsule.get("problem").and_then(|problem| problem.get("ids"));
    let ids = stored.and_then(|ids| serde_json::from_value::<DiagnosisIds>(ids.clone()).ok());
    if let Some(ids) = ids {
        return Some(StoredProblemIds::from_ids(ids));
    }
    let triggers = capsule.get("trigger").and_then(Value::as_array)?;
    let message = find_message_id(triggers.iter().filter_map(Value::as_str))?;
    Some(StoredProblemIds { message: Some(message), ..StoredProblemIds::default() })
}

/// The same, beside a present problem: a capsule without ids whose signature is that of the problem solved its message.
/// `signals` are those of the run. The form that is written now cannot be parsed again, so it is compared.
pub fn capsule_ids_beside(
    capsule: &Object,
    signals: &[String],
    problem: &ProblemRecord,
) -> Option<StoredProblemIds> {
    let triggers = capsule.get("trigger").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_same = |trigger: &str| {
        let norm = normalise_errsig(trigger);
        norm.is_some() && signals.iter().any(|signal| normalise_errsig(signal) == norm)
    };
    if capsule.get("problem").is_none() && triggers.iter().filter_map(Value::as_str).any(is_same) {
        let message = Some(problem.ids.message.clone());
        return Some(StoredProblemIds { message, ..StoredProblemIds::default() });
    }
    capsule_problem_ids(capsule)
}

/// The message id that the first readable `errsig:` of a list of signals stands for.
pub fn find_message_id<'a>(signals: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut signatures = signals.into_iter().filter(|signal| signal.starts_with("errsig:"));
    signatures.find_map(|signal| Some(parse_errsig(signal)?.ids().message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;
    use capsid_rules::diagnosis::diagnose;
    use capsid_rules::learning::match_level::MatchLevel;

    const LOG: &str = "src/order.ts(7,3): error TS2322: Type 'string' is not assignable to type 'number'.\n";

    fn object(value: &Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn the_problem_of_a_capsule_has_all_ids() {
        let record = diagnose(LOG).to_record().unwrap();
        let capsule =
            object(&json!({"trigger": ["log_error"], "problem": serde_json::to_value(&record).unwrap()}));
        let ids = capsule_problem_ids(&capsule).unwrap();
        let problem = StoredProblemIds::from(&record);
        assert_eq!(MatchLevel::find(&problem.as_ids(), &ids.as_ids()), Some(MatchLevel::Exact));
    }

    #[test]
    fn an_old_capsule_matches_by_its_signature_at_message_level() {
        for line in ["TypeError: x is null", LOG.trim(), "[ERROR] disk on fire"] {
            let record = diagnose(line).to_record().unwrap();
            let capsule = object(&json!({"trigger": ["log_error", format!("errsig:{line}"), "exception"]}));
            let ids = capsule_problem_ids(&capsule).unwrap();
            let problem = StoredProblemIds::from(&record);
            assert_eq!(
                MatchLevel::find(&problem.as_ids(), &ids.as_ids()),
                Some(MatchLevel::Message),
                "{line}"
            );
        }
    }

    #[test]
    fn a_capsule_that_lost_its_ids_is_known_by_the_same_signature() {
        let diagnosis = diagnose(LOG);
        let (signals, record) =
            (vec![diagnosis.problem.unwrap().errsig()], diagnose(LOG).to_record().unwrap());
        let capsule = object(&json!({"trigger": ["log_error", signals[0]]}));
        let ids = capsule_ids_beside(&capsule, &signals, &record).unwrap();
        assert_eq!(ids.message, Some(record.ids.message.clone()));
        let other = object(&json!({"trigger": ["log_error", "errsig:tsc TS1: other"]}));
        let ids = capsule_ids_beside(&other, &signals, &record);
        assert_ne!(ids.and_then(|ids| ids.message), Some(record.ids.message));
    }

    #[test]
    fn a_capsule_with_generic_signals_only_names_no_problem() {
        for trigger in [json!(["log_error", "exception", "test_failure"]), json!([]), Value::Null] {
            assert_eq!(capsule_problem_ids(&object(&json!({"trigger": trigger}))), None);
        }
    }
}
