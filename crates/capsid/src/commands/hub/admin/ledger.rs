//! Money: what there is, who holds it and how it moved; and credits that the operator hands out.

use super::list::{LimitedList, one_more, show};
use super::subject::{AdminSubject, find};
use super::{AdminOutcome, OPERATOR};
use crate::output::{self, BAD, DIM, GOOD, NAME, paint};
use capsid_hub::random::{Random, SystemRandom};
use capsid_model::text::inert_line;
use capsid_model::time::Time;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, Value, json};
use capsid_rules::credits;
use capsid_store::audit::{self, AuditChange};
use capsid_store::db::tx::Tx;
use capsid_store::ledger::statement::{self, CSV_HEAD, CreditSupply, StatementFilter, StatementLine};
use capsid_store::ledger::{self, HUB, MINT, Transfer, TransferOutcome};
use capsid_store::{Store, params};
use clap::Args;

/// Show what there is in credits, who holds most, or every movement of one account.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub admin ledger
  capsid hub admin ledger node_e5f6a7b8c9d0e1f2
  capsid hub admin ledger ann@example.org --format csv > ann.csv
  capsid hub admin ledger hold:bounty:bounty_1767225600000_a1b2c3 --json")]
pub struct LedgerArgs {
    /// A node, an account's e-mail address, `hub`, `mint`, or an account as the ledger names it.
    #[arg(value_name = "ACCOUNT")]
    account: Option<String>,

    /// At most so many, the newest first: 100 where nothing is said, all of them with `--format csv`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: Option<u32>,

    /// Every movement as a table for spreadsheets.
    #[arg(long, value_name = "FORMAT", value_parser = ["csv"], requires = "account", conflicts_with = "json")]
    format: Option<String>,

    /// The old name of `--format csv`.
    #[arg(long, hide = true, requires = "account", conflicts_with = "json")]
    csv: bool,
}

/// Give credits to a node or an account out of the mint.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub admin grant-credits ann@example.org 50 --reason 'for the workshop'
  capsid hub admin grant-credits ann@example.org 50 --reason 'for the workshop' --reference workshop-ann")]
pub struct GrantCreditsArgs {
    /// The node or the account's e-mail address.
    #[arg(value_name = "NODE|EMAIL")]
    who: String,

    /// How many, such as 50 or 0.5.
    amount: f64,

    /// Why, for the audit.
    #[arg(long, value_name = "TEXT")]
    reason: String,

    /// A name for it: granting again by the same name grants nothing.
    #[arg(long, value_name = "TEXT")]
    reference: Option<String>,
}

/// How many movements or accounts are shown where nobody says.
const DEFAULT: u32 = 100;
/// How many movements are read at a time for a spreadsheet.
const PAGE: u32 = 10_000;
/// The longest reference of a grant.
const MAX_LEN: usize = 100;

/// Shows what there is, or the movements of one account.
pub fn ledger(store: &Store, asked: &LedgerArgs, as_json: bool) -> Result<u8> {
    let limit = asked.limit.unwrap_or(DEFAULT);
    let Some(named) = &asked.account else { return overview(store, limit, as_json) };
    let named = named.trim().to_owned();
    if asked.csv || asked.format.is_some() {
        let account = store.read_now(move |tx| account_of(tx, &named))?;
        return csv(store, &account, asked.limit);
    }
    let (account, balance, lines) = store.read_now(move |tx| {
        let account = account_of(tx, &named)?;
        let lines = statement::lines(tx, &StatementFilter::for_account(&account), one_more(limit))?;
        Ok((account.clone(), ledger::balances(tx, &account)?, lines))
    })?;
    let found = LimitedList::from_limited(lines, limit);
    if as_json {
        let entries: Vec<Value> = found.items.iter().map(line_value).collect();
        output::document(&json!({
            "account": account, "balance": credits::to_decimal(balance.total),
            "granted": credits::to_decimal(balance.granted), "earned": credits::to_decimal(balance.earned()),
            "count": entries.len(),
            "has_more": found.has_more, "entries": entries,
        }));
        return Ok(0);
    }
    output::print(&output::table(&found.items.iter().map(line_row).collect::<Vec<_>>()));
    found.hint();
    output::line(format_args!(
        "{} holds {}: {} granted, {} earned",
        paint(NAME, inert_line(&account)),
        credits::text(balance.total),
        credits::text(balance.granted),
        credits::text(balance.earned())
    ));
    Ok(0)
}

