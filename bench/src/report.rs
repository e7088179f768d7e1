//! The table on stdout.

/// One line of the table.
pub struct Row {
    /// Which of the goals it serves, such as `3a`.
    pub goal: &'static str,
    /// What was done.
    pub work: String,
    /// Our figure, in the unit.
    pub ours: f64,
    /// The figure of the peer, or of the floor that the row is about; nothing where there is neither.
    pub peer: Option<f64>,
    /// `ms`, `us`, `MB`, `/s`.
    pub unit: &'static str,
    /// What is asked for, in words.
    pub wanted: &'static str,
    /// Whether it was reached; nothing for a line that only informs.
    pub met: Option<bool>,
    /// What one has to know to read it.
    pub note: String,
}

impl Row {
    /// How many times better we are, whichever way the unit counts.
    pub fn ratio(&self) -> Option<f64> {
        let peer = self.peer?;
        Some(match self.unit {
            "/s" => self.ours / peer,
            _ => peer / self.ours,
        })
    }

    fn cells(&self, number: usize) -> [String; 7] {
        let figure = |value: f64| match value {
            large if large >= 100.0 => format!("{large:.0} {}", self.unit),
            small => format!("{small:.3} {}", self.unit),
        };
        let verdict = match self.met {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "-",
        };
        let mark = match self.note.is_empty() {
            true => String::new(),
            false => format!(" [{number}]"),
        };
        [
            self.goal.to_owned(),
            format!("{}{mark}", self.work),
            figure(self.ours),
            self.peer.map_or("-".to_owned(), figure),
            self.ratio().map_or("-".to_owned(), times),
            self.wanted.to_owned(),
            verdict.to_owned(),
        ]
    }
}

/// A ratio; near one, a tenth is too coarse.
fn times(ratio: f64) -> String {
    match ratio < 2.0 {
        true => format!("{ratio:.2}x"),
        false => format!("{ratio:.1}x"),
    }
}

/// Prints all rows, then their notes.
pub fn print(rows: &[Row]) {
    let head = ["goal", "work", "ours", "other", "better", "wanted", ""].map(str::to_owned);
    let mut table = vec![head];
    table.extend(rows.iter().enumerate().map(|(at, row)| row.cells(at + 1)));
    let width = |column: usize| {
        let cells = table.iter().map(|cells| cells[column].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..7).map(width).collect();
    for cells in &table {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        println!("{}", padded.join("  ").trim_end());
    }
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| !row.note.is_empty()) {
        println!("[{}] {}", at + 1, row.note);
    }
}
