//! A node says whether an asset's validation passed where it ran it.
//!
//! There are two shapes. A node that tried an asset by itself names it and puts what it found into
//! `validation_report`. A validator that the hub asked sends the task's id and nonce, with what it found beside them.

use crate::auth::idempotency::{Idempotent, run_idempotent};
use crate::auth::message::Message;
use crate::auth::public_key::{is_signed_by, read_bytes};
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::object_reader::{ObjectReader, kind_of};
use crate::http::validate;
use crate::ops::assets::revoke::not_found;
use crate::ops::assets::view::ConsensusView;
use crate::ops::evaluation::report_contents::{read_read_proof, read_statements};
use crate::state::SharedHub;
use capsid_model::canonical::canonical_value;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;
use capsid_rules::evaluation::stated_report::StatedReport;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::assets;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::assignments::AssignmentTicket;
use capsid_store::evaluation::reports;
use capsid_store::evaluation::reports::{NewReport, ReportOutcome, ReportTarget, StoredReport};
use capsid_store::nodes::NodeRow;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// The largest report.
const BODY_LIMIT: usize = 64 * 1024;
/// The longest id and the longest word.
const NAME_LIMIT: usize = 200;
/// The most commands that are listed.
const COMMANDS_LIMIT: usize = 1000;

/// The member with the signature.
const KEY_SIGNATURE: &str = "public_key_signature";

/// Where a report says what machine it ran on.
const MACHINES: [&str; 3] = ["env", "env_fingerprint", "environment"];

/// What became of a report.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportResponse {
    /// accepted, or recorded where it has no weight.
    status: &'static str,
    report_id: String,
    #[schema(value_type = String)]
    target_asset_id: AssetId,
    weight: f64,
    /// self, assigned or unsolicited.
    label: &'static str,
    /// What it rests on: self, unverified, fetched, used, applied, assigned, reproduced or hub.
    grade: &'static str,
    /// Why it has no weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    note: Option<&'static str>,
    consensus: ConsensusView,
    asset_status: AssetStatus,
    /// Always 0: rewards wait until the outcome is final.
    reward_credits: i64,
    /// Whether a reward may follow.
    reward_pending: bool,
}

/// Records what a node found.
///
/// A report counts by what its sender has shown: that it had the asset, that it read it, that it ran it. The publisher's
/// own is kept without weight. A node has one report on an asset; a later one takes its place.
#[tracing::instrument(skip_all, fields(node.id = %message.sender_id()))]
pub async fn report(hub: &SharedHub, message: &Message<'_>) -> ApiResult<Idempotent<ReportResponse>> {
    let request = ReportRequest::read(message.envelope.payload.get(), hub.new_id("report"))?;
    // A fetch of a moment ago counts.
    hub.usage.flush().await?;
    run_idempotent(hub, message, "/a2a/report", "report", move |tx, context, node| {
        report_in(tx, context, node, &request)
    })
    .await
}

/// A report that was read.
#[derive(Debug)]
pub struct ReportRequest {
    asset_id: Option<AssetId>,
    local_id: Option<String>,
    ticket: Option<AssignmentTicket>,
    report: NewReport,
    signature: Option<ReportSignature>,
}

/// A signature with the node's public key.
#[derive(Debug)]
struct ReportSignature {
    /// The canonical text of the payload without the signature.
    signed_text: String,
    signature: Vec<u8>,
}

