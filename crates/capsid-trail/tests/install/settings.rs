//! Random settings files, written as a person or a program might have written them.
//!
//! Usually they are the same files each time. `CAPSID_SOAK=1` takes others, and a hundred times as many;
//! `CAPSID_SEED=n` begins with one of them.

use capsid_testkit::rounds::{size, steady_seed};
use fastrand::Rng;

/// The seeds of this run, the first of which is printed.
pub fn seeds(usual: u64) -> impl Iterator<Item = u64> {
    let start = steady_seed();
    (0..size(usual, usual * 100)).map(move |n| start.wrapping_add(n))
}

/// How a file is written.
pub struct Writer {
    pub rng: Rng,
    newline: &'static str,
    /// None: all on one line.
    unit: Option<&'static str>,
    colon: &'static str,
    comma: &'static str,
    pub comments: bool,
}

impl Writer {
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let newline = if rng.u8(..4) == 0 { "\r\n" } else { "\n" };
        let unit = rng.choice([None, Some("  "), Some("  "), Some("    "), Some("\t"), Some("")]).unwrap();
        let colon = rng.choice([": ", ": ", ":", " : ", ":  "]).unwrap();
        let comma = rng.choice([",", ", ", " , "]).unwrap();
        let comments = rng.u8(..3) == 0;
        Self { rng, newline, unit, colon, comma, comments }
    }

    /// A complete file with hooks of others at some of the events; `entry` writes one of them.
    pub fn file(&mut self, events: &[&str], entry: &dyn Fn(&mut Writer, usize) -> String) -> String {
        let blank = self.rng.choice(["", "", "", "\n", " \n", "\r\n", "\t"]).unwrap();
        if self.rng.u8(..20) == 0 {
            return self.with_mark(blank.to_owned());
        }
        let mut members = Vec::new();
        if self.rng.u8(..8) > 0 {
            members.extend((0..self.rng.usize(..4)).map(|n| (format!("key{n}"), Part::Plain)));
        }
        if self.rng.bool() {
            let at = self.rng.usize(..=members.len());
            members.insert(at, ("hooks".to_owned(), Part::Hooks));
        }
        let root = self.object(0, members, &|writer, depth, part| match part {
            Part::Plain => writer.plain(depth),
            Part::Hooks => writer.hooks(depth, events, entry),
        });
        let comment = if self.comments && self.rng.bool() { "// settings\n" } else { "" };
        self.with_mark(format!("{comment}{root}{blank}"))
    }

    fn with_mark(&mut self, text: String) -> String {
        if self.rng.u8(..8) == 0 { format!("\u{feff}{text}") } else { text }
    }

    fn hooks(
        &mut self,
        depth: usize,
        events: &[&str],
        entry: &dyn Fn(&mut Writer, usize) -> String,
    ) -> String {
        let mut names: Vec<String> = vec!["Other".to_owned()];
        names.extend(events.iter().map(|&event| event.to_owned()));
        names.retain(|_| self.rng.bool());
        self.rng.shuffle(&mut names);
        let members = names.into_iter().map(|name| (name, ())).collect();
        self.object(depth, members, &|writer, depth, ()| {
            let count = writer.rng.usize(..3);
            writer.list(depth, count, &|writer, depth| entry(writer, depth))
        })
    }

    /// A value that is nobody's hook.
    pub fn plain(&mut self, depth: usize) -> String {
        let leaves = [
            "1",
            "-2.50e3",
            "true",
            "null",
            r#""ü \u00e9 \ud83d\ude00 \" // no comment""#,
            r#""{\"hooks\":[""#,
            "{}",
            "[]",
        ];
        match self.rng.u8(..4) {
            0 if depth < 4 => {
                let count = self.rng.usize(..3);
                self.list(depth, count, &|writer, depth| writer.plain(depth))
            }
            1 if depth < 4 => {
                let members = (0..self.rng.usize(..3)).map(|n| (format!("ключ{n}"), ())).collect();
                self.object(depth, members, &|writer, depth, ()| writer.plain(depth))
            }
            _ => self.rng.choice(leaves).unwrap().to_owned(),
        }
    }

    pub fn object<T>(
        &mut self,
        depth: usize,
        members: Vec<(String, T)>,
        value: &dyn Fn(&mut Writer, usize, T) -> String,
    ) -> String {
        let items = members
            .into_iter()
            .map(|(name, part)| {
                let colon = self.colon;
                format!("\"{name}\"{colon}{}", value(self, depth + 1, part))
            })
            .collect();
        self.brackets(depth, '{', items, '}')
    }

    pub fn list(
        &mut self,
        depth: usize,
        count: usize,
        item: &dyn Fn(&mut Writer, usize) -> String,
    ) -> String {
        let items = (0..count).map(|_| item(self, depth + 1)).collect();
        self.brackets(depth, '[', items, ']')
    }

    fn brackets(&mut self, depth: usize, open: char, items: Vec<String>, close: char) -> String {
        let lead = |unit: &str, newline: &str, depth| format!("{newline}{}", unit.repeat(depth));
        // Some write short things on one line in a file of many.
        let unit = self.unit.filter(|_| self.rng.u8(..6) > 0);
        let (first, last) = match unit {
            Some(unit) => (lead(unit, self.newline, depth + 1), lead(unit, self.newline, depth)),
            None => self
                .rng
                .choice([("", ""), (" ", " "), ("", " "), (" ", "")])
                .map(|(a, b)| (a.into(), b.into()))
                .unwrap(),
        };
        if items.is_empty() {
            let inside = self.rng.choice(["", "", " ", &last, "\n", " \n", "\r\n\t"]).unwrap().to_owned();
            let comment = self.comment();
            let after = if comment.contains("//") { self.newline } else { "" };
            return format!("{open}{inside}{comment}{after}{close}");
        }
        let mut text = open.to_string();
        let count = items.len();
        for (index, item) in items.into_iter().enumerate() {
            text.push_str(&first);
            text.push_str(&item);
            let trailing = index + 1 == count && !(self.comments && self.rng.u8(..3) == 0);
            if self.comments && self.rng.u8(..6) == 0 {
                text.push_str(" /* before a comma */ ");
            }
            if !trailing {
                text.push_str(if unit.is_some() { "," } else { self.comma });
            }
            let comment = self.comment();
            text.push_str(&comment);
            if comment.contains("//") {
                text.push_str(self.newline);
            }
        }
        format!("{text}{last}{close}")
    }

    fn comment(&mut self) -> String {
        match self.rng.u8(..8) {
            0 if self.comments => "// nöte, with \" and }".to_owned(),
            1 if self.comments => "\t// \u{2014}".to_owned(),
            2 if self.comments => " /* nöte, { */".to_owned(),
            3 if self.comments => "/* two\n lines */ // and more".to_owned(),
            _ => String::new(),
        }
    }
}

