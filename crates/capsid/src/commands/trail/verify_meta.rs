//! `capsid trail verify-meta`: whether every finished conversation is still there, whole.

use super::chains::{own_keys, print_refused};
use super::verify::{given_keys, meta_head};
use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_seal::TrailHome;
use capsid_seal::keys::KeySet;
use capsid_seal::meta::{
    CheckedConversation, ConversationStatus, MetaReport, MetaVerifyOptions, PinResult, PinnedHead,
    verify_meta,
};
use clap::Args;

/// Compare every conversation with the meta-chain: intact, grown, truncated, altered, missing or unsealed.
///
/// A chain alone cannot show that its end, or the whole of it, is gone. The meta-chain can, and its one head stands for
/// all conversations: note it somewhere else, and not even the meta-chain can be cut unseen.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail verify-meta --signatures                 who signed, too
  capsid trail verify-meta --quick                      only what came after the last recorded state
  capsid trail verify-meta --pinned 127:91a8057c...     compare with the head you noted elsewhere

Exit status: 0 nothing is lost or changed, 1 something is, 2 cannot be read.")]
pub(super) struct TrailVerifyMetaArgs {
    /// Check signatures too, of every record that is looked at.
    #[arg(long)]
    signatures: bool,
    /// Verify each conversation only from the last recorded record on.
    #[arg(long)]
    quick: bool,
    /// Verify every record of every conversation, as is done anyway.
    #[arg(long, hide = true, conflicts_with = "quick")]
    deep: bool,
    /// Check signatures with this public key alone (64 hex digits); may be given again for a rotated key.
    #[arg(long, value_name = "HEX")]
    pubkey: Vec<String>,
    /// The meta-chain's length and head as they were noted elsewhere.
    #[arg(long, value_name = "LENGTH:HASH", value_parser = meta_head)]
    pinned: Option<PinnedHead>,
}

pub(super) fn run(arguments: &TrailVerifyMetaArgs, home: &TrailHome) -> Result<u8> {
    let named_keys = given_keys(&arguments.pubkey)?;
    let is_given = named_keys.is_some();
    let signatures = arguments.signatures || is_given;
    let keys = match named_keys {
        Some(keys) => keys,
        None if signatures => own_keys(home),
        None => KeySet::default(),
    };
    print_refused(&keys.refused);
    let options = MetaVerifyOptions { signatures, deep: !arguments.quick, pinned: arguments.pinned.clone() };
    if home.root().join("index.json").is_file() && !home.chains().is_dir() {
        let message = format!("`{}` is a bundle, not a home.", home.root().display());
        return Err(Problem::new(Code::ChainUnreadable, message)
            .fix("`capsid trail verify` compares a bundle with the meta-chain in it."));
    }
    let report = verify_meta(home, &keys, &options)?;
    if output::is_json() {
        output::document(&document(&report));
    } else {
        print(&report);
    }
    Ok(u8::from(!report.is_ok()))
}

fn print(report: &MetaReport) {
    let mark = if report.is_ok() { paint(GOOD, "[OK]") } else { paint(BAD, "[BROKEN]") };
    let length = report.chain.as_ref().map_or(0, |chain| chain.length);
    let head = report.head();
    let short = head.as_ref().map_or("genesis", |head| &head.hash[..16]);
    let compared = report.conversations.iter().filter(|one| one.recorded.is_some()).count();
    output::line(format_args!(
        "{mark} meta-chain: {length} records, {compared} conversations checked (head {short})"
    ));
    if let Some(failure) = report.chain.as_ref().and_then(|chain| chain.failure.as_ref()) {
        let at = report.chain.as_ref().and_then(|chain| chain.broken_at).unwrap_or_default();
        output::line(format_args!("  meta-chain broken at seq {at}: {}", inert_line(&failure.message)));
    }
    if report.lost > 0 {
        let lost = report.lost;
        output::line(format_args!(
            "  {} its checkpoint file names {lost} record(s)",
            paint(BAD, "the meta-chain is gone:")
        ));
    } else if report.chain.is_none() {
        output::line(format_args!("  {} there is no meta-chain yet", paint(WARN, "note:")));
    }
    if let Some(pin) = report.pin {
        output::line(format_args!("  pinned head: {}", describe_pin(pin)));
    }
    for conversation in &report.conversations {
        output::line(format_args!("  - {}", describe_conversation(conversation)));
    }
    if let Some(head) = head {
        output::talk(format_args!(
            "{} {}:{}",
            paint(DIM, "head to note elsewhere:"),
            head.length,
            paint(NAME, head.hash)
        ));
    }
}

fn describe_conversation(conversation: &CheckedConversation) -> String {
    let style = match conversation.status {
        ConversationStatus::Intact => GOOD,
        ConversationStatus::Grown | ConversationStatus::Unsealed | ConversationStatus::Unproved => WARN,
        ConversationStatus::Truncated
        | ConversationStatus::Altered
        | ConversationStatus::Missing
        | ConversationStatus::Unreadable => BAD,
    };
    let name = format!("{}/{}", inert_line(&conversation.tool), inert_line(&conversation.session));
    let mut line = format!("{name}: {}", paint(style, conversation.status.as_str()));
    match (&conversation.recorded, &conversation.detail) {
        (_, Some(detail)) => line += &format!(" ({})", inert_line(detail)),
        (Some((count, _)), None) if conversation.present != *count => {
            line += &format!(" ({count} records noted, {} there)", conversation.present);
        }
        _ => line += &format!(" ({} records)", conversation.present),
    }
    line
}

fn describe_pin(pin: PinResult) -> String {
    match pin {
        PinResult::Head => paint(GOOD, "is the head"),
        PinResult::Ancestor => paint(GOOD, "is there, and the chain went on from it"),
        PinResult::Truncated => paint(BAD, "is gone: the meta-chain is shorter than it was"),
        PinResult::Altered => paint(BAD, "is not what stands at its place: the meta-chain was rewritten"),
    }
}

fn document(report: &MetaReport) -> Value {
    let conversations: Vec<Value> = report
        .conversations
        .iter()
        .map(|one| {
            json!({
                "tool": one.tool,
                "session": one.session,
                "status": one.status.as_str(),
                "recorded": one.recorded.as_ref().map(|(count, head)| json!({"capsules": count, "head": head})),
                "found": one.present,
                "detail": one.detail,
            })
        })
        .collect();
    let chain = report.chain.as_ref();
    let failure = chain.and_then(|chain| chain.failure.as_ref()).map(|failure| failure.message.clone());
    let gone = (report.lost > 0)
        .then(|| format!("the meta-chain is gone: its checkpoint file names {} record(s)", report.lost));
    json!({
        "valid": report.is_ok(),
        "verified": chain.map_or(0, |chain| chain.verified),
        "total": chain.map_or(0, |chain| chain.total),
        "broken_at": chain.and_then(|chain| chain.broken_at),
        "error": failure.or(gone),
        "head": report.head().map(|head| json!({"length": head.length, "hash": head.hash})),
        "pinned": report.pin.map(|pin| match pin {
            PinResult::Head => "head",
            PinResult::Ancestor => "ancestor",
            PinResult::Truncated => "truncated",
            PinResult::Altered => "altered",
        }),
        "conversations": conversations,
    })
}
