//! The personality file: the current state, results per state, and a history. Unknown members are preserved.

use capsid_model::event::EventOutcome;
use capsid_model::personality::Personality;
use capsid_model::{Object, Time, Value, json};

/// The length of the history.
const HISTORY: usize = 120;
/// How many results a state needs before it can be followed.
const ENOUGH: u64 = 3;

/// The file's document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PersonalityFile(Object);

/// The results of one state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PersonalityResults {
    pub success: u64,
    pub fail: u64,
    pub avg_score: f64,
    /// How many scores are in the mean.
    pub n: u64,
}

impl Default for PersonalityResults {
    fn default() -> Self {
        Self { success: 0, fail: 0, avg_score: 0.5, n: 0 }
    }
}

impl PersonalityResults {
    fn read(value: &Value) -> Self {
        let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
        Self {
            success: number("success"),
            fail: number("fail"),
            avg_score: value.get("avg_score").and_then(Value::as_f64).unwrap_or(0.5),
            n: number("n"),
        }
    }

    /// All results that count.
    pub fn total(&self) -> u64 {
        self.success.saturating_add(self.fail)
    }

    /// How good the state is: three quarters by its successes, one by its scores as far as there are eight.
    pub fn score(&self) -> f64 {
        let total = self.total() as f64;
        let chance = (self.success as f64 + 1.0) / (total + 2.0);
        0.75 * chance + 0.25 * self.avg_score.clamp(0.0, 1.0) * (total / 8.0).min(1.0)
    }
}

impl PersonalityFile {
    /// Reads a document; one that is no object reads as empty.
    pub fn read(value: Value) -> Self {
        match value {
            Value::Object(object) => Self(object),
            _ => Self::default(),
        }
    }

    /// The document to write.
    pub fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// The state in use; the usual one when the file names none.
    pub fn current(&self) -> Personality {
        self.0.get("current").map(Personality::read).unwrap_or_default()
    }

    /// Sets the state in use.
    pub fn set_current(&mut self, state: &Personality, now: Time) {
        self.0.entry("version").or_insert(json!(1));
        let mut current = remove_object(&mut self.0, "current");
        current.extend(state.to_object());
        self.0.insert("current".to_owned(), Value::Object(current));
        self.0.insert("updated_at".to_owned(), json!(now.iso()));
    }

    /// The results of a state, if there are any.
    pub fn results(&self, key: &str) -> Option<PersonalityResults> {
        self.0.get("stats")?.get(key).map(PersonalityResults::read)
    }

    /// The state with the best results, if one has enough of them; the first on ties.
    pub fn best_known(&self) -> Option<Personality> {
        let stats = self.0.get("stats").and_then(Value::as_object)?;
        let mut best: Option<(&str, f64)> = None;
        for (key, value) in stats {
            let results = PersonalityResults::read(value);
            let score = results.score();
            if results.total() >= ENOUGH && best.is_none_or(|(_, highest)| score > highest) {
                best = Some((key, score));
            }
        }
        best.map(|(key, _)| state_of(key))
    }

    /// Counts the outcome of a cycle for the state it ran with.
    pub fn record(&mut self, used: &Personality, outcome: &EventOutcome, event_id: &str, now: Time) {
        let key = used.key();
        let mut results = self.results(&key).unwrap_or_default();
        if outcome.is_success() {
            results.success = results.success.saturating_add(1);
        } else {
            results.fail = results.fail.saturating_add(1);
        }
        results.n = results.n.saturating_add(1);
        results.avg_score += (outcome.score - results.avg_score) / results.n as f64;
        let mut stats = remove_object(&mut self.0, "stats");
        let mut entry = remove_object(&mut stats, &key);
        entry.insert("success".to_owned(), json!(results.success));
        entry.insert("fail".to_owned(), json!(results.fail));
        entry.insert("avg_score".to_owned(), json!(results.avg_score));
        entry.insert("n".to_owned(), json!(results.n));
        entry.insert("updated_at".to_owned(), json!(now.iso()));
        stats.insert(key.clone(), Value::Object(entry));
        self.0.insert("stats".to_owned(), Value::Object(stats));
        self.remember(json!({
            "at": now.iso(),
            "key": key,
            "outcome": outcome.status,
            "score": outcome.score,
            "notes": format!("event:{event_id}"),
        }));
        self.0.insert("updated_at".to_owned(), json!(now.iso()));
    }

