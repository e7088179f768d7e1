//! Accounts for every entry of a transcript: it is in an action, in a note, or dropped for a reason.

use crate::leftover::{Leftovers, ShownTexts};
use crate::shape::{cap, cap_text};
use crate::{Action, ActionKind, DropReason, ReadReport, TriggerKind};
use capsid_model::exact::{ExactFields, ExactJson};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The member of the environment with what an entry holds besides.
const OTHER: &str = "other";
/// How much of an entry that cannot be read is stored.
const UNREADABLE_MAX: usize = 4000;
/// Leftovers that wait for an action.
const PENDING_MAX: usize = 500;
const PENDING_BYTES: usize = 1 << 20;

/// What became of the entries so far.
#[derive(Debug, Default)]
pub(crate) struct EntryLedger {
    current: Option<Rc<ExactJson>>,
    leftovers: Leftovers,
    /// What waits for the next action: leftovers of entries that have none.
    pending: Vec<ExactJson>,
    pending_bytes: usize,
    kept: u64,
    noted: BTreeMap<String, u64>,
}

impl EntryLedger {
    /// The next entry. What was not accounted for of the one before waits for the next action.
    pub(crate) fn begin(&mut self, entry: Rc<ExactJson>) {
        self.end();
        self.current = Some(entry);
    }

    /// A part of the entry is accounted for; this is the rest of it.
    pub(crate) fn replace(&mut self, rest: ExactJson) {
        self.current = Some(Rc::new(rest));
    }

    /// The entry is over. One of which no action was made is left whole.
    pub(crate) fn end(&mut self) {
        self.carry(&[]);
    }

    /// The entry is in an action, which also gets what was left of entries without one.
    pub(crate) fn show(&mut self, action: &mut Action) {
        self.show_with(action, &[]);
    }

    /// The same; other values are shown by other actions of the entry.
    pub(crate) fn show_with(&mut self, action: &mut Action, elsewhere: &[&ExactJson]) {
        let pending = std::mem::take(&mut self.pending);
        self.pending_bytes = 0;
        let mut other: Vec<ExactJson> = Vec::new();
        if !pending.is_empty() {
            let shown = ShownTexts::from_action(action);
            other.extend(pending.iter().filter_map(|rest| self.leftovers.prune(rest, &shown)));
        }
        if let Some(entry) = self.current.take() {
            self.kept += 1;
            let mut shown = ShownTexts::from_action(action);
            elsewhere.iter().for_each(|value| shown.add_value(value));
            let with_images = !shown.has_image();
            other.extend(self.leftovers.find(&entry, &shown, with_images));
        }
        attach(action, other);
    }

    /// One more entry is in the action, such as the result of its call.
    pub(crate) fn add(&mut self, entry: &ExactJson, action: &mut Action) {
        self.kept += 1;
        let shown = ShownTexts::from_action(action);
        let with_images = !shown.has_image();
        let other = self.leftovers.find(entry, &shown, with_images);
        attach(action, other.into_iter().collect());
    }

    /// The entry gives no action. These texts of it are in the actions that follow; what else it holds is kept for
    /// the next one.
    pub(crate) fn carry(&mut self, texts: &[&str]) {
        let Some(entry) = self.current.take() else { return };
        self.carry_entry(&entry, texts);
    }

    /// The same, with values that are in the actions that follow.
    pub(crate) fn carry_known(&mut self, known: &[&ExactJson]) {
        let Some(entry) = self.current.take() else { return };
        self.kept += 1;
        let mut shown = ShownTexts::default();
        known.iter().for_each(|value| shown.add_value(value));
        if let Some(rest) = self.leftovers.find(&entry, &shown, true) {
            self.pend(cap(rest));
        }
    }

    /// A member of a part of the current entry is not stored, for a reason of the fixed list.
    pub(crate) fn drop_inner(&mut self, part: &str, member: &str, reason: DropReason) {
        let Some(entry) = &mut self.current else { return };
        let ExactJson::Object(fields) = Rc::make_mut(entry) else { return };
        let Some(ExactJson::Object(inner)) = fields.get_mut(part) else { return };
        if inner.shift_remove(member).is_some() {
            *self.leftovers.dropped.entry(reason).or_default() += 1;
        }
    }

