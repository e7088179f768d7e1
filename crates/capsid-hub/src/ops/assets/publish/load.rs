//! Reading the lines of a file that is loaded: bundles and messages as `capsid node export` writes them.

use super::{duplicate_asset_error, revoked};
use crate::config::{HoldWarned, HubConfig};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::{Envelope, check_node_id};
use crate::http::json;
use crate::ops::assets::bundle::{PublishRequest, check_bundle};
use crate::random::Random;
use capsid_model::gate::CommandPolicy;
use capsid_model::time::Time;
use capsid_store::bulk_load::{LoadItem, LoadOptions, LoadOutcome};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// The longest line: as much as a message may have.
pub const LINE_LIMIT: usize = json::BODY_LIMIT;

/// Reads lines by the rules of one hub.
pub struct LoadLineReader {
    policy: CommandPolicy,
    asset_bytes: i64,
    /// Who publishes a bundle that does not say so itself.
    default_node: Option<String>,
    random: Arc<dyn Random>,
    now: Time,
}

/// What tells a message from a bundle, and who sent it.
#[derive(Deserialize)]
struct LineHead<'a> {
    #[serde(borrow)]
    protocol: Option<&'a RawValue>,
    #[serde(borrow)]
    message_type: Option<&'a RawValue>,
    sender_id: Option<String>,
}

impl LoadLineReader {
    pub fn new(
        config: &HubConfig,
        default_node: Option<String>,
        random: Arc<dyn Random>,
        now: Time,
    ) -> ApiResult<Self> {
        if let Some(node) = &default_node {
            check_node_id(node, "node")?;
        }
        let (policy, asset_bytes) = (config.command_policy(), config.quotas.asset_bytes);
        Ok(Self { policy, asset_bytes, default_node, random, now })
    }

    /// The same with more programs that commands may start.
    #[must_use]
    pub fn with_programs(mut self, programs: &[String]) -> Self {
        self.policy.programs.extend(programs.iter().cloned());
        self
    }

    /// The bundle of a line, checked as a publish is; nothing for a message that publishes nothing, such as a hello.
    pub fn read(&self, line: u64, bytes: Vec<u8>) -> ApiResult<Option<LoadItem>> {
        let text = json::check(bytes)?;
        let head: LineHead<'_> = json::read(&text, "")?;
        if head.protocol.is_none() {
            let node_id = head.sender_id.or_else(|| self.default_node.clone()).ok_or_else(node_missing)?;
            check_node_id(&node_id, "sender_id")?;
            return self.check(line, node_id, &json::read(&text, "")?).map(Some);
        }
        if head.message_type.is_some_and(|word| word.get() != "\"publish\"") {
            return Ok(None);
        }
        let envelope = Envelope::read(&text, &["publish"])?;
        self.check(line, envelope.sender_id.clone(), &envelope.payload()?).map(Some)
    }

    fn check(&self, line: u64, node_id: String, request: &PublishRequest<'_>) -> ApiResult<LoadItem> {
        let receipt = format!("rcpt_{}_{}", self.now.0, self.random.hex(6));
        let bundle = check_bundle(request, &self.policy, self.asset_bytes, receipt)?.bundle;
        Ok(LoadItem { line, node_id, bundle })
    }
}

fn node_missing() -> ApiError {
    ApiError::new(
        HubCode::InvalidProtocolMessage,
        "The bundle does not say which node published it.",
        "Add `sender_id` to the line, or name the node with --node.",
    )
}

/// The refusal of a line that is longer than a message may be.
pub fn line_too_long() -> ApiError {
    ApiError::new(
        HubCode::PayloadTooLarge,
        format!("The line is longer than {LINE_LIMIT} bytes."),
        "Put one bundle on each line.",
    )
}

/// How a hub with these settings takes what is loaded. Its operator loads it, so no quota and no rate limit counts.
pub fn load_options(config: &HubConfig) -> LoadOptions {
    LoadOptions {
        node_grant: config.node_grant,
        hold_warned: config.hold_warned == HoldWarned::Level0,
        ..LoadOptions::default()
    }
}

/// Why a bundle was not stored; nothing where it is there.
pub fn refusal(outcome: LoadOutcome) -> Option<ApiError> {
    match outcome {
        LoadOutcome::Stored(_) | LoadOutcome::AlreadyThere => None,
        LoadOutcome::Revoked(id) => Some(revoked(&id)),
        LoadOutcome::OfAnother(status) => Some(duplicate_asset_error(status)),
        LoadOutcome::Banned => Some(ApiError::new(
            HubCode::NodeBanned,
            "The node, or the account that owns it, is banned from this hub.",
            "Lift the ban with `capsid hub admin`, or leave the line out.",
        )),
    }
}
