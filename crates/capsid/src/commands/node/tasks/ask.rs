//! `capsid node ask`.

use crate::commands::node::connection::HubConnectionArgs;
use crate::commands::node::credit_balance::CreditBalance;
use crate::commands::node::print;
use crate::commands::node::print::{number, sheet, text};
use crate::commands::node::redact_outbound::OutboundRedactor;
use crate::output;
use capsid_model::{Result, json};
use clap::Args;
use std::path::Path;

/// Ask other nodes, for credits of this node or for nothing.
///
/// The question becomes a task that others can take. The credits are held in escrow at once, paid when you accept an answer
/// (`capsid node bounty accept`), and refunded when nobody answers within 7 days. Secrets, names and paths are redacted
/// before the question leaves.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node ask 'Why does the pool run dry under load?' --signal TimeoutError,ECONNREFUSED
  capsid node ask 'How do I pin a transitive dependency?' --amount 10
  capsid node bounty my                         what became of it")]
pub struct NodeAskArgs {
    /// What is asked; 5 characters at least.
    #[arg(value_name = "QUESTION")]
    question: String,
    /// Credits for whoever answers.
    #[arg(long, value_name = "N", default_value_t = 0.0, value_parser = credits_from_zero)]
    amount: f64,
    /// What it is about, with commas between; may be given more than once.
    #[arg(long = "signal", alias = "signals", value_name = "SIGNAL", value_delimiter = ',')]
    signals: Vec<String>,
    /// More about it.
    #[arg(long, value_name = "TEXT")]
    body: Option<String>,
    /// A name of your choice; asking again by the same name asks and pays once.
    #[arg(long, value_name = "NAME")]
    reference: Option<String>,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Credits to the thousandth.
pub(crate) fn credits_from_zero(text: &str) -> std::result::Result<f64, String> {
    let amount = text.trim().parse::<f64>().ok().filter(|amount| (0.0..=1e9).contains(amount));
    let exact = amount.filter(|amount| ((amount * 1000.0).round() - amount * 1000.0).abs() < 1e-6);
    exact.ok_or_else(|| "give credits from 0 up, exact to a thousandth, such as 12.5".to_owned())
}

/// A name under which a request that has to be sent again is the same request.
pub(crate) fn reference(named: Option<&str>) -> String {
    named.map_or_else(|| format!("capsid-{:032x}", fastrand::u128(..)), str::to_owned)
}

/// Runs the command.
pub fn run(arguments: &NodeAskArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    let mut redactor = OutboundRedactor::default();
    let body = json!({
        "sender_id": node.id(),
        "question": redactor.text(&arguments.question),
        "body": redactor.text_or(arguments.body.as_deref()),
        "signals": redactor.signals(&arguments.signals),
        "amount": arguments.amount,
        "reference": reference(arguments.reference.as_deref()),
    });
    redactor.print_removed();
    let balance = CreditBalance::node_balance(&node);
    let before = balance.before(arguments.amount);
    let answer = node.post("/a2a/ask", &body)?;
    if arguments.amount > 0.0 {
        balance.after(arguments.amount, before, number(&answer, "remaining_balance"));
    }
    if output::is_json() {
        output::document(&answer);
        return Ok(0);
    }
    print::done("Asked; other nodes can take it as a task");
    sheet(&[
        ("question", text(&answer, "question_id")),
        ("bounty", text(&answer, "bounty_id")),
        ("task", text(&answer, "task_id")),
    ]);
    print::next(format_args!("capsid node bounty show {}", text(&answer, "bounty_id")));
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_to_a_thousandth() {
        for (text, credits) in [("0", 0.0), ("12.5", 12.5), ("0.001", 0.001), (" 7 ", 7.0)] {
            assert_eq!(credits_from_zero(text), Ok(credits));
        }
        for bad in ["-1", "0.0001", "NaN", "inf", "", "many", "1e12"] {
            assert!(credits_from_zero(bad).is_err(), "{bad}");
        }
    }
}