impl ReportRequest {
    /// Reads a payload. The report is kept as `fresh_id` where it names no id of its own.
    pub fn read(body: &str, fresh_id: String) -> ApiResult<Self> {
        if body.len() > BODY_LIMIT {
            return Err(ApiError::new(
                HubCode::PayloadTooLarge,
                format!("The report is larger than {BODY_LIMIT} bytes."),
                "Send only the end of what each command printed.",
            ));
        }
        let payload: Map<String, Value> = crate::http::json::read(body, "payload")?;
        let outer = ObjectReader::new(&payload, "payload");
        let asset_id = outer.text("target_asset_id", 1, NAME_LIMIT)?.map(asset_id).transpose()?;
        let local_id = outer.text("target_local_id", 1, NAME_LIMIT)?.map(str::to_owned);
        let ticket = ticket(&outer, asset_id)?;
        if ticket.is_none() && asset_id.is_none() && local_id.is_none() {
            return Err(ApiError::field("payload.target_asset_id", "an asset id", "missing"));
        }
        let mut report = match payload.get("validation_report").filter(|value| !value.is_null()) {
            Some(Value::Object(inner)) => found(inner, "payload.validation_report", fresh_id, body)?,
            Some(other) => {
                return Err(ApiError::field("payload.validation_report", "an object", kind_of(other)));
            }
            None if ticket.is_some() => found(&payload, "payload", fresh_id, body)?,
            None => return Err(ApiError::field("payload.validation_report", "an object", "missing")),
        };
        report.read_proof = match report.read_proof {
            None => read_read_proof(&payload, "payload")?,
            inner => inner,
        };
        let signature = ReportSignature::read(&payload)?;
        Ok(Self { asset_id, local_id, ticket, report, signature })
    }

    /// What is kept of it.
    pub fn into_report(self) -> NewReport {
        self.report
    }
}

impl ReportSignature {
    fn read(payload: &Map<String, Value>) -> ApiResult<Option<Self>> {
        let outer = ObjectReader::new(payload, "payload");
        let Some(text) = outer.text(KEY_SIGNATURE, 1, NAME_LIMIT)? else { return Ok(None) };
        let signature = read_bytes(text).ok_or_else(not_signed)?;
        let mut signed = payload.clone();
        signed.remove(KEY_SIGNATURE);
        Ok(Some(Self { signed_text: canonical_value(&Value::Object(signed)), signature }))
    }

    /// The key of the node, which made the signature.
    fn check(&self, node: &NodeRow) -> ApiResult<Vec<u8>> {
        let key = node.public_key.as_deref().ok_or_else(not_signed)?;
        let is_right = is_signed_by(key, &self.signed_text, &self.signature);
        if is_right { Ok(key.to_vec()) } else { Err(not_signed()) }
    }
}

fn not_signed() -> ApiError {
    ApiError::new(
        HubCode::SignatureInvalid,
        "`payload.public_key_signature` was not made with the node's public key over the report.",
        "Say hello with `public_key` first, sign the canonical JSON of the payload without this member with that key \
         (Ed25519), or leave the signature out.",
    )
}

/// The part inside a transaction, for callers that have one of their own.
pub fn report_in(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: &NodeRow,
    request: &ReportRequest,
) -> ApiResult<ReportResponse> {
    let target = match (&request.ticket, request.asset_id, &request.local_id) {
        (Some(ticket), ..) => ReportTarget::Assigned(ticket.clone()),
        (None, Some(id), _) => ReportTarget::Asset(id),
        (None, None, Some(local)) => {
            ReportTarget::Asset(assets::by_local_id(tx, &node.node_id, local)?.ok_or_else(not_found)?)
        }
        (None, None, None) => return Err(not_found()),
    };
    let identity = &context.config.identity;
    let keyless = node.stage(identity.issue_window_ms, context.now).is_keyless();
    let signed_by = request.signature.as_ref().map(|signature| signature.check(node)).transpose()?;
    let keyless = keyless && !identity.count_keyless_reports;
    let report = NewReport { keyless, signed_by, ..request.report.clone() };
    let weights = context.config.grade_weights();
    match reports::record(tx, node, &target, &report, weights, context.now)? {
        ReportOutcome::Kept(kept) => Ok(ReportResponse::new(kept, request.report.inconclusive)),
        ReportOutcome::AssetNotFound => Err(not_found()),
        ReportOutcome::AssignmentNotOpen => Err(ApiError::new(
            HubCode::AssignmentNotOpen,
            "The node has no open assignment with this task id and nonce.",
            "Ask for new ones with POST /a2a/fetch and `validation_only: true`; each can be reported on once.",
        )),
        ReportOutcome::AnotherAsset(id) => Err(ApiError::field(
            "payload.target_asset_id",
            format!("`{id}`, which the assignment is about"),
            "another asset",
        )),
        ReportOutcome::Contradictory(contradiction) => Err(ApiError::new(
            HubCode::ReportContradictory,
            contradiction.to_string(),
            "Send what was seen: `overall_ok` is true if every command passed, and only then.",
        )),
        ReportOutcome::AssignedStands => Err(ApiError::new(
            HubCode::StateConflict,
            "The hub asked the node about this asset, and what it said then stands.",
            "Nothing has to be done; the earlier report counts.",
        )),
    }
}

