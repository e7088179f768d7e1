//! `evolution_narrative.md`: one short entry a cycle, the newest last, for people and prompts. Pure.

use super::records::FinishedCycle;
use capsid_model::text::{cut, inert_line};

const MAX_ENTRIES: usize = 30;
const MAX_UNITS: usize = 12_000;
const HEAD: &str = "# Evolution Narrative\n";

/// The entry of a finished cycle.
pub fn entry(cycle: &FinishedCycle<'_>, event_id: &str) -> String {
    let signals: Vec<String> =
        cycle.run.signals.iter().take(4).map(|s| cut(&inert_line(s), 80).to_owned()).collect();
    let mut text = format!(
        "### [{}] {} - {}\n- Event: {event_id} | Gene: {} | Scope: {} files, {} lines\n- Signals: {}\n",
        cycle.now.iso(),
        cycle.intent.to_uppercase(),
        if cycle.verdict.ok { "success" } else { "failed" },
        cycle.gene_id,
        cycle.blast.files,
        cycle.blast.lines,
        signals.join(", "),
    );
    if !cycle.verdict.ok {
        text.push_str(&format!("- Reason: {}\n", cut(&inert_line(&cycle.verdict.reason()), 300)));
    }
    text
}

/// The narrative with an entry added, unless it is there, and the oldest entries dropped beyond the limits.
pub fn with_entry(narrative: &str, entry: &str) -> String {
    let mut entries: Vec<&str> = split(narrative);
    if !entries.iter().any(|old| old.trim() == entry.trim()) {
        entries.push(entry);
    }
    let mut first = entries.len().saturating_sub(MAX_ENTRIES);
    let units = |from: usize| entries[from..].iter().map(|e| e.encode_utf16().count()).sum::<usize>();
    while first + 1 < entries.len() && units(first) > MAX_UNITS {
        first += 1;
    }
    let mut out = HEAD.to_owned();
    for entry in &entries[first..] {
        out.push('\n');
        out.push_str(entry.trim());
        out.push('\n');
    }
    out
}

/// The last `count` entries.
pub fn last(narrative: &str, count: usize) -> String {
    let entries = split(narrative);
    entries[entries.len().saturating_sub(count)..].iter().map(|e| e.trim()).collect::<Vec<_>>().join("\n\n")
}

/// Its entries, oldest first.
pub(crate) fn entries(narrative: &str) -> Vec<&str> {
    split(narrative)
}

fn split(narrative: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = narrative.match_indices("### ").map(|(at, _)| at).collect();
    starts.retain(|at| *at == 0 || narrative.as_bytes()[at - 1] == b'\n');
    let ends = starts.iter().skip(1).copied().chain([narrative.len()]).collect::<Vec<_>>();
    starts.into_iter().zip(ends).map(|(start, end)| &narrative[start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_added_once_and_bounded() {
        let mut text = String::new();
        for n in 0..40 {
            text = with_entry(&text, &format!("### [{n}] REPAIR\n- x\n"));
        }
        let again = with_entry(&text, "### [39] REPAIR\n- x\n");
        assert_eq!(again, text);
        assert_eq!(split(&text).len(), MAX_ENTRIES);
        assert!(last(&text, 1).starts_with("### [39]"));
    }
}
