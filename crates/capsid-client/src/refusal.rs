//! A hub's refusal as a problem, with the hub's own text as far as it can be trusted.

use crate::http::HttpAnswer;
pub use crate::http::TIMEOUT;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Value};

/// What the owner of a node can do when the hub does not take its secret.
pub(crate) const OWNER_CAN_RESET: &str = "The owner of the node can reset its secret in the account on the hub; `capsid node hello --secret-stdin` takes the new one.";

/// Whether a hub was too slow.
pub fn is_timeout(problem: &Problem) -> bool {
    problem.code == Code::HubUnreachable
        && problem.hub_status.is_none()
        && problem.hub_code.as_deref() == Some(TIMEOUT)
}

/// Whether what failed may go well later, so that it is kept and sent again: the hub is away, busy, confused or does not
/// take this node for now, or something on this machine is in the way for a while.
pub fn may_pass(problem: &Problem) -> bool {
    match problem.code {
        Code::HubUnreachable
        | Code::HubBusy
        | Code::HubAnswerInvalid
        | Code::NodeSecretRefused
        | Code::StoreLocked
        | Code::StoreBusy
        | Code::IoError
        | Code::DiskFull => true,
        Code::HubRefused => match problem.hub_status {
            Some(403 | 404) => problem.hub_code.as_deref().is_some_and(is_about_node),
            Some(status) => !matches!(status, 200..=400 | 405..=407 | 409..=424 | 426..=428),
            None => true,
        },
        _ => false,
    }
}

/// Whether a code concerns the node and not what it sent.
fn is_about_node(code: &str) -> bool {
    code.starts_with("node_") || matches!(code, "unknown_node" | "account_banned")
}

/// The problem that an answer outside 200..300 is.
pub(crate) fn from_answer(answer: &HttpAnswer) -> Problem {
    let body = &answer.body;
    let code = code_in(body).unwrap_or_else(|| format!("http_{}", answer.status));
    match answer.status {
        429 | 503 => return busy(&code, answer),
        502 | 504 => {
            return Problem::new(
                Code::HubUnreachable,
                format!("What stands in front of the hub answered {}: the hub is away.", answer.status),
            )
            .fix("Try again later; work on this machine goes on without the hub.")
            .hub_code(code)
            .hub_status(answer.status);
        }
        _ => {}
    }
    let reason = words(body.pointer("/correction/problem")).or_else(|| words(body.get("message")));
    let fix = words(body.pointer("/correction/fix"));
    let rotation = ["/reason", "/payload/reason"]
        .iter()
        .any(|pointer| body.pointer(pointer).and_then(Value::as_str).is_some_and(is_about_secret));
    let message = reason.unwrap_or_else(|| "It gave no reason.".to_owned());
    let problem = problem(answer.status, &code, &message, rotation || is_about_secret(&code));
    match fix {
        Some(fix) if problem.fix.is_none() => problem.fix(format!("The hub says: {fix}")),
        _ => problem,
    }
}

/// Whether an answer is a hub's decision on a bundle. A hub may send one with the status of a refusal, and it is the
/// caller's to read: it says what became of each asset.
pub(crate) fn is_decision(answer: &HttpAnswer) -> bool {
    let decision = answer.body.pointer("/payload/decision").and_then(Value::as_str);
    answer.status == 422 && matches!(decision, Some("reject" | "quarantine"))
}

/// The problem that a payload with the status `rejected` is.
pub(crate) fn from_rejection(payload: &Object) -> Problem {
    let reason = payload.get("reason").and_then(Value::as_str).unwrap_or_default();
    let code = code_of(reason).unwrap_or_else(|| "rejected".to_owned());
    let message = match inert_line(cut(reason, 400)) {
        reason if reason.is_empty() => "It does not take this node.".to_owned(),
        reason => reason,
    };
    problem(200, &code, &message, is_about_secret(reason))
}

fn problem(status: u16, code: &str, message: &str, secret: bool) -> Problem {
    let kind = if secret { Code::NodeSecretRefused } else { Code::HubRefused };
    let problem = Problem::new(kind, format!("The hub refused ({status} `{code}`): {message}"))
        .hub_code(code)
        .hub_status(status);
    if secret { problem.fix(OWNER_CAN_RESET) } else { problem }
}

fn is_about_secret(reason: &str) -> bool {
    ["node_secret_invalid", "rotation_requires_current_secret", "node_id_already_claimed"]
        .iter()
        .any(|known| reason.contains(known))
}

fn busy(code: &str, answer: &HttpAnswer) -> Problem {
    let wait = match answer.retry_after {
        Some(wait) => format!(" It asks to wait {} s.", wait.as_millis().div_ceil(1000)),
        None => String::new(),
    };
    Problem::new(Code::HubBusy, format!("The hub takes no more for now ({} `{code}`).{wait}", answer.status))
        .fix("Try again later; work on this machine goes on without the hub.")
        .hub_code(code)
        .hub_status(answer.status)
        .retry_after(answer.retry_after)
}

