//! How long the loop sleeps between passes.

use crate::workspace::Workspace;
use capsid_rules::learning::history::LoopPause;
use std::time::Duration;

/// How long the loop sleeps between passes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    least: Duration,
    most: Duration,
    quick: Duration,
    now: Duration,
}

impl Pace {
    pub(super) fn from_env(workspace: &Workspace) -> Self {
        let ms = |name: &str, usual: u64| {
            Duration::from_millis(
                workspace.variable(name).and_then(|text| text.trim().parse().ok()).unwrap_or(usual),
            )
        };
        let least = ms("EVOLVER_MIN_SLEEP_MS", 2_000);
        let most = ms("EVOLVER_MAX_SLEEP_MS", 300_000).max(least);
        Self { least, most, quick: ms("EVOLVER_IDLE_THRESHOLD_MS", 500), now: least }
    }

    /// Doubles after a pass that failed or had nothing to do, starts again after one that worked.
    pub(super) fn choose_sleep(&mut self, worked: bool, took: Duration, pause: LoopPause) -> Duration {
        self.now = if worked && took >= self.quick { self.least } else { (self.now * 2).min(self.most) };
        let factor = match pause {
            LoopPause::Longest => 10,
            LoopPause::Longer => 5,
            LoopPause::Usual => 1,
        };
        self.now * factor
    }
}

/// The pause that the signals of a cycle ask for, or a longer one that its history asks for.
pub(super) fn find_pause(signals: &[String], decided: LoopPause) -> LoopPause {
    let has = |name: &str| signals.iter().any(|signal| signal == name);
    let asked = match () {
        () if has("force_steady_state") => LoopPause::Longest,
        () if has("evolution_saturation") => LoopPause::Longer,
        () => LoopPause::Usual,
    };
    asked.max(decided)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_doubles_while_idle_and_starts_again_after_work() {
        let second = Duration::from_secs(1);
        let mut pace = Pace { least: second, most: second * 6, quick: second / 2, now: second };
        assert_eq!(pace.choose_sleep(false, Duration::ZERO, LoopPause::Usual), second * 2);
        assert_eq!(pace.choose_sleep(false, Duration::ZERO, LoopPause::Usual), second * 4);
        assert_eq!(pace.choose_sleep(false, Duration::ZERO, LoopPause::Usual), second * 6);
        assert_eq!(pace.choose_sleep(true, second, LoopPause::Usual), second);
        assert_eq!(pace.choose_sleep(true, second, LoopPause::Longer), second * 5);
        assert_eq!(pace.choose_sleep(true, second, LoopPause::Longest), second * 10);
    }

    #[test]
    fn the_longest_pause_that_is_asked_for_wins() {
        let signals = |name: &str| [name.to_owned()];
        assert_eq!(find_pause(&signals("evolution_saturation"), LoopPause::Usual), LoopPause::Longer);
        assert_eq!(find_pause(&signals("force_steady_state"), LoopPause::Longer), LoopPause::Longest);
        assert_eq!(find_pause(&signals("log_error"), LoopPause::Usual), LoopPause::Usual);
    }
}
