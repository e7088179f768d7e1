//! PersonalityState: five dials that shape how a cycle works. The rules of change live in the engine.

use crate::{Object, Value};

/// The five dials, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Personality {
    /// How strict validation is.
    pub rigor: f64,
    /// How willing to try something new.
    pub creativity: f64,
    /// How much the prompt tells.
    pub verbosity: f64,
    /// How wide a change may be.
    pub risk_tolerance: f64,
    /// How closely the strategy is to be followed.
    pub obedience: f64,
}

impl Default for Personality {
    fn default() -> Self {
        Self { rigor: 0.7, creativity: 0.35, verbosity: 0.25, risk_tolerance: 0.4, obedience: 0.85 }
    }
}

/// The dials by name, in the order of the key.
pub const DIALS: [&str; 5] = ["rigor", "creativity", "verbosity", "risk_tolerance", "obedience"];

impl Personality {
    /// Reads a state; nothing unless the type is right and all five are numbers from 0 to 1.
    pub fn read_strict(value: &Value) -> Option<Self> {
        let right_type = value.get("type").and_then(Value::as_str) == Some("PersonalityState");
        let in_range = DIALS
            .iter()
            .all(|dial| value.get(*dial).and_then(Value::as_f64).is_some_and(|n| (0.0..=1.0).contains(&n)));
        (right_type && in_range).then(|| Self::read(value))
    }

    /// Reads a state permissively: absent dials take their default, others are clamped.
    pub fn read(value: &Value) -> Self {
        let mut state = Self::default();
        for dial in DIALS {
            if let Some(number) = value.get(dial).and_then(Value::as_f64) {
                state.set(dial, number);
            }
        }
        state
    }

    /// One dial by name; nothing for a name that is not one.
    pub fn get(&self, dial: &str) -> Option<f64> {
        Some(match dial {
            "rigor" => self.rigor,
            "creativity" => self.creativity,
            "verbosity" => self.verbosity,
            "risk_tolerance" => self.risk_tolerance,
            "obedience" => self.obedience,
            _ => return None,
        })
    }

    /// Sets one dial by name, clamped; a name that is not one changes nothing.
    pub fn set(&mut self, dial: &str, value: f64) {
        let value = if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 };
        match dial {
            "rigor" => self.rigor = value,
            "creativity" => self.creativity = value,
            "verbosity" => self.verbosity = value,
            "risk_tolerance" => self.risk_tolerance = value,
            "obedience" => self.obedience = value,
            _ => {}
        }
    }

    /// The record's form.
    pub fn to_object(self) -> Object {
        let mut object = Object::new();
        object.insert("type".to_owned(), Value::from("PersonalityState"));
        for dial in DIALS {
            object.insert(dial.to_owned(), self.get(dial).map_or(Value::Null, Value::from));
        }
        object
    }

    /// The key under which its results are counted: each dial rounded to one decimal, in doubles and half up.
    pub fn key(&self) -> String {
        DIALS.map(|dial| format!("{dial}={:.1}", round_tenth(self.get(dial).unwrap_or_default()))).join("|")
    }
}

/// `floor(x / 0.1 + 0.5) * 0.1` in doubles: the artefacts are part of the format (0.15 gives 0.1, 0.25 gives 0.3).
fn round_tenth(value: f64) -> f64 {
    (value / 0.1 + 0.5).floor() * 0.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_as_existing_ones_do() {
        for (value, expected) in [
            (0.0, "0.0"),
            (1.0, "1.0"),
            (0.05, "0.1"),
            (0.15, "0.1"),
            (0.25, "0.3"),
            (0.35, "0.3"),
            (0.45, "0.5"),
            (0.55, "0.6"),
            (0.65, "0.7"),
            (0.75, "0.8"),
            (0.85, "0.9"),
            (0.95, "0.9"),
        ] {
            assert_eq!(format!("{:.1}", round_tenth(value)), expected, "{value}");
        }
        assert_eq!(
            Personality::default().key(),
            "rigor=0.7|creativity=0.3|verbosity=0.3|risk_tolerance=0.4|obedience=0.9"
        );
    }

    #[test]
    fn a_state_round_trips_and_a_broken_one_is_refused() {
        let state = Personality { rigor: 0.1, ..Personality::default() };
        let value = Value::Object(state.to_object());
        assert_eq!(Personality::read_strict(&value), Some(state));
        let mut broken = value;
        broken["rigor"] = Value::from(1.5);
        assert_eq!(Personality::read_strict(&broken), None);
    }
}