    /// A part of the current entry is not stored, for a reason of the fixed list.
    pub(crate) fn drop_part(&mut self, part: &ExactJson, member: &str, reason: DropReason) {
        if self.current.is_none() || part.get(member).is_none() {
            return;
        }
        *self.leftovers.dropped.entry(reason).or_default() += 1;
        let mut rest = part.clone();
        if let ExactJson::Object(fields) = &mut rest {
            fields.shift_remove(member);
        }
        self.current = Some(Rc::new(rest));
    }

    /// The same for an entry that is not the current one.
    pub(crate) fn carry_entry(&mut self, entry: &ExactJson, texts: &[&str]) {
        self.kept += 1;
        let mut shown = ShownTexts::default();
        texts.iter().for_each(|text| shown.add(text));
        if let Some(rest) = self.leftovers.find(entry, &shown, true) {
            self.pend(cap(rest));
        }
    }

    fn pend(&mut self, rest: ExactJson) {
        self.pending_bytes += size(&rest);
        self.pending.push(rest);
    }

    /// What is left of an entry beside these texts, for a record of its own.
    pub(crate) fn rest_of(&mut self, entry: &ExactJson, shown: &ShownTexts<'_>) -> Option<ExactJson> {
        self.kept += 1;
        self.leftovers.find(entry, shown, true).map(cap)
    }

    /// The entry is not stored, for a reason of the fixed list.
    pub(crate) fn drop_entry(&mut self, reason: DropReason) {
        if self.current.take().is_some() {
            *self.leftovers.dropped.entry(reason).or_default() += 1;
        }
    }

    /// A part of an entry is stored by its length or its hash.
    pub(crate) fn count_dropped(&mut self, reason: DropReason) {
        *self.leftovers.dropped.entry(reason).or_default() += 1;
    }

    /// The entry is stored as it is, since nothing else shows it.
    pub(crate) fn count_noted(&mut self, reason: &str) {
        self.current = None;
        *self.noted.entry(reason.to_owned()).or_default() += 1;
    }

    /// The entry has a record of its own, since nothing else shows it, which need not hold all of it.
    pub(crate) fn count_unmatched(&mut self, reason: &str) {
        *self.noted.entry(reason.to_owned()).or_default() += 1;
    }

    /// Whether so much waits that it needs a record of its own.
    pub(crate) fn is_full(&self) -> bool {
        self.pending.len() > PENDING_MAX || self.pending_bytes > PENDING_BYTES
    }

    /// What waits and no action took.
    pub(crate) fn rest(&mut self) -> Option<ExactJson> {
        self.pending_bytes = 0;
        let rest = std::mem::take(&mut self.pending);
        (!rest.is_empty()).then(|| cap(rest.into()))
    }

    /// Writes the counts into the report.
    pub(crate) fn count_into(self, report: &mut ReadReport) {
        report.kept += self.kept;
        for (reason, count) in self.noted {
            *report.noted.entry(reason).or_default() += count;
        }
        for (reason, count) in self.leftovers.dropped {
            *report.dropped.entry(reason).or_default() += count;
        }
    }
}

fn attach(action: &mut Action, other: Vec<ExactJson>) {
    if other.is_empty() {
        return;
    }
    let mut all = match action.environment.shift_remove(OTHER) {
        Some(ExactJson::Array(earlier)) => earlier,
        Some(earlier) => vec![earlier],
        None => Vec::new(),
    };
    all.extend(other);
    action.environment.insert(OTHER.to_owned(), cap(all.into()));
}

fn size(value: &ExactJson) -> usize {
    match value {
        ExactJson::String(text) => text.len(),
        ExactJson::Array(items) => items.iter().map(size).sum(),
        ExactJson::Object(fields) => fields.iter().map(|(name, value)| name.len() + size(value)).sum(),
        _ => 8,
    }
}

/// A record of an entry that cannot be read: its first characters.
pub(crate) fn unreadable(key: String, bytes: &[u8], environment: ExactFields, open: bool) -> Action {
    let text = String::from_utf8_lossy(bytes);
    Action {
        key,
        kind: ActionKind::System,
        trigger: TriggerKind::System,
        environment,
        summary: "entry that cannot be read".to_owned(),
        result: cap_text(text.trim(), UNREADABLE_MAX).into(),
        open,
        ..Action::default()
    }
}

/// A record of what no action took.
pub(crate) fn leftover(key: String, rest: ExactJson, base: Action) -> Action {
    Action {
        key,
        kind: ActionKind::System,
        trigger: TriggerKind::System,
        summary: "entries without an action".to_owned(),
        result: rest,
        ..base
    }
}