fn asset_id(text: &str) -> ApiResult<AssetId> {
    AssetId::parse(text).ok_or_else(|| {
        ApiError::field("payload.target_asset_id", "`sha256:` and 64 hexadecimal digits", "another text")
    })
}

/// A task id and its nonce. A task id alone belongs to something else, where the report names its asset.
fn ticket(outer: &ObjectReader<'_>, asset_id: Option<AssetId>) -> ApiResult<Option<AssignmentTicket>> {
    let (task_id, nonce) = (outer.text("task_id", 1, NAME_LIMIT)?, outer.text("nonce", 1, NAME_LIMIT)?);
    match (task_id, nonce) {
        (Some(task_id), Some(nonce)) => {
            Ok(Some(AssignmentTicket { task_id: task_id.to_owned(), nonce: nonce.to_owned(), asset_id }))
        }
        (Some(_), None) if asset_id.is_none() => {
            Err(ApiError::field("payload.nonce", "the nonce of the task", "missing"))
        }
        _ => Ok(None),
    }
}

/// What a node found, in the words of either shape.
fn found(object: &Map<String, Value>, path: &str, fresh_id: String, body: &str) -> ApiResult<NewReport> {
    let fields = ObjectReader::new(object, path);
    let name = |key: &str| -> ApiResult<Option<String>> {
        let text = fields.text(key, 0, NAME_LIMIT)?.filter(|text| !text.is_empty());
        validate::name_or(text, &format!("{path}.{key}"), NAME_LIMIT)?;
        Ok(text.map(str::to_owned))
    };
    let wanted_id = match name("report_id")? {
        Some(id) => Some(id),
        None => name("id")?,
    };
    let overall_ok = overall_ok(object, path)?;
    let listed = listed(object, path)?;
    fields.number("duration_ms", 0.0, 1e12)?;
    fields.text("execution_log_hash", 0, NAME_LIMIT)?;
    let count = |key: &str, known: Option<usize>| -> ApiResult<Option<i64>> {
        let told = fields.number(key, 0.0, 1e6)?.map(|count| count as i64);
        Ok(told.or(known.map(|count| count as i64)))
    };
    let total = count("commands_total", listed.as_ref().map(|commands| commands.len()))?;
    let results = listed.filter(|commands| has_results(commands));
    let passed = count("commands_passed", results.map(|commands| passed(commands)))?;
    if let (Some(passed), Some(total)) = (passed, total)
        && passed > total
    {
        let expected = format!("at most {total}, which is all of them");
        return Err(ApiError::field(format!("{path}.commands_passed"), expected, passed.to_string()));
    }
    let failure_class = name("failure_class")?;
    let listed_commands = listed.map_or(&[][..], Vec::as_slice);
    let inconclusive = !overall_ok && is_inconclusive(failure_class.as_deref(), listed_commands);
    let machine_of = |key: &str| object.get(key).filter(|print| machine(print, path).is_some());
    let stated = StatedReport {
        overall_ok,
        commands_passed: passed,
        commands_total: total,
        failure_class: failure_class.clone(),
        has_environment: MACHINES.iter().any(|key| machine_of(key).is_some()),
        has_runtime: MACHINES.iter().any(|key| machine_of(key).is_some_and(names_runtime)),
        ..read_statements(object, path, results.map(Vec::as_slice))?
    };
    let reproduction_score = fields.number("reproduction_score", 0.0, 1.0)?.filter(|_| !inconclusive);
    Ok(NewReport {
        wanted_id,
        fresh_id,
        overall_ok,
        env_fingerprint_key: environment(object, path, &name)?,
        commands_passed: passed,
        commands_total: total,
        reproduction_score,
        failure_class,
        keyless: false,
        inconclusive,
        stated,
        read_proof: read_read_proof(object, path)?,
        signed_by: None,
        body: body.to_owned(),
    })
}

