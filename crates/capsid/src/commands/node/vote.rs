//! `capsid node vote`.

use super::connection::{HubConnectionArgs, TokenArgs};
use super::print::{self, amount, number, sheet, text};
use crate::output;
use capsid_client::node::encoded;
use capsid_model::{Result, json};
use clap::Args;
use std::path::Path;

/// Vote for or against an asset, or take the vote back.
///
/// Every account has one vote. It is cast with the account's token, or without one by a node that the account has claimed.
/// Nobody votes on what a node of their own published.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  CAPSID_TOKEN=... capsid node vote sha256:2f6c... up
  capsid node vote sha256:2f6c... down               in the name of whoever claimed this node
  capsid node vote sha256:2f6c... none               take it back")]
pub struct NodeVoteArgs {
    /// The asset.
    #[arg(value_name = "ASSET")]
    asset: String,
    /// The vote.
    #[arg(value_parser = ["up", "down", "none"])]
    vote: String,
    #[command(flatten)]
    token: TokenArgs,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeVoteArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    let path = format!("/a2a/assets/{}/vote", encoded(&arguments.asset));
    let answer = match arguments.token.get(&node) {
        Some(token) => node.post_as(&path, &json!({"vote": arguments.vote}), Some(&token))?,
        None => node.post(&path, &json!({"vote": arguments.vote, "sender_id": node.id()}))?,
    };
    if output::is_json() {
        output::document(&answer);
        return Ok(0);
    }
    let count = |name: &str| number(&answer, name).map_or_else(|| "?".to_owned(), amount);
    print::done(match arguments.vote.as_str() {
        "none" => "The vote was withdrawn".to_owned(),
        word => format!("Voted {word}"),
    });
    sheet(&[
        ("asset", text(&answer, "asset_id")),
        ("votes", format!("{} for it, {} against", count("upvotes"), count("downvotes"))),
        ("score", number(&answer, "gdi_score").map(amount).unwrap_or_default()),
    ]);
    Ok(0)
}
