//! How an event came to be, and how to come back to the state it left.

use crate::store::events::object;
use crate::store::{events::EventLog, lines};
use capsid_model::event::EvolutionEvent;
use capsid_model::{Object, Result, Value};
use std::path::{Path, PathBuf};

/// One event of a lineage, with the state of the repository that it records.
#[derive(Debug, Clone, PartialEq)]
pub struct LineageStep {
    pub event: EvolutionEvent,
    /// The commit it began from.
    pub head: Option<String>,
    /// The hash of its patch; nothing when it changed nothing.
    pub patch: Option<String>,
    /// The tree of the files before it; nothing in older events.
    pub tree_before: Option<String>,
    pub tree_after: Option<String>,
}

/// An event and everything before it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lineage {
    /// From the root to the requested event.
    pub steps: Vec<LineageStep>,
    /// The parent of the first step, when the log does not hold it.
    pub missing_parent: Option<String>,
}

/// The lineage of an event; nothing when the log does not hold it. One pass from the end, since parents come first.
pub fn lineage(log: &EventLog, id: &str) -> Result<Option<Lineage>> {
    let mut reader = lines::ReverseLines::open(log.path())?;
    let mut wanted = Some(id.to_owned());
    let mut steps = Vec::new();
    while let Some(id) = &wanted
        && let Some(line) = reader.next_line()?
    {
        // Most lines are other events, which the bytes of the id show without parsing the line.
        if memchr::memmem::find(&line, id.as_bytes()).is_none() {
            continue;
        }
        let parsed = object(&line).and_then(|document| step(&document));
        if let Some(step) = parsed.filter(|step| step.event.id == *id) {
            wanted.clone_from(&step.event.parent);
            steps.push(step);
        }
    }
    steps.reverse();
    Ok((!steps.is_empty()).then_some(Lineage { steps, missing_parent: wanted }))
}

fn step(document: &Object) -> Option<LineageStep> {
    let git = document.get("meta").and_then(|meta| meta.get("git"));
    let hash = |name: &str| {
        git.and_then(|git| git.get(name))
            .and_then(Value::as_str)
            .filter(|text| is_hash(text))
            .map(str::to_owned)
    };
    Some(LineageStep {
        event: EvolutionEvent::read(document)?,
        head: hash("head"),
        patch: hash("patch_sha256"),
        tree_before: hash("tree_before"),
        tree_after: hash("tree_after"),
    })
}