fn overall_ok(object: &Map<String, Value>, path: &str) -> ApiResult<bool> {
    let told = ["overall_ok", "passed"].into_iter().find_map(|key| Some((key, object.get(key)?)));
    match told {
        Some((_, Value::Bool(ok))) => Ok(*ok),
        Some((key, other)) => Err(ApiError::field(format!("{path}.{key}"), "true or false", kind_of(other))),
        None => Err(ApiError::field(format!("{path}.overall_ok"), "true or false", "missing")),
    }
}

/// The commands, where the report lists them.
fn listed<'a>(object: &'a Map<String, Value>, path: &str) -> ApiResult<Option<&'a Vec<Value>>> {
    match object.get("commands").filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(Value::Array(commands)) if commands.len() <= COMMANDS_LIMIT => Ok(Some(commands)),
        Some(Value::Array(_)) => Err(ApiError::field(
            format!("{path}.commands"),
            format!("at most {COMMANDS_LIMIT} commands"),
            "more",
        )),
        Some(other) => Err(ApiError::field(format!("{path}.commands"), "an array", kind_of(other))),
    }
}

fn is_ok(command: &Value) -> bool {
    command.get("ok").and_then(Value::as_bool) == Some(true)
}

/// Whether a list says how each command ended. Some clients list the commands alone.
fn has_results(commands: &[Value]) -> bool {
    commands.iter().all(|command| command.get("ok").is_some_and(Value::is_boolean))
}

fn passed(commands: &[Value]) -> usize {
    commands.iter().filter(|command| is_ok(command)).count()
}

/// Where it ran: put together from what is told of the machine, as it is for capsules, or named. Engines name it by a
/// hash, which says less.
fn environment(
    object: &Map<String, Value>,
    path: &str,
    name: &dyn Fn(&str) -> ApiResult<Option<String>>,
) -> ApiResult<Option<String>> {
    let named = name("env_fingerprint_key")?;
    let told = MACHINES.into_iter().find_map(|key| machine(object.get(key)?, path));
    if told.is_some() || named.is_some() {
        return Ok(told.or(named));
    }
    match object.get("environment") {
        Some(Value::String(_)) => name("environment"),
        None | Some(Value::Null | Value::Object(_)) => Ok(None),
        Some(other) => {
            Err(ApiError::field(format!("{path}.environment"), "a string or an object", kind_of(other)))
        }
    }
}

/// A kind of machine, such as `linux_x64`, where a fingerprint tells it.
fn machine(print: &Value, path: &str) -> Option<String> {
    let part = |key: &str| print.get(key)?.as_str().filter(|part| !part.is_empty());
    let key = format!("{}_{}", part("platform")?, part("arch")?);
    validate::name(&key, path, NAME_LIMIT).is_ok().then_some(key)
}

/// Whether what is told of a machine names its runtime. Engines put it into `node_version`.
fn names_runtime(print: &Value) -> bool {
    let is_named = |key: &str| print.get(key).and_then(Value::as_str).is_some_and(|name| !name.is_empty());
    is_named("runtime") || is_named("node_version")
}

