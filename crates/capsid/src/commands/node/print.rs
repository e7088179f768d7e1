//! How the answers of a hub are shown to people. Whatever a hub says is the text of a stranger: it is cut and cannot act.

use crate::output::{self, BAD, DIM, GOOD, HEAD, NAME, WARN, paint};
use capsid_model::text::{cut, inert, inert_line};
use capsid_model::{Clock, SystemClock, Time, Value};
use std::fmt::Display;

/// The longest line of a stranger that is shown whole.
const LINE: usize = 200;

/// A text of an answer as it came; empty where there is none.
pub(super) fn raw<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A text of an answer on one line, safe to show.
pub(super) fn text(value: &Value, name: &str) -> String {
    line(raw(value, name), LINE)
}

/// A text of a stranger on one line, safe to show.
pub(super) fn line(text: &str, most: usize) -> String {
    let short = cut(text, most);
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", inert_line(short))
}

/// A longer text of a stranger, indented.
pub(super) fn paragraph(text: &str, most: usize) {
    for line in inert(cut(text.trim(), most)).lines() {
        output::line(format_args!("  {line}"));
    }
}

/// A number of an answer.
pub(super) fn number(value: &Value, name: &str) -> Option<f64> {
    value.get(name).and_then(Value::as_f64).filter(|number| number.is_finite())
}

/// A word or a number of an answer, safe to show.
pub(super) fn word(value: &Value, name: &str) -> String {
    number(value, name).map_or_else(|| text(value, name), amount)
}

/// A list of an answer.
pub(super) fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// An amount to the thousandth, without idle zeros.
pub(super) fn amount(credits: f64) -> String {
    let text = format!("{credits:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An amount of an answer in words.
pub(super) fn credits(amount_of: f64) -> String {
    let number = amount(amount_of);
    if number == "1" { "1 credit".to_owned() } else { format!("{number} credits") }
}

/// What an answer says that an account holds, and which part of it was granted and earned where the hub says so.
pub(super) fn balance(value: &Value) -> String {
    let Some(total) = number(value, "credit_balance") else { return String::new() };
    match number(value, "granted_balance").zip(number(value, "earned_balance")) {
        Some((granted, earned)) => {
            format!("{} ({} granted, {} earned)", credits(total), amount(granted), amount(earned))
        }
        None => credits(total),
    }
}

/// A reputation, or a placeholder where the hub sent none.
pub(super) fn reputation(value: Option<f64>) -> String {
    value.map_or_else(
        || "unknown".to_owned(),
        |value| format!("{} of 100", amount((value * 10.0).round() / 10.0)),
    )
}

/// A span of time as people say it.
pub(super) fn span(ms: i64) -> String {
    let seconds = ms.unsigned_abs() / 1000;
    let (count, unit) = match seconds {
        0..90 => (seconds, "second"),
        90..5400 => ((seconds + 30) / 60, "minute"),
        5400..172_800 => ((seconds + 1800) / 3600, "hour"),
        _ => ((seconds + 43_200) / 86_400, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// A moment of an answer: how far away it is, and when that is. Empty where there is none.
pub(super) fn moment(value: &Value, name: &str) -> String {
    Time::parse(raw(value, name)).map_or_else(String::new, |at| when(at, SystemClock.now()))
}

/// How far away a moment is, and when that is.
pub(super) fn when(at: Time, now: Time) -> String {
    format!("{}, {}", away(at, now), utc(at))
}

/// How far away a moment is.
pub(in crate::commands) fn away(at: Time, now: Time) -> String {
    let ms = at.0.saturating_sub(now.0);
    if ms >= 0 { format!("in {}", span(ms)) } else { format!("{} ago", span(ms)) }
}

/// A moment to the minute.
fn utc(at: Time) -> String {
    let iso = at.iso();
    match (iso.get(..10), iso.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => iso,
    }
}

/// Names and values under each other; those without a value are left out.
pub(super) fn sheet(rows: &[(&str, String)]) {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| vec![format!("  {}", paint(DIM, name)), value.clone()])
        .collect();
    output::print(&output::table(&rows));
}

/// A table with a head; a dim line may follow each row.
pub(super) fn table(head: &[&str], rows: Vec<Vec<String>>, below: &[String]) {
    let mut all = vec![head.iter().map(|name| paint(HEAD, name)).collect()];
    all.extend(rows);
    for (at, row) in output::table(&all).lines().enumerate() {
        output::line(row);
        if let Some(more) = at.checked_sub(1).and_then(|at| below.get(at)).filter(|more| !more.is_empty()) {
            output::line(format_args!("  {}", paint(DIM, more)));
        }
    }
}

/// A state in its colour.
pub(super) fn state(word: &str) -> String {
    let style = match word {
        "promoted" | "accepted" | "completed" | "settled" | "applied" | "ok" | "active" | "matched" => GOOD,
        "rejected" | "revoked" | "failing" | "expired" | "cancelled" => BAD,
        "candidate" | "quarantined" | "claimed" | "recorded" | "stale" => WARN,
        _ => NAME,
    };
    paint(style, line(word, 40))
}

/// Something that went well, in one line.
pub(super) fn done(what: impl Display) {
    output::line(format_args!("{} {what}", paint(GOOD, "✓")));
}

/// What to do next.
pub(super) fn next(command: impl Display) {
    output::talk(format_args!("  {} {}", paint(DIM, "next:"), paint(HEAD, command)));
}

/// Something that is worth knowing.
pub(super) fn print_note(what: impl Display) {
    output::talk(format_args!("{} {what}", paint(WARN, "note:")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    #[test]
    fn times_are_told_as_people_say_them() {
        let now = Time::parse("2026-11-15T22:10:00Z").unwrap();
        let text_for = |iso: &str| when(Time::parse(iso).unwrap(), now);
        assert_eq!(text_for("2026-11-16T22:10:00Z"), "in 24 hours, 2026-11-16 22:10 UTC");
        assert_eq!(text_for("2026-11-16T22:09:59.800Z"), "in 24 hours, 2026-11-16 22:09 UTC");
        assert_eq!(text_for("2026-11-15T22:11:00Z"), "in 60 seconds, 2026-11-15 22:11 UTC");
        assert_eq!(text_for("2026-11-15T22:05:00Z"), "5 minutes ago, 2026-11-15 22:05 UTC");
        assert_eq!(text_for("2026-11-22T22:10:00Z"), "in 7 days, 2026-11-22 22:10 UTC");
        assert_eq!(span(1000), "1 second");
        assert_eq!(span(i64::MIN), "106751991167 days");
    }

    #[test]
    fn amounts_are_told_without_idle_zeros() {
        assert_eq!(
            [credits(12.5), credits(1.0), credits(0.0), credits(100.0), credits(0.001)],
            ["12.5 credits", "1 credit", "0 credits", "100 credits", "0.001 credits"]
        );
    }

    #[test]
    fn what_a_stranger_says_cannot_act_and_is_cut() {
        let response = json!({"title": format!("a\u{1b}[2J\nb{}", "x".repeat(500)), "odd": 7});
        let title = text(&response, "title");
        assert!(title.starts_with("a\\u{1b}[2J b") && title.ends_with('…') && title.len() < 220, "{title}");
        assert_eq!((text(&response, "odd"), text(&response, "none")), (String::new(), String::new()));
    }
}