/// Only a hash may become part of a command that is shown: an imported event can say anything.
fn is_hash(text: &str) -> bool {
    (40..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Lineage {
    /// The patches on top of the commit, oldest first.
    pub fn patches(&self) -> Vec<&str> {
        self.visible_steps().0.iter().rev().filter_map(|step| step.patch.as_deref()).collect()
    }

    /// Whether the files held edits that are neither in the commit nor in a patch, so that they cannot be restored.
    pub fn unrecorded_edits(&self) -> bool {
        let first = self.since_head_moved().first().and_then(|step| step.tree_before.as_ref());
        matches!((first, self.visible_steps().1), (Some(first), Some(start)) if first != start)
    }

    /// The successes whose change the event builds on, newest first, itself included; and the tree that the oldest of
    /// them began from, if it is known.
    ///
    /// What a failed cycle changed was rolled back. A change that the user undid shows in the trees: the next step did
    /// not begin from the tree that it left. Events without trees are taken to follow on one another.
    fn visible_steps(&self) -> (Vec<&LineageStep>, Option<&String>) {
        let mut steps = Vec::new();
        let mut start = None;
        for (age, step) in self.since_head_moved().iter().rev().enumerate() {
            let leads_on = match (&step.tree_after, start) {
                (Some(after), Some(start)) => after == start,
                _ => true,
            };
            let counts = step.event.outcome.is_success() && leads_on;
            if counts {
                steps.push(step);
            }
            if counts || age == 0 {
                start = step.tree_before.as_ref();
            }
        }
        (steps, start)
    }

    /// The last steps, those with the commit of the event.
    fn since_head_moved(&self) -> &[LineageStep] {
        let head = self.steps.last().and_then(|step| step.head.as_ref());
        let moved = self.steps.iter().rposition(|step| step.head.as_ref() != head);
        &self.steps[moved.map_or(0, |index| index + 1)..]
    }

    /// The commands that lead back to the state after the event; none when it did not record its commit.
    ///
    /// Edits that the user never committed are in no patch and do not come back; see [`Self::unrecorded_edits`].
    pub fn path_to_root(&self, patch_file: &dyn Fn(&str) -> PathBuf) -> Vec<String> {
        let Some(head) = self.steps.last().and_then(|step| step.head.as_deref()) else {
            return Vec::new();
        };
        let mut commands = vec![format!("git switch --detach {head}")];
        for patch in self.patches() {
            commands.push(format!("git apply {}", quoted(&patch_file(patch))));
        }
        commands
    }
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@:".contains(c)) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::event::EventOutcome;
    use capsid_model::json;

    fn log(folder: &Path, events: &[Value]) -> EventLog {
        let log = EventLog::at(folder.join("events.jsonl"));
        let records: Vec<Object> = events.iter().filter_map(|e| e.as_object().cloned()).collect();
        log.append(&records).unwrap();
        log
    }

    fn event(id: &str, parent: Option<&str>, head: &str, patch: &str, status: &str) -> Value {
        json!({"type": "EvolutionEvent", "id": id, "parent": parent, "outcome": {"status": status},
            "meta": {"git": {"head": head, "patch_sha256": patch}}})
    }

    #[test]
    fn the_way_back_is_the_commit_and_the_patches_since_it() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let patch = |n: &str| n.repeat(64);
        let log = log(
            folder.path(),
            &[
                event("evt_1", None, &one, &patch("a"), "success"),
                event("evt_2", Some("evt_1"), &two, &patch("b"), "success"),
                json!({"type": "ValidationReport", "id": "vr_3"}),
                event("evt_3", Some("evt_2"), &two, &patch("c"), "failed"),
                event("evt_4", Some("evt_2"), &two, &patch("d"), "success"),
                event("evt_5", Some("evt_3"), &two, &patch("e"), "success"),
            ],
        );
        let lineage_of = lineage(&log, "evt_5").unwrap().unwrap();
        let ids: Vec<&str> = lineage_of.steps.iter().map(|step| step.event.id.as_str()).collect();
        assert_eq!(ids, ["evt_1", "evt_2", "evt_3", "evt_5"]);
        assert_eq!(lineage_of.missing_parent, None);
        let name = |hash: &str| PathBuf::from(format!("/a b/{}.patch", &hash[..1]));
        assert_eq!(
            lineage_of.path_to_root(&name),
            [
                format!("git switch --detach {two}"),
                "git apply '/a b/b.patch'".to_owned(),
                "git apply '/a b/e.patch'".to_owned(),
            ]
        );
        assert_eq!(lineage(&log, "evt_9").unwrap(), None);
        assert_eq!(lineage(&log, "vr_3").unwrap(), None);
    }

    #[test]
    fn a_missing_parent_is_named_and_a_circle_ends() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(
            folder.path(),
            &[event("b", Some("gone"), "", "", "success"), event("a", Some("a"), "", "", "success")],
        );
        let lineage_of = lineage(&log, "b").unwrap().unwrap();
        assert_eq!(lineage_of.missing_parent.as_deref(), Some("gone"));
        assert_eq!(lineage(&log, "a").unwrap().unwrap().steps.len(), 1);
    }

    #[test]
    fn only_hashes_become_part_of_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let evil = format!("{};rm -rf ~", "a".repeat(40));
        let log = log(folder.path(), &[event("a", None, &evil, &evil, "success")]);
        let lineage_of = lineage(&log, "a").unwrap().unwrap();
        assert!(lineage_of.path_to_root(&|hash| PathBuf::from(hash)).is_empty());
    }

    /// Whether it succeeded, the tree before, the tree after. The patch is named like the latter.
    type Row = (bool, &'static str, &'static str);

    fn at_one_commit(steps: &[Row]) -> Lineage {
        let steps = steps.iter().map(|(succeeded, before, after)| LineageStep {
            event: EvolutionEvent {
                outcome: if *succeeded { EventOutcome::success() } else { EventOutcome::failed() },
                ..EvolutionEvent::default()
            },
            head: Some("c".repeat(40)),
            patch: Some((*after).to_owned()),
            tree_before: Some((*before).to_owned()).filter(|tree| !tree.is_empty()),
            tree_after: Some((*after).to_owned()).filter(|_| !before.is_empty()),
        });
        Lineage { steps: steps.collect(), missing_parent: None }
    }

    #[test]
    fn only_patches_that_the_event_builds_on_lead_back() {
        let cases: [(&str, &[Row], &[&str], bool); 7] = [
            ("one after the other", &[(true, "0", "1"), (true, "1", "2")], &["1", "2"], false),
            (
                "a failure between",
                &[(true, "0", "1"), (false, "1", "x"), (true, "1", "2")],
                &["1", "2"],
                false,
            ),
            ("the first undone", &[(true, "0", "1"), (true, "0", "2")], &["2"], false),
            (
                "the second undone",
                &[(true, "0", "1"), (true, "1", "2"), (true, "1", "3")],
                &["1", "3"],
                false,
            ),
            ("edited between", &[(true, "0", "1"), (true, "e", "2"), (true, "2", "3")], &["2", "3"], true),
            ("edited before a failure", &[(true, "0", "1"), (false, "e", "x")], &[], true),
            ("older events", &[(true, "", "1"), (true, "", "2"), (true, "2", "3")], &["1", "2", "3"], false),
        ];
        for (name, steps, patches, unrecorded) in cases {
            let lineage = at_one_commit(steps);
            assert_eq!(lineage.patches(), patches, "{name}");
            assert_eq!(lineage.unrecorded_edits(), unrecorded, "{name}");
        }
        assert!(Lineage::default().patches().is_empty() && !Lineage::default().unrecorded_edits());
    }
}