/// Whether a failure only says that the validation could not be run here: the sandbox refused it, the program would
/// not start, or the files it is about are not there. That speaks neither for nor against the asset.
fn is_inconclusive(failure_class: Option<&str>, commands: &[Value]) -> bool {
    let refused = |class: &str| {
        matches!(class, "parse_failed" | "executable_not_allowed" | "spawn_failed")
            || class.starts_with("sandbox_")
            || class.starts_with("env_")
    };
    if failure_class.is_some_and(refused) {
        return true;
    }
    let missing = |command: &Value| {
        let told = command.get("stderr_tail").or_else(|| command.get("stderr")).and_then(Value::as_str);
        let told = told.unwrap_or_default();
        ["Cannot find module", "MODULE_NOT_FOUND", "ENOENT", "Missing script"]
            .iter()
            .any(|sign| told.contains(sign))
    };
    let mut failed = commands.iter().filter(|command| !is_ok(command)).peekable();
    failed.peek().is_some() && failed.all(missing)
}

impl ReportResponse {
    fn new(kept: StoredReport, inconclusive: bool) -> Self {
        let has_weight = kept.weight > 0.0;
        Self {
            status: if has_weight { "accepted" } else { "recorded" },
            note: (kept.weight <= 0.0).then(|| describe_report(&kept, inconclusive)),
            report_id: kept.report_id,
            target_asset_id: kept.asset_id,
            weight: kept.weight,
            label: kept.label,
            grade: kept.grade.as_str(),
            consensus: ConsensusView::from(&kept.tally),
            asset_status: kept.status,
            reward_credits: 0,
            reward_pending: kept.label == "assigned" && has_weight,
        }
    }
}

