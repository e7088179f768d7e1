//! What the commands that list records have in common.

use super::record_id;
use crate::output;
use capsid_engine::view::stats::OutcomeTally;
use capsid_model::text::inert_line;
use capsid_model::{Code, Object, Problem, Result, Time, Value, json};
use clap::Args;
use clap_complete::ArgValueCandidates;

/// What a gene or a cycle can be for.
pub(crate) const INTENTS: [&str; 4] = ["repair", "optimize", "innovate", "explore"];

/// Which record to show.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Its id. Of a capsule or an event the first 8 digits are enough, and `last` is the newest.
    #[arg(add = ArgValueCandidates::new(record_id::list_candidates))]
    pub id: String,
}

impl ShowArgs {
    /// Prints the record as it is stored: indented for people, on one line for programs.
    pub fn print(&self, record: Option<Object>, kind: &str, lister: &str) -> Result<u8> {
        let record: Value = record.ok_or_else(|| not_found(&self.id, kind, lister))?.into();
        if output::is_json() {
            output::document(&record);
        } else {
            output::line(output::inert_json(&serde_json::to_string_pretty(&record).unwrap_or_default()));
        }
        Ok(0)
    }
}

/// The problem of an id that no record of its kind has; `lister` is the command that lists those there are.
pub(crate) fn not_found(id: &str, kind: &str, lister: &str) -> Problem {
    Problem::new(Code::NotFound, format!("No {kind} is named `{}`.", inert_line(id)))
        .fix(format!("`{lister}` lists them all."))
}

/// A span of time.
#[derive(Debug, Args, Clone, Copy)]
pub(crate) struct TimeSpanArgs {
    /// Only from this time on, such as 2026-02-07 or 2026-02-07T15:20:54Z.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub since: Option<Time>,
    /// Only up to this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub until: Option<Time>,
}

impl TimeSpanArgs {
    /// Whether it contains a moment. What has no time is outside of every span.
    pub fn holds(self, at: Option<Time>) -> bool {
        self.since.is_none_or(|since| at.is_some_and(|at| at >= since))
            && self.until.is_none_or(|until| at.is_some_and(|at| at <= until))
    }
}

/// A time, or a date that stands for its first moment.
pub(crate) fn time(text: &str) -> std::result::Result<Time, &'static str> {
    Time::parse(text)
        .or_else(|| Time::parse(&format!("{text}T00:00:00Z")))
        .ok_or("write it as 2026-02-07 or 2026-02-07T15:20:54Z")
}

/// How often, how well and how widely something was used: the cells of a table.
pub(crate) fn tally_cells(tally: &OutcomeTally) -> [String; 4] {
    [
        tally.cycles.to_string(),
        format!("{:.0} %", tally.success_rate() * 100.0),
        format!("{:.1}", tally.mean_files()),
        format!("{:.1}", tally.mean_lines()),
    ]
}

/// The names of those cells.
pub(crate) const TALLY_HEAD: [&str; 4] = ["cycles", "success", "mean files", "mean lines"];

/// The same and more, for programs.
pub(crate) fn tally_json(tally: &OutcomeTally) -> Value {
    json!({
        "cycles": tally.cycles,
        "successes": tally.successes,
        "success_rate": tally.success_rate(),
        "mean_files": tally.mean_files(),
        "mean_lines": tally.mean_lines(),
        "streak": tally.streak,
        "last_used": tally.last_used.map(Time::iso),
    })
}
