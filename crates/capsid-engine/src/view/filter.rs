//! Which events to show.

use capsid_model::Time;
use capsid_model::event::EvolutionEvent;

/// What an event must be to be shown; what is not set does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// What the cycle was for.
    pub intent: Option<String>,
    pub gene: Option<String>,
    /// How it ended; `failure` is another word for `failed`.
    pub status: Option<String>,
    pub platform: Option<String>,
    pub since: Option<Time>,
    pub until: Option<Time>,
    /// The capsule it made or applied.
    pub capsule: Option<String>,
    /// A part of a signal, in any case.
    pub signal: Option<String>,
}

impl EventFilter {
    /// Whether an event is to be shown. An event without a time is outside of every span.
    pub fn matches(&self, event: &EvolutionEvent) -> bool {
        let is = |wanted: &Option<String>, actual: &str| wanted.as_deref().is_none_or(|w| w == actual);
        let has = |wanted: &Option<String>, predicate: &dyn Fn(&str) -> bool| {
            wanted.as_deref().is_none_or(predicate)
        };
        is(&self.intent, &event.intent)
            && is(&self.platform, &event.platform)
            && has(&self.status, &|status| {
                let status = if status == "failure" { "failed" } else { status };
                event.outcome.status == status
            })
            && has(&self.gene, &|gene| event.genes_used.iter().any(|used| used == gene))
            && has(&self.capsule, &|capsule| {
                event.capsule_id.as_deref() == Some(capsule)
                    || event.reused_capsule_id.as_deref() == Some(capsule)
            })
            && has(&self.signal, &|signal| {
                let signal = signal.to_lowercase();
                event.signals.iter().any(|seen| seen.to_lowercase().contains(&signal))
            })
            && self.since.is_none_or(|since| event.at.is_some_and(|at| at >= since))
            && self.until.is_none_or(|until| event.at.is_some_and(|at| at <= until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::event::EventOutcome;

    fn event() -> EvolutionEvent {
        EvolutionEvent {
            intent: "repair".to_owned(),
            genes_used: vec!["g".to_owned()],
            outcome: EventOutcome::failed(),
            platform: "linux".to_owned(),
            at: Some(Time(100)),
            reused_capsule_id: Some("c".to_owned()),
            signals: vec!["errsig:TypeError".to_owned()],
            ..EvolutionEvent::default()
        }
    }

    #[test]
    fn every_condition_can_let_pass_and_refuse() {
        type Set = fn(&mut EventFilter, &str);
        let text = |set: Set, good: &str, bad: &str| {
            for (value, expected) in [(good, true), (bad, false)] {
                let mut filter = EventFilter::default();
                set(&mut filter, value);
                assert_eq!(filter.matches(&event()), expected, "{filter:?}");
            }
        };
        text(|f, v| f.intent = Some(v.to_owned()), "repair", "innovate");
        text(|f, v| f.gene = Some(v.to_owned()), "g", "h");
        text(|f, v| f.status = Some(v.to_owned()), "failure", "success");
        text(|f, v| f.platform = Some(v.to_owned()), "linux", "darwin");
        text(|f, v| f.capsule = Some(v.to_owned()), "c", "d");
        text(|f, v| f.signal = Some(v.to_owned()), "typeerror", "timeout");
        text(|f, v| f.since = v.parse().ok().map(Time), "100", "101");
        text(|f, v| f.until = v.parse().ok().map(Time), "100", "99");
        assert!(EventFilter::default().matches(&EvolutionEvent::default()));
    }
}