fn describe_report(kept: &StoredReport, inconclusive: bool) -> &'static str {
    match (kept.label, inconclusive) {
        ("self", _) => "It is kept without weight, because the asset is the node's own or its owner's.",
        (_, true) => "It is kept without weight, because the validation could not be run there.",
        _ if kept.grade <= EvidenceGrade::Probe => {
            "It is kept without weight, because nothing shows that the node had the asset. Fetch it with `trial: true` \
             before you try it, and send `read_proof`."
        }
        _ => {
            "It is kept without weight: on this hub such a report counts for nothing, or the node has no reputation left."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ReportRequest, is_inconclusive};
    use crate::error::HubCode;
    use serde_json::{Value, json};

    const ID: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    fn read(payload: &Value) -> crate::error::ApiResult<ReportRequest> {
        ReportRequest::read(&payload.to_string(), "report_fresh".to_owned())
    }

    #[test]
    fn both_shapes_are_read() {
        let plain = read(&json!({"target_asset_id": ID, "validation_report": {
            "report_id": "report_001", "overall_ok": true, "env_fingerprint_key": "linux_x64"}}))
        .unwrap();
        assert_eq!(plain.report.wanted_id.as_deref(), Some("report_001"));
        assert_eq!(plain.report.env_fingerprint_key.as_deref(), Some("linux_x64"));
        let older = read(&json!({"target_asset_id": ID, "validation_report": {
            "id": "r", "passed": false, "environment": "mac", "commands": [{"ok": true}, {"ok": false}]}}))
        .unwrap();
        assert!(!older.report.overall_ok);
        assert_eq!((older.report.commands_passed, older.report.commands_total), (Some(1), Some(2)));
        let bare = read(&json!({"target_asset_id": ID, "validation_report": {
            "overall_ok": true, "commands": ["npm test"]}}))
        .unwrap();
        assert_eq!((bare.report.commands_passed, bare.report.commands_total), (None, Some(1)));
        assert_eq!(bare.report.stated.commands, None, "it does not say how they ended");
        let asked = read(&json!({"task_id": "t", "nonce": "n", "overall_ok": true, "commands_passed": 1,
            "commands_total": 1, "reproduction_score": 1, "env_fingerprint": {"platform": "linux", "arch": "x64"}}))
        .unwrap();
        assert!(asked.ticket.is_some());
        assert_eq!(asked.report.env_fingerprint_key.as_deref(), Some("linux_x64"));
    }

    #[test]
    fn the_machine_says_more_than_a_hash() {
        let place = |inner: &Value| {
            let mut told = json!({"target_asset_id": ID, "validation_report": inner});
            told["validation_report"]["overall_ok"] = json!(true);
            read(&told).unwrap().report.env_fingerprint_key
        };
        let (hash, machine) = ("b98472b2ef785976", json!({"platform": "linux", "arch": "x64"}));
        for key in ["env_fingerprint", "environment"] {
            let told = json!({"env_fingerprint_key": hash, key: machine});
            assert_eq!(place(&told).as_deref(), Some("linux_x64"), "{key}");
        }
        let spread = json!({"env_fingerprint": {"platform": "linux"}, "environment": machine});
        assert_eq!(place(&spread).as_deref(), Some("linux_x64"));
        for nothing in [json!({"platform": "linux"}), json!({"platform": "", "arch": "x64"}), json!(7)] {
            let told = json!({"env_fingerprint_key": hash, "env_fingerprint": nothing});
            assert_eq!(place(&told).as_deref(), Some(hash), "{nothing}");
            assert_eq!(place(&json!({"env_fingerprint": nothing})), None);
        }
    }

    #[test]
    fn whatever_is_there_must_fit() {
        let good = json!({"overall_ok": true});
        let mut bad = vec![
            json!({}),
            json!({"target_asset_id": ID}),
            json!({"target_asset_id": ID, "validation_report": []}),
            json!({"target_asset_id": 7, "validation_report": good}),
            json!({"target_asset_id": "../etc/passwd", "validation_report": good}),
            json!({"validation_report": good}),
            json!({"task_id": "t", "overall_ok": true}),
            json!({"task_id": {}, "nonce": "n", "overall_ok": true}),
        ];
        for (key, value) in [
            ("overall_ok", json!("yes")),
            ("overall_ok", Value::Null),
            ("report_id", json!("two\nlines")),
            ("report_id", json!("x".repeat(201))),
            ("env_fingerprint_key", json!("turned\u{202e}round")),
            ("environment", json!([])),
            ("commands", json!("node")),
            ("commands_total", json!(-1)),
            ("commands_passed", json!("1")),
            ("reproduction_score", json!(1.5)),
            ("failure_class", json!(1)),
            ("duration_ms", json!(-1)),
        ] {
            let mut report = good.clone();
            report[key] = value;
            bad.push(json!({"target_asset_id": ID, "validation_report": report}));
        }
        let more = json!({"overall_ok": true, "commands_passed": 2, "commands_total": 1});
        bad.push(json!({"target_asset_id": ID, "validation_report": more}));
        for payload in bad {
            let error = read(&payload).unwrap_err();
            assert_eq!(error.code, HubCode::ValidationError, "{payload}");
        }
        let large = json!({"target_asset_id": ID, "validation_report": {"overall_ok": true,
            "log": "x".repeat(70_000)}});
        assert_eq!(read(&large).unwrap_err().code, HubCode::PayloadTooLarge);
    }

    #[test]
    fn what_could_not_be_run_says_nothing() {
        let lost =
            json!({"ok": false, "stderr_tail": "Error: Cannot find module '/tmp/x/tests/retry.test.js'"});
        let failed = json!({"ok": false, "stderr_tail": "AssertionError: 1 == 2"});
        assert!(is_inconclusive(Some("sandbox_block_node_flag"), &[]));
        assert!(is_inconclusive(Some("exit_nonzero"), std::slice::from_ref(&lost)));
        assert!(!is_inconclusive(Some("exit_nonzero"), &[lost, failed]));
        assert!(!is_inconclusive(Some("timeout"), &[]));
        assert!(!is_inconclusive(None, &[json!({"ok": true})]));
    }
}
