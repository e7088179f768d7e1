//! Sends a bundle to a hub and stores the hub's decision.

use super::publication_log::{self, OutgoingBundle, is_rejected};
use crate::workspace::Workspace;
use capsid_client::NodeClient;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Value};

/// The most problems of a hub's list that are reported.
const MAX_LISTED: usize = 5;
/// The longest text of a hub that is reported.
const MAX_LEN: usize = 400;

/// A bundle that a hub took.
#[derive(Debug, Clone)]
pub struct AcceptedBundle {
    pub answer: Object,
    /// Why it could not be noted; it is published all the same.
    pub unnoted: Option<Problem>,
}

/// Publishes a bundle and notes it. One that the hub rejects is a problem, and noted too, so that it is not offered to
/// this hub again before its content changes.
pub fn publish(workspace: &Workspace, node: &NodeClient, bundle: &OutgoingBundle) -> Result<AcceptedBundle> {
    match decided(node.publish(&bundle.assets)?) {
        Ok(answer) => {
            let unnoted =
                publication_log::record_publication(workspace, bundle, node.hub_url(), &answer).err();
            Ok(AcceptedBundle { answer, unnoted })
        }
        Err(rejected) => {
            // Without the note the bundle is offered again, which costs only one request.
            let _ = publication_log::record_rejected(workspace, bundle, node.hub_url(), &rejected);
            Err(rejected)
        }
    }
}

/// Publishes assets that are in no store, so that there is nothing to note.
pub fn send(node: &NodeClient, assets: &[Object]) -> Result<Object> {
    decided(node.publish(assets)?)
}

/// Hubs answer 200 or 422 to a bundle that they reject; the decision is in the body.
fn decided(answer: Object) -> Result<Object> {
    match is_rejected(&answer) {
        true => Err(refusal(&answer, "The hub rejected it").hub_status(422)),
        false => Ok(answer),
    }
}

/// The problem that a hub's reasons against a bundle are, after a publish or a rehearsal of one.
pub fn refusal(response: &Object, what: &str) -> Problem {
    let text = |value: Option<&Value>| {
        let text = inert_line(cut(value.and_then(Value::as_str)?, MAX_LEN));
        (!text.trim().is_empty()).then_some(text)
    };
    let code = text(response.get("reason")).unwrap_or_else(|| "rejected".to_owned());
    let correction = response.get("correction");
    let listed = response.get("problems").and_then(Value::as_array).into_iter().flatten();
    let listed: Vec<String> = listed.take(MAX_LISTED).filter_map(|problem| text(Some(problem))).collect();
    let reason = text(correction.and_then(|correction| correction.get("problem")))
        .or_else(|| (!listed.is_empty()).then(|| listed.join("; ")))
        .unwrap_or_else(|| "it gave no other reason".to_owned());
    let fix = text(correction.and_then(|correction| correction.get("fix")))
        .unwrap_or_else(|| "Change what it names; the changed content can be published.".to_owned());
    Problem::new(Code::HubRefused, format!("{what} (`{code}`): {reason}")).hub_code(code).fix(fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    fn object(value: Value) -> Object {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_rejection_is_a_problem_in_the_hubs_words() {
        let response = json!({"status": "rejected", "decision": "reject", "reason": "quality_gate_failed",
            "problems": ["the score\u{1b}[31m is low", 7, "no file"]});
        let problem = decided(object(response)).unwrap_err();
        assert_eq!((problem.code, problem.hub_status), (Code::HubRefused, Some(422)));
        assert_eq!(problem.hub_code.as_deref(), Some("quality_gate_failed"));
        assert!(problem.message.contains("the score\\u{1b}[31m is low; no file"), "{}", problem.message);
        assert!(!capsid_client::refusal::may_pass(&problem));
        let corrected =
            json!({"status": "rejected", "correction": {"problem": "An example.", "fix": "Do it."}});
        let problem = decided(object(corrected)).unwrap_err();
        assert!(problem.message.contains("(`rejected`): An example."), "{}", problem.message);
        assert_eq!(problem.fix.as_deref(), Some("Do it."));
    }

    #[test]
    fn every_other_answer_is_a_publication() {
        for response in [
            json!({"status": "accepted", "decision": "accept"}),
            json!({"status": "quarantined", "decision": "quarantine", "reason": "content_safety"}),
            json!({"status": "published", "reason": "already_published"}),
            json!({"status": 7}),
            json!({}),
        ] {
            assert_eq!(decided(object(response.clone())).unwrap(), object(response));
        }
    }
}
