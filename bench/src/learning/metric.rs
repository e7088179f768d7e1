//! Figures, their goals, and whether a goal is reached.

use crate::report::Row;
use serde_json::{Value, json};

/// A figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// So many of so many, as a share.
    Share(usize, usize),
    /// So many of so many, where the first number is to be small.
    Count(usize, usize),
    /// A number with a unit.
    Amount(f64, &'static str),
}

impl Figure {
    pub fn value(self) -> f64 {
        match self {
            Self::Share(_, 0) | Self::Count(_, 0) => 0.0,
            Self::Share(part, whole) => part as f64 / whole as f64,
            Self::Count(part, _) => part as f64,
            Self::Amount(value, _) => value,
        }
    }

    fn render(self) -> String {
        match self {
            Self::Share(part, whole) => format!("{:.3} ({part} of {whole})", self.value()),
            Self::Count(part, whole) => format!("{part} of {whole}"),
            Self::Amount(value, unit) if value.fract() == 0.0 => {
                format!("{value:.0} {unit}").trim_end().to_owned()
            }
            Self::Amount(value, unit) => format!("{value:.3} {unit}").trim_end().to_owned(),
        }
    }

    /// A figure over nothing measured nothing.
    fn is_empty(self) -> bool {
        matches!(self, Self::Share(_, 0) | Self::Count(_, 0))
    }
}

/// What a figure must be.
#[derive(Clone, Copy, Debug)]
pub enum FigureGoal {
    AtLeast(f64),
    AtMost(f64),
    /// For information only.
    Open,
}

impl FigureGoal {
    fn is_met(self, figure: Figure) -> Option<bool> {
        match self {
            Self::Open => None,
            _ if figure.is_empty() => Some(false),
            Self::AtLeast(limit) => Some(figure.value() >= limit),
            Self::AtMost(limit) => Some(figure.value() <= limit),
        }
    }

    fn render(self) -> String {
        match self {
            Self::Open => "-".to_owned(),
            Self::AtLeast(limit) => format!(">= {limit}"),
            Self::AtMost(limit) => format!("<= {limit}"),
        }
    }
}

/// One line of the table.
pub struct LearningMetric {
    pub name: String,
    pub goal: FigureGoal,
    pub ours: Option<Figure>,
    pub reference: Option<Figure>,
    /// What one has to know to read it, and what was wrong.
    pub notes: Vec<String>,
}

impl LearningMetric {
    pub fn new(name: impl Into<String>, goal: FigureGoal) -> Self {
        Self { name: name.into(), goal, ours: None, reference: None, notes: Vec::new() }
    }

    #[must_use]
    pub fn with_ours(mut self, figure: Option<Figure>) -> Self {
        self.ours = figure;
        self
    }

    #[must_use]
    pub fn with_reference(mut self, figure: Option<Figure>) -> Self {
        self.reference = figure;
        self
    }

    #[must_use]
    pub fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Whether the goal is reached; nothing without a goal or a figure of ours.
    pub fn is_met(&self) -> Option<bool> {
        self.goal.is_met(self.ours?)
    }

    /// Ours as a multiple of the figure of the reference rules.
    fn ratio(&self) -> Option<f64> {
        let (ours, reference) = (self.ours?.value(), self.reference?.value());
        (reference > 0.0).then(|| ours / reference)
    }

    fn cells(&self) -> [String; 6] {
        let figure = |figure: Option<Figure>| figure.map_or("-".to_owned(), Figure::render);
        let verdict = match self.is_met() {
            Some(true) => "ok",
            Some(false) => "MISSED",
            None => "",
        };
        [
            self.name.clone(),
            figure(self.reference),
            figure(self.ours),
            self.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.2}x")),
            self.goal.render(),
            verdict.to_owned(),
        ]
    }

    fn to_json(&self) -> Value {
        let figure = |figure: Option<Figure>| {
            figure.map(|figure| json!({"value": figure.value(), "text": figure.render()}))
        };
        json!({
            "bench": "learning", "work": self.name, "ours": figure(self.ours), "reference": figure(self.reference),
            "ratio": self.ratio(), "wanted": self.goal.render(), "met": self.is_met(), "notes": self.notes,
        })
    }

    /// The line as one of the table of all benches.
    pub fn to_row(&self) -> Option<Row> {
        Some(Row {
            goal: "12",
            work: self.name.clone(),
            ours: self.ours?.value(),
            peer: None,
            unit: "",
            wanted: "see its own table",
            met: self.is_met(),
            note: String::new(),
        })
    }
}

/// Prints the table, then what was wrong. `max_notes` limits what is printed for one line.
pub fn print_metrics(metrics: &[LearningMetric], max_notes: usize) {
    let head = ["metric", "reference rules", "ours", "ratio", "goal", ""].map(str::to_owned);
    let mut table = vec![head];
    table.extend(metrics.iter().map(LearningMetric::cells));
    let width =
        |column: usize| table.iter().map(|cells| cells[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..6).map(width).collect();
    for cells in &table {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        println!("{}", padded.join("  ").trim_end());
    }
    for metric in metrics.iter().filter(|metric| !metric.notes.is_empty()) {
        println!("\n{}:", metric.name);
        for note in metric.notes.iter().take(max_notes) {
            println!("  {note}");
        }
        if metric.notes.len() > max_notes {
            println!("  and {} more; see bench/results-learning.json", metric.notes.len() - max_notes);
        }
    }
}

/// All metrics as the rows of `results-learning.json`.
pub fn to_results(metrics: &[LearningMetric]) -> Value {
    metrics.iter().map(LearningMetric::to_json).collect()
}