/// Writes movements for a spreadsheet, a page at a time, so that an account with a long history needs no more memory.
fn csv(store: &Store, account: &str, limit: Option<u32>) -> Result<u8> {
    output::lines(CSV_HEAD);
    let (mut filter, mut left) = (StatementFilter::for_account(account), limit);
    loop {
        let (page, wanted) = (left.unwrap_or(PAGE).min(PAGE), filter.clone());
        let found = LimitedList::from_limited(
            store.read_now(move |tx| statement::lines(tx, &wanted, one_more(page)))?,
            page,
        );
        output::lines(&statement::csv_rows(&found.items));
        left = left.map(|left| left - page);
        match found.items.last() {
            Some(last) if found.has_more && left != Some(0) => filter.before = last.seq,
            _ => {
                found.hint();
                return Ok(0);
            }
        }
    }
}

/// The account that a text names.
fn account_of(tx: &mut dyn Tx, named: &str) -> Result<String> {
    // These two are there before anything moved.
    if [HUB, MINT].contains(&named) {
        return Ok(named.to_owned());
    }
    if tx.exists("SELECT 1 FROM accounts WHERE account = $1", params![named])? {
        return Ok(named.to_owned());
    }
    Ok(match find(tx, named)? {
        AdminSubject::User(user) => ledger::user_account(&user.user_id),
        AdminSubject::Node(node) => ledger::node_account(&node.node_id),
    })
}

fn overview(store: &Store, limit: u32, as_json: bool) -> Result<u8> {
    let (supply, largest) =
        store.read_now(move |tx| Ok((statement::supply(tx)?, statement::largest(tx, one_more(limit))?)))?;
    let largest = LimitedList::from_limited(largest, limit);
    let holder = |(account, balance): &(String, i64)| json!({"account": account, "balance": credits::to_decimal(*balance)});
    if as_json {
        let mut told = supply_value(&supply);
        told["accounts"] = largest.items.iter().map(holder).collect();
        told["has_more"] = largest.has_more.into();
        output::document(&told);
        return Ok(if supply.sum == 0 { 0 } else { 1 });
    }
    let rows = [
        ("made by the mint", supply.minted),
        ("nodes and accounts hold", supply.circulating),
        ("put aside for bounties", supply.escrow),
        ("put aside by validators", supply.staked),
        ("rewards that are paid later", supply.held_rewards),
        ("the hub holds", supply.hub),
    ];
    let rows: Vec<Vec<String>> =
        rows.iter().map(|(what, amount)| vec![(*what).to_owned(), credits::text(*amount)]).collect();
    output::print(&output::table(&rows));
    let verdict = match supply.sum {
        0 => paint(GOOD, "It adds up to zero."),
        sum => {
            paint(BAD, format!("It does not add up: {} too much. Run `capsid hub fsck`.", credits::text(sum)))
        }
    };
    output::line(format_args!("{} transfers. {verdict}", supply.transfers));
    let held =
        |(account, balance): &(String, i64)| vec![paint(NAME, inert_line(account)), credits::text(*balance)];
    show("accounts", &largest, false, holder, held);
    Ok(if supply.sum == 0 { 0 } else { 1 })
}

fn supply_value(supply: &CreditSupply) -> Value {
    json!({
        "minted": credits::to_decimal(supply.minted), "circulating": credits::to_decimal(supply.circulating),
        "escrow": credits::to_decimal(supply.escrow), "staked": credits::to_decimal(supply.staked),
        "held_rewards": credits::to_decimal(supply.held_rewards), "granted": credits::to_decimal(supply.granted),
        "hub": credits::to_decimal(supply.hub), "sum": credits::to_decimal(supply.sum), "transfers": supply.transfers,
    })
}