/// The hub's own code, from the places where hubs put it.
fn code_in(body: &Value) -> Option<String> {
    ["/error", "/reason", "/payload/error", "/payload/reason"]
        .iter()
        .find_map(|pointer| code_of(body.pointer(pointer)?.as_str()?))
}

/// The code at the start of a reason such as `hello_blocked: too many`; none where it has not the form of one.
fn code_of(text: &str) -> Option<String> {
    let code = text.split([':', ' ']).next()?;
    let part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
    let fits = code.len() <= 80 && code.starts_with(|c: char| c.is_ascii_lowercase());
    (fits && code.bytes().all(part)).then(|| code.to_owned())
}

fn words(value: Option<&Value>) -> Option<String> {
    let text = inert_line(cut(value?.as_str()?, 400));
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;
    use std::time::Duration;

    fn answer(status: u16, body: Value) -> HttpAnswer {
        HttpAnswer { status, body, bytes: Vec::new(), retry_after: Some(Duration::from_millis(1500)) }
    }

    #[test]
    fn the_hubs_code_and_words_are_kept_and_made_harmless() {
        let body =
            json!({"error": "not_found", "correction": {"problem": "No\u{1b}[31m asset.", "fix": "Look."}});
        let problem = from_answer(&answer(404, body));
        assert_eq!((problem.code, problem.hub_code.as_deref()), (Code::HubRefused, Some("not_found")));
        assert!(problem.message.contains("No\\u{1b}[31m asset."), "{}", problem.message);
        assert_eq!(problem.fix.as_deref(), Some("The hub says: Look."), "and whose words they are");
        let shouting = from_answer(&answer(400, json!({"error": "<script>", "reason": "hello_blocked: no"})));
        assert_eq!(shouting.hub_code.as_deref(), Some("hello_blocked"));
        assert_eq!(from_answer(&answer(500, json!([]))).hub_code.as_deref(), Some("http_500"));
    }

    #[test]
    fn a_busy_hub_says_how_long_and_a_refused_secret_who_can_help() {
        let busy = from_answer(&answer(429, json!({"error": "rate_limited"})));
        assert_eq!((busy.code, busy.retry_after), (Code::HubBusy, Some(Duration::from_millis(1500))));
        assert!(busy.message.contains("2 s"), "{}", busy.message);
        let body = json!({"error": "node_secret_required", "reason": "rotation_requires_current_secret"});
        let refused = from_answer(&answer(401, body));
        assert_eq!(refused.code, Code::NodeSecretRefused);
        assert_eq!(refused.fix.as_deref(), Some(OWNER_CAN_RESET));
        let rejected = json!({"status": "rejected", "reason": "node_id_already_claimed: by somebody"});
        assert_eq!(from_rejection(rejected.as_object().unwrap()).code, Code::NodeSecretRefused);
    }

    #[test]
    fn only_what_a_hub_will_never_take_is_given_up() {
        let passes = |status, code: &str| may_pass(&from_answer(&answer(status, json!({"error": code}))));
        for (status, code) in [
            (400, "bundle_required"),
            (403, "not_asset_owner"),
            (404, "asset_not_found"),
            (409, "state_conflict"),
            (422, "schema"),
        ] {
            assert!(!passes(status, code), "{status} {code}");
        }
        for (status, code) in [
            (401, "unauthorized"),
            (401, "node_secret_required"),
            (403, "node_secret_invalid"),
            (403, "rotation_requires_current_secret"),
            (403, "node_quarantined"),
            (404, "unknown_node"),
            (408, "slow"),
            (425, "early"),
            (429, "rate_limited"),
            (500, "internal_error"),
            (502, "x"),
            (503, "server_busy"),
        ] {
            assert!(passes(status, code), "{status} {code}");
        }
        let rejected = json!({"status": "rejected", "reason": "hello_blocked"});
        assert!(!may_pass(&from_rejection(rejected.as_object().unwrap())));
        assert!(may_pass(&Problem::new(Code::HubUnreachable, "away")));
        assert!(!may_pass(&Problem::new(Code::NotEligible, "not yet")));
    }

    #[test]
    fn a_hub_that_says_timeout_was_not_too_slow() {
        assert!(is_timeout(&Problem::new(Code::HubUnreachable, "slow").hub_code(TIMEOUT)));
        assert!(!is_timeout(&Problem::new(Code::HubUnreachable, "away")));
        assert!(!is_timeout(&from_answer(&answer(504, json!({"error": "timeout"})))));
    }
}
