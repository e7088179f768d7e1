//! The figures of the corpora, and the documents that show them.

use std::collections::BTreeMap;
use std::path::Path;

#[derive(Default, Clone, Copy)]
struct Count {
    all: u32,
    redacted: u32,
}

impl Count {
    fn to_json(self) -> serde_json::Value {
        serde_json::json!({"cases": self.all, "redacted": self.redacted})
    }
}

/// What was counted in one corpus: by class as plain text, and by wrapping.
pub struct Corpus {
    name: &'static str,
    classes: BTreeMap<String, Count>,
    wrappings: BTreeMap<&'static str, Count>,
}

impl Corpus {
    pub fn new(name: &'static str) -> Self {
        Self { name, classes: BTreeMap::new(), wrappings: BTreeMap::new() }
    }

    pub fn count(&mut self, class: &str, wrapping: &'static str, is_redacted: bool) {
        let add = |count: &mut Count| {
            count.all += 1;
            count.redacted += u32::from(is_redacted);
        };
        add(self.wrappings.entry(wrapping).or_default());
        if wrapping == "plain" {
            add(self.classes.entry(class.to_owned()).or_default());
        }
    }
}

pub struct Figures([Corpus; 3]);

impl Figures {
    pub fn new(corpora: [Corpus; 3]) -> Self {
        Self(corpora)
    }

    fn corpus(&self, name: &str) -> &Corpus {
        self.0.iter().find(|corpus| corpus.name == name).unwrap()
    }

    pub fn cases(&self, name: &str) -> u32 {
        self.corpus(name).wrappings["plain"].all
    }

    /// The share of the cases that was redacted in a wrapping.
    pub fn share(&self, name: &str, wrapping: &str) -> f64 {
        let count = self.corpus(name).wrappings[wrapping];
        f64::from(count.redacted) / f64::from(count.all)
    }

    fn to_json(&self) -> serde_json::Value {
        let corpora = self.0.iter().map(|corpus| {
            let classes: serde_json::Map<_, _> =
                corpus.classes.iter().map(|(class, count)| (class.clone(), count.to_json())).collect();
            let wrappings: serde_json::Map<_, _> = super::WRAPPINGS
                .iter()
                .map(|name| ((*name).to_owned(), corpus.wrappings[name].to_json()))
                .collect();
            (corpus.name.to_owned(), serde_json::json!({"classes": classes, "wrappings": wrappings}))
        });
        serde_json::Value::Object(corpora.collect())
    }

    /// The table of the documents: redacted of all, by class, and all of a corpus in each wrapping.
    pub fn table(&self) -> String {
        let mut lines =
            vec!["| class | realistic | hard | harmless |".to_owned(), "|---|---|---|---|".to_owned()];
        let mut row = |title: &str, find: &dyn Fn(&Corpus) -> Option<Count>| {
            let cells = self.0.iter().map(|corpus| {
                find(corpus).map_or_else(String::new, |count| format!("{} of {}", count.redacted, count.all))
            });
            lines.push(format!("| {title} | {} |", cells.collect::<Vec<_>>().join(" | ")));
        };
        let mut classes: Vec<&String> = self.0.iter().flat_map(|corpus| corpus.classes.keys()).collect();
        classes.sort();
        classes.dedup();
        for class in classes {
            row(class, &|corpus| corpus.classes.get(class).copied());
        }
        for wrapping in super::WRAPPINGS {
            let title =
                if wrapping == "plain" { "**all**".to_owned() } else { format!("**all**, {wrapping}") };
            row(&title, &|corpus| corpus.wrappings.get(wrapping).copied());
        }
        lines.join("\n") + "\n"
    }

    /// Panics unless the documents hold these figures. With `CAPSID_UPDATE_DOCS` they are written again.
    pub fn compare_with_docs(&self) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
        let figures = serde_json::to_string_pretty(&self.to_json()).unwrap() + "\n";
        for (name, expected) in [("redaction.json", figures), ("redaction.md", self.page())] {
            let path = folder.join(name);
            if std::env::var_os("CAPSID_UPDATE_DOCS").is_some() {
                std::fs::write(&path, &expected).unwrap();
            }
            let written = std::fs::read_to_string(&path).unwrap_or_default();
            let hint = "run CAPSID_UPDATE_DOCS=1 cargo nextest run --workspace -E 'test(/^redaction::/)'";
            assert_eq!(written, expected, "docs/reference/{name} is out of date; {hint}");
        }
    }

    fn page(&self) -> String {
        format!(
            "# What redaction finds\n\nHow many secrets of each class the redactor finds in texts of our own: \"realistic\" are secrets \
             as programs and agents show them, \"hard\" are rare spellings, \"harmless\" only looks like secrets. The first rows count \
             plain texts. The last rows count all texts in colours, as a diff, with line numbers, in a JSON string, and across the place \
             where long results are cut. [redaction.json](redaction.json) has the same figures.\n\n{}",
            self.table()
        )
    }
}