fn line_row(line: &StatementLine) -> Vec<String> {
    let style = if line.delta < 0 { BAD } else { GOOD };
    let sign = if line.delta < 0 { "" } else { "+" };
    vec![
        paint(DIM, Time(line.at).iso()),
        paint(style, format!("{sign}{}", credits::text(line.delta))),
        credits::text(line.balance_after),
        inert_line(&line.kind),
        inert_line(&line.counterparty),
        paint(DIM, inert_line(&line.reference)),
    ]
}

fn line_value(line: &StatementLine) -> Value {
    json!({
        "at": Time(line.at).iso(), "kind": line.kind, "reference": line.reference,
        "delta": credits::to_decimal(line.delta), "balance_after": credits::to_decimal(line.balance_after),
        "granted": credits::to_decimal(line.granted), "granted_after": line.granted_after.map(credits::to_decimal),
        "counterparty": line.counterparty,
    })
}

/// Hands out credits.
pub fn grant(store: &Store, asked: &GrantCreditsArgs) -> Result<AdminOutcome> {
    let amount = credits::from_shown(asked.amount).filter(|amount| *amount > 0).ok_or_else(|| {
        Problem::new(Code::InputInvalid, "Credits are more than zero and exact to a thousandth.")
            .fix("Give an amount such as 50 or 0.5.")
    })?;
    let name = reference(asked.reference.as_deref())?;
    let reference = format!("grant:operator:{name}");
    let (who, reason, now) = (asked.who.trim().to_owned(), asked.reason.clone(), SystemClock.now());
    let (account, balance, moved) = store.write_now(move |tx| {
        let (kind, subject, account) = match find(tx, &who)? {
            AdminSubject::User(user) => ("user", user.user_id.clone(), ledger::user_account(&user.user_id)),
            AdminSubject::Node(node) => ("node", node.node_id.clone(), ledger::node_account(&node.node_id)),
        };
        let gift = Transfer { reference: &reference, kind: "grant", from: MINT, to: &account, amount };
        if ledger::find(tx, &reference)?.is_some_and(|kept| !kept.is(&gift)) {
            return Err(reference_used());
        }
        let moved = ledger::transfer(tx, gift, now)?;
        if moved == TransferOutcome::Done {
            let after = credits::text(amount);
            let change = AuditChange {
                kind,
                subject: &subject,
                action: "grant_credits",
                before: None,
                after: Some(&after),
                reason: Some(&reason),
            };
            audit::add(tx, OPERATOR, change, now)?;
        }
        let balance = ledger::balance(tx, &account)?;
        Ok((account, balance, moved))
    })?;
    let (who, granted) = (asked.who.trim(), if moved == TransferOutcome::Done { amount } else { 0 });
    let line = match moved {
        TransferOutcome::Done => format!(
            "{who} got {} and holds {}. The reference is {name}.",
            credits::text(amount),
            credits::text(balance)
        ),
        _ => format!(
            "Nothing was granted: {who} got {} under the reference {name} before, and holds {}.",
            credits::text(amount),
            credits::text(balance)
        ),
    };
    Ok(AdminOutcome {
        line,
        value: json!({
            "ok": true, "account": account, "granted": credits::to_decimal(granted), "reference": name,
            "already_granted": moved != TransferOutcome::Done, "balance": credits::to_decimal(balance),
        }),
    })
}

fn reference_used() -> Problem {
    let what = "The reference was used before for another amount or for somebody else.";
    Problem::new(Code::ChangeRefused, what)
        .fix("Use another reference; the same one is for trying the same grant again.")
}

/// The name of a grant: what the operator says, or a new one.
fn reference(said: Option<&str>) -> Result<String> {
    let Some(said) = said.map(str::trim) else {
        let random: &dyn Random = &SystemRandom;
        return Ok(random.hex(8));
    };
    if said.is_empty() || said.len() > MAX_LEN || inert_line(said) != said {
        return Err(Problem::new(
            Code::InputInvalid,
            format!("A reference has 1 to {MAX_LEN} characters in one line."),
        )
        .fix("Give a short name such as workshop-ann."));
    }
    Ok(said.to_owned())
}
