//! What a hello returns.

use crate::ops::nodes::view::CapabilityProfile;
use crate::ops::tasks::view::TaskView;
use capsid_rules::identity::display_name::NameStatus;
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;

/// The answer to a hello.
#[derive(Debug, Serialize, ToSchema)]
pub struct HelloResponse {
    /// acknowledged.
    pub(super) status: &'static str,
    #[serde(flatten)]
    #[schema(value_type = HelloWelcome)]
    pub(super) welcome: HelloWelcome,
}

/// What a node that says hello learns.
#[derive(Debug, Serialize, ToSchema)]
pub struct HelloWelcome {
    pub(super) your_node_id: String,
    /// Whether the hub chose the id, because the hello had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool, required = false)]
    pub(super) node_id_assigned_by_hub: Option<bool>,
    pub(super) hub_node_id: String,
    pub(super) node_secret_version: i64,
    /// Whether an account owns the node.
    pub(super) claimed: bool,
    /// What the node holds, for whoever may have its secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = f64, required = false)]
    pub(super) credit_balance: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = f64, required = false)]
    pub(super) granted_balance: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = f64, required = false)]
    pub(super) earned_balance: Option<Number>,
    pub(super) survival_status: &'static str,
    pub(super) referral_code: String,
    pub(super) heartbeat_interval_ms: i64,
    pub(super) heartbeat_endpoint: &'static str,
    pub(super) network_manifest: NetworkManifest,
    pub(super) capability_profile: CapabilityProfile,
    /// Tasks that the node could take now.
    pub(super) recommended_tasks: Vec<TaskView>,
    /// The node's secret, for the network that said hello first, until somebody has shown it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub(super) node_secret: Option<String>,
    /// not_set or active, where the secret is not returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub(super) node_secret_status: Option<&'static str>,
    /// Where a person makes the node theirs. It is returned with the secret, or to whoever shows that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub(super) claim_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub(super) claim_code: Option<String>,
    /// What became of the name, if the hello had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = NameStatus, required = false)]
    pub(super) name_status: Option<NameStatus>,
    /// What calls to the node's webhook are signed with, if its address is a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub(super) webhook_secret: Option<String>,
    /// registered, removed, or rejected and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub(super) webhook_status: Option<String>,
}

/// The hub, as a node remembers it.
#[derive(Debug, Serialize, ToSchema)]
pub struct NetworkManifest {
    pub(super) name: &'static str,
    pub(super) connect: String,
}

/// A hello that is refused another secret, in the form that clients read.
#[derive(Debug, Serialize)]
pub(super) struct RejectedHello {
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
}
