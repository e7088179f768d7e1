//! Every name of an attribute. The conventions for generative AI are in development, so a new version of them changes
//! this table and nothing else.

/// The version of the semantic conventions that the names are from.
pub const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.0";

pub(super) const SERVICE_NAME: &str = "service.name";
pub(super) const ERROR_TYPE: &str = "error.type";

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const CONVERSATION: &str = "gen_ai.conversation.id";
pub(super) const AGENT: &str = "gen_ai.agent.name";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const MODEL: &str = "gen_ai.request.model";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const TOOL: &str = "gen_ai.tool.name";
pub(super) const CALL_ID: &str = "gen_ai.tool.call.id";
pub(super) const CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(super) const CALL_RESULT: &str = "gen_ai.tool.call.result";
pub(super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";

pub(super) const RECORD_HASH: &str = "capsid.record.hash";
pub(super) const SIGNED_BY: &str = "capsid.record.signed_by";
pub(super) const SEQUENCE: &str = "capsid.chain.sequence";
pub(super) const HEAD: &str = "capsid.chain.head";
pub(super) const SIGNER_TRUST: &str = "capsid.signer.trust";
pub(super) const LEVEL: &str = "capsid.verdict.level";
pub(super) const OUTCOME: &str = "capsid.outcome.status";

/// How the providers are called, by what the names of their models contain.
const PROVIDERS: [(&str, &str); 10] = [
    ("claude", "anthropic"),
    ("gpt-", "openai"),
    ("o1-", "openai"),
    ("o3-", "openai"),
    ("o4-", "openai"),
    ("codex", "openai"),
    ("gemini", "gcp.gemini"),
    ("grok", "x_ai"),
    ("deepseek", "deepseek"),
    ("mistral", "mistral_ai"),
];

/// The provider of a model, where its name tells.
pub(super) fn provider_of(model: &str) -> Option<&'static str> {
    let model = model.to_ascii_lowercase();
    let name = model.rsplit('/').next().unwrap_or(&model);
    PROVIDERS.iter().find(|(part, _)| name.starts_with(part)).map(|(_, provider)| *provider)
}