enum Part {
    Plain,
    Hooks,
}

/// A hook of someone else, as Claude Code stores it.
pub fn claude_entry(writer: &mut Writer, depth: usize) -> String {
    let count = writer.rng.usize(1..3);
    writer.object(
        depth,
        vec![("matcher".to_owned(), false), ("hooks".to_owned(), true)],
        &|writer, depth, hooks| {
            if hooks { writer.list(depth, count, &cursor_entry) } else { "\"\"".to_owned() }
        },
    )
}

/// The same for Cursor.
pub fn cursor_entry(writer: &mut Writer, depth: usize) -> String {
    let members =
        vec![("type".to_owned(), "\"command\""), ("command".to_owned(), "\"notify-send 'done' ünd\"")];
    writer.object(depth, members, &|_, _, text| text.to_owned())
}

/// Everything except our entries, for files that are plain JSON.
pub fn foreign(text: &str) -> Option<serde_json::Value> {
    let mut value: serde_json::Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let hooks = value.get_mut("hooks").and_then(|hooks| hooks.as_object_mut());
    for list in hooks.into_iter().flat_map(|hooks| hooks.values_mut()).filter_map(|list| list.as_array_mut())
    {
        list.retain(|entry| !entry.to_string().contains("trail hook"));
    }
    if let Some(hooks) = value.get_mut("hooks").and_then(|hooks| hooks.as_object_mut()) {
        hooks.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
    }
    let root = value.as_object_mut()?;
    root.retain(|name, value| (name != "hooks" || value != &serde_json::json!({})) && name != "version");
    Some(value)
}