    fn remember(&mut self, entry: Value) {
        let mut history = match self.0.get_mut("history").map(Value::take) {
            Some(Value::Array(history)) => history,
            _ => Vec::new(),
        };
        history.push(entry);
        history.drain(..history.len().saturating_sub(HISTORY));
        self.0.insert("history".to_owned(), Value::Array(history));
    }
}

/// Takes an object member out, to be put back; an empty one if it is absent or something else.
fn remove_object(object: &mut Object, name: &str) -> Object {
    match object.get_mut(name).map(Value::take) {
        Some(Value::Object(inner)) => inner,
        _ => Object::new(),
    }
}

/// The state that a key names; dials it does not name take their usual value.
fn state_of(key: &str) -> Personality {
    let mut state = Personality::default();
    for (dial, number) in key.split('|').filter_map(|part| part.split_once('=')) {
        if let Ok(number) = number.parse() {
            state.set(dial, number);
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_770_477_654_155);

    #[test]
    fn results_score_as_known_ones_do() {
        let score = |success, fail, avg_score| PersonalityResults { success, fail, avg_score, n: 0 }.score();
        assert!((score(3, 1, 0.8) - (0.75 * 4.0 / 6.0 + 0.25 * 0.8 * 0.5)).abs() < 1e-12);
        assert!((score(20, 0, 1.0) - (0.75 * 21.0 / 22.0 + 0.25)).abs() < 1e-12);
        assert!((score(0, 0, 0.5) - 0.375).abs() < 1e-12);
    }

    #[test]
    fn outcomes_are_counted_and_the_mean_follows() {
        let mut file = PersonalityFile::default();
        let state = Personality::default();
        file.record(&state, &EventOutcome::success(), "evt_1", NOW);
        file.record(&state, &EventOutcome::failed(), "evt_2", NOW);
        let results = file.results(&state.key()).unwrap();
        assert_eq!((results.success, results.fail, results.n), (1, 1, 2));
        assert!((results.avg_score - 0.525).abs() < 1e-12);
        let history = &file.to_value()["history"];
        assert_eq!(history[1]["notes"], "event:evt_2");
        assert_eq!(history[0]["outcome"], "success");
    }

    #[test]
    fn history_keeps_the_newest_120() {
        let mut file = PersonalityFile::default();
        for n in 0..130 {
            file.record(&Personality::default(), &EventOutcome::success(), &format!("evt_{n}"), NOW);
        }
        let history = file.to_value()["history"].as_array().unwrap().clone();
        assert_eq!(history.len(), 120);
        assert_eq!(history[0]["notes"], "event:evt_10");
    }

    #[test]
    fn unknown_fields_stay_and_odd_ones_are_read_past() {
        let mut file = PersonalityFile::read(json!({
            "mine": [1], "current": {"rigor": 0.9, "mood": "calm"}, "stats": 7, "history": null
        }));
        assert_eq!(file.current().rigor, 0.9);
        let state = Personality { rigor: 0.3, ..Personality::default() };
        file.set_current(&state, NOW);
        file.record(&state, &EventOutcome::success(), "evt_1", NOW);
        let value = file.to_value();
        assert_eq!((&value["mine"], &value["current"]["mood"]), (&json!([1]), &json!("calm")));
        assert_eq!(PersonalityFile::read(value).current(), state);
        assert_eq!(PersonalityFile::read(json!("odd")), PersonalityFile::default());
    }

    #[test]
    fn a_key_names_its_state() {
        let state = state_of("rigor=0.2|creativity=x|odd=1|obedience=7");
        let expected = Personality { rigor: 0.2, obedience: 1.0, ..Personality::default() };
        assert_eq!(state, expected);
    }
}
