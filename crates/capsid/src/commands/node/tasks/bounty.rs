//! `capsid node bounty`: credits for whoever solves a task.

use super::ask::{credits_from_zero, reference};
use crate::commands::node::connection::{HubConnectionArgs, TokenArgs};
use crate::commands::node::credit_balance::CreditBalance;
use crate::commands::node::print;
use crate::commands::node::print::{amount, away, credits, list, moment, number, raw, sheet, text};
use crate::commands::node::redact_outbound::OutboundRedactor;
use crate::output::{self, DIM, HEAD, NAME, paint};
use capsid_client::NodeClient;
use capsid_client::node::encoded;
use capsid_model::{Clock, Result, SystemClock, Time, Value, json};
use clap::{Args, Subcommand};
use std::path::Path;

/// Offer credits for a solution, look at what is offered, and decide on what was handed in.
///
/// An account offers bounties; a node asks with `capsid node ask`. Whoever offered one decides: the account with its token
/// ($CAPSID_TOKEN, a session token or an API key), a node that asked without one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node bounty list --status open                  what is offered
  CAPSID_TOKEN=... capsid node bounty create 'Requests time out under load' --amount 12.5 --signal TimeoutError
  capsid node bounty show bounty_1a2b                    one of them, with what was handed in
  CAPSID_TOKEN=... capsid node bounty accept bounty_1a2b take what was handed in, and pay")]
pub struct NodeBountyArgs {
    #[command(subcommand)]
    action: NodeBountyCommand,
}

/// What every action takes.
#[derive(Debug, Args)]
struct BountyCommonArgs {
    #[command(flatten)]
    token: TokenArgs,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

#[derive(Debug, Subcommand)]
enum NodeBountyCommand {
    /// Offer a bounty: the account's credits are held in escrow until it is paid or refunded.
    #[command(after_help = "\
Examples:
  CAPSID_TOKEN=... capsid node bounty create 'Requests time out' --amount 12.5 --signal TimeoutError
  CAPSID_TOKEN=... capsid node bounty create 'Crash at start' --body 'Only on ARM' --days 3 --reference crash-1")]
    Create(CreateBountyArgs),
    /// List bounties, the newest first.
    #[command(after_help = "\
Examples:
  capsid node bounty list --status open
  capsid node bounty list --limit 100 --json | jq -r '.bounties[].bounty_id'")]
    List(ListBountiesArgs),
    /// List your own: those of the account with a token, those of this node without.
    #[command(after_help = "\
Examples:
  capsid node bounty my                                 what this node asked for
  CAPSID_TOKEN=... capsid node bounty my --status matched what waits for the account's word")]
    My(ListBountiesArgs),
    /// Show one bounty, what was handed in for it, and what became of the credits.
    #[command(after_help = "\
Examples:
  capsid node bounty show bounty_1a2b
  capsid node bounty show bounty_1a2b --json | jq .status")]
    Show {
        /// The bounty.
        bounty: String,
        #[command(flatten)]
        common: BountyCommonArgs,
    },
    /// Name what solves a bounty, as an admin; its creator still decides.
    #[command(after_help = "\
Examples:
  CAPSID_TOKEN=... capsid node bounty match bounty_1a2b sha256:2f6c...")]
    Match {
        /// The bounty.
        bounty: String,
        /// The asset that solves it.
        asset: String,
        #[command(flatten)]
        common: BountyCommonArgs,
    },
    /// Take what was handed in, and pay for it. Doing it again changes nothing.
    #[command(after_help = "\
Examples:
  CAPSID_TOKEN=... capsid node bounty accept bounty_1a2b
  capsid node bounty accept bounty_1a2b --reason 'It works'   as the node that asked")]
    Accept(DecideBountyArgs),
    /// Send back what was handed in: others may try until the bounty expires.
    #[command(after_help = "\
Examples:
  CAPSID_TOKEN=... capsid node bounty reject bounty_1a2b --reason 'It breaks on Windows'")]
    Reject(DecideBountyArgs),
    /// Take a bounty back that nobody works on; the credits come back.
    #[command(after_help = "\
Examples:
  CAPSID_TOKEN=... capsid node bounty cancel bounty_1a2b --reason 'Solved it myself'")]
    Cancel(DecideBountyArgs),
}

#[derive(Debug, Args)]
struct CreateBountyArgs {
    /// What it is called; 5 to 300 characters.
    title: String,
    /// Credits for whoever solves it.
    #[arg(long, value_name = "N", default_value_t = 0.0, value_parser = credits_from_zero)]
    amount: f64,
    /// What is to be done.
    #[arg(long, value_name = "TEXT")]
    body: Option<String>,
    /// What it is about, with commas between; may be given more than once.
    #[arg(long = "signal", alias = "signals", value_name = "SIGNAL", value_delimiter = ',')]
    signals: Vec<String>,
    /// The reputation that it takes: 0 to 100.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=100))]
    min_reputation: Option<u8>,
    /// For how many days it may be done (default: 7).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=90))]
    days: Option<i64>,
    /// A name of your choice; offering again by the same name offers and pays once.
    #[arg(long, value_name = "NAME")]
    reference: Option<String>,
    #[command(flatten)]
    common: BountyCommonArgs,
}

#[derive(Debug, Args)]
struct ListBountiesArgs {
    /// Only those that stand so.
    #[arg(long, value_parser = ["open", "claimed", "matched", "accepted", "expired", "cancelled"])]
    status: Option<String>,
    /// How many at most: 1 to 100.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=100))]
    limit: u16,
    #[command(flatten)]
    common: BountyCommonArgs,
}

#[derive(Debug, Args)]
struct DecideBountyArgs {
    /// The bounty.
    bounty: String,
    /// Why; it is kept.
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    common: BountyCommonArgs,
}

impl NodeBountyArgs {
    fn common(&self) -> &BountyCommonArgs {
        match &self.action {
            NodeBountyCommand::Create(offer) => &offer.common,
            NodeBountyCommand::List(listing) | NodeBountyCommand::My(listing) => &listing.common,
            NodeBountyCommand::Show { common, .. } | NodeBountyCommand::Match { common, .. } => common,
            NodeBountyCommand::Accept(decision)
            | NodeBountyCommand::Reject(decision)
            | NodeBountyCommand::Cancel(decision) => &decision.common,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &NodeBountyArgs, folder: &Path) -> Result<u8> {
    let common = arguments.common();
    let node = common.hub.node(folder)?;
    // A missing token is reported before anything is sent.
    let token = match &arguments.action {
        NodeBountyCommand::Create(_) => Some(common.token.required(&node, "Offering a bounty")?),
        NodeBountyCommand::Match { .. } => Some(common.token.required(&node, "Matching a bounty")?),
        _ => common.token.get(&node),
    };
    let token = token.as_deref();
    let (answer, print): (Value, fn(&Value)) = match &arguments.action {
        NodeBountyCommand::Create(offer) => (create(offer, &node, token.unwrap_or_default())?, print_offered),
        NodeBountyCommand::List(listing) => (listed(listing, &node, "/bounty/list", None)?, print_list),
        NodeBountyCommand::My(listing) => (listed(listing, &node, "/bounty/my", Some(token))?, print_list),
        NodeBountyCommand::Show { bounty, .. } => (node.get_as(&path(bounty, ""), &[], token)?, print_one),
        NodeBountyCommand::Match { bounty, asset, .. } => {
            (node.post_as(&path(bounty, "/match"), &json!({"asset_id": asset}), token)?, print_one)
        }
        NodeBountyCommand::Accept(decision) => (decide(decision, "accept", &node, token)?, print_one),
        NodeBountyCommand::Reject(decision) => (decide(decision, "reject", &node, token)?, print_one),
        NodeBountyCommand::Cancel(decision) => (decide(decision, "cancel", &node, token)?, print_one),
    };
    if output::is_json() {
        output::document(&answer);
    } else {
        print(&answer);
    }
    Ok(0)
}

fn path(bounty: &str, action: &str) -> String {
    format!("/bounty/{}{action}", encoded(bounty))
}

fn create(offer: &CreateBountyArgs, node: &NodeClient, token: &str) -> Result<Value> {
    let mut redactor = OutboundRedactor::default();
    let mut body = json!({
        "title": redactor.text(&offer.title),
        "signals": redactor.signals(&offer.signals),
        "amount": offer.amount,
        "reference": reference(offer.reference.as_deref()),
    });
    if let Some(text) = redactor.text_or(offer.body.as_deref()) {
        body["body"] = text.into();
    }
    if let Some(least) = offer.min_reputation {
        body["min_reputation"] = least.into();
    }
    if let Some(days) = offer.days {
        // A minute less: the clocks of two machines differ, and 90 days is the most.
        body["expires_at"] = Time(SystemClock.now().0 + days * 86_400_000 - 60_000).iso().into();
    }
    redactor.print_removed();
    let balance = CreditBalance::account_balance(node, token);
    let before = balance.before(offer.amount);
    let answer = node.post_as("/bounty/create", &body, Some(token))?;
    if offer.amount > 0.0 {
        balance.after(offer.amount, before, number(&answer, "remaining_balance"));
    }
    Ok(answer)
}

/// `own` says whose are wanted: an account's by its token, the node's without one.
fn listed(
    listing: &ListBountiesArgs,
    node: &NodeClient,
    path: &str,
    own: Option<Option<&str>>,
) -> Result<Value> {
    let limit = listing.limit.to_string();
    let mut query = vec![("limit", limit.as_str())];
    query.extend(listing.status.as_deref().map(|status| ("status", status)));
    if own == Some(None) {
        query.push(("node_id", node.id()));
    }
    node.get_as(path, &query, own.flatten())
}

fn decide(decision: &DecideBountyArgs, word: &str, node: &NodeClient, token: Option<&str>) -> Result<Value> {
    let mut redactor = OutboundRedactor::default();
    let mut body = json!({});
    if let Some(reason) = redactor.text_or(decision.reason.as_deref()) {
        body["reason"] = reason.into();
    }
    if token.is_none() {
        body["sender_id"] = node.id().into();
    }
    redactor.print_removed();
    node.post_as(&path(&decision.bounty, &format!("/{word}")), &body, token)
}

fn print_offered(answer: &Value) {
    print::done(format_args!("Offered: {}", text(answer, "title")));
    sheet(&[
        ("bounty", text(answer, "bounty_id")),
        ("task", text(answer, "task_id")),
        ("pays", number(answer, "amount").map(credits).unwrap_or_default()),
        ("ends", moment(answer, "expires_at")),
    ]);
    print::next(format_args!("capsid node bounty show {}", text(answer, "bounty_id")));
}

fn print_list(answer: &Value) {
    let bounties = list(answer, "bounties");
    if bounties.is_empty() {
        output::talk("There are none.");
        return;
    }
    let now = SystemClock.now();
    let rows = bounties.iter().map(|bounty| {
        let end = if raw(bounty, "status") == "matched" { "decide_by" } else { "expires_at" };
        let over = !raw(bounty, "settled_at").is_empty();
        let end = Time::parse(raw(bounty, end))
            .filter(|_| !over)
            .map_or_else(|| "-".to_owned(), |at| away(at, now));
        vec![
            text(bounty, "bounty_id"),
            number(bounty, "amount").map(amount).unwrap_or_default(),
            print::state(raw(bounty, "status")),
            number(bounty, "min_reputation").map(amount).unwrap_or_default(),
            end,
            print::line(raw(bounty, "title"), 80),
        ]
    });
    print::table(&["bounty", "credits", "state", "reputation", "ends", "title"], rows.collect(), &[]);
}

fn print_one(answer: &Value) {
    let status = raw(answer, "status");
    output::line(format_args!("{}  {}", paint(HEAD, text(answer, "title")), print::state(status)));
    let by = match raw(answer, "creator_node_id") {
        "" => "an account".to_owned(),
        node => print::line(node, 128),
    };
    let handed = match raw(answer, "matched_asset_id") {
        "" => String::new(),
        asset => format!("{} by {}", print::line(asset, 100), paint(NAME, text(answer, "matched_node_id"))),
    };
    sheet(&[
        ("bounty", text(answer, "bounty_id")),
        ("task", format!("{} {}", text(answer, "task_id"), paint(DIM, text(answer, "task_status")))),
        ("pays", number(answer, "amount").map(credits).unwrap_or_default()),
        ("offered by", by),
        ("signals", text(answer, "signals")),
        (
            "takes",
            number(answer, "min_reputation")
                .filter(|it| *it > 0.0)
                .map(|it| format!("reputation {}", amount(it)))
                .unwrap_or_default(),
        ),
        ("handed in", handed),
        ("decide by", if status == "matched" { moment(answer, "decide_by") } else { String::new() }),
        (
            "ends",
            if raw(answer, "settled_at").is_empty() { moment(answer, "expires_at") } else { String::new() },
        ),
        ("outcome", text(answer, "outcome")),
        ("paid", payouts(answer)),
        ("refunded", number(answer, "refunded").filter(|it| *it > 0.0).map(credits).unwrap_or_default()),
    ]);
    if !raw(answer, "body").is_empty() {
        output::line("");
        print::paragraph(raw(answer, "body"), 4000);
    }
    if status == "matched" {
        print::next(format_args!("capsid node bounty accept {}", text(answer, "bounty_id")));
    }
}

fn payouts(answer: &Value) -> String {
    let each = list(answer, "payouts").iter().map(|payout| {
        let role = text(payout, "role");
        let role = if role.is_empty() { String::new() } else { format!(" ({role})") };
        format!(
            "{} to {}{role}",
            credits(number(payout, "credits").unwrap_or_default()),
            text(payout, "node_id")
        )
    });
    each.collect::<Vec<_>>().join(", ")
}
