//! Every text that `select!` and `joined!` make is a statement that both databases take, though no other test may run
//! it. The texts are joined when the crate is compiled and nobody lists them, so they are read from the sources, with
//! just enough of macros to follow those that have parameters. What cannot be followed fails the test.

use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_store::db::tx::{Dialect, Param, Tx};
use capsid_store::{Store, StoreOptions};
use capsid_testkit::postgres::TestPostgres;
use std::collections::HashMap;
use std::path::Path;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Text(String),
    Word(String),
    Sign(char),
    /// What stands between brackets.
    Group(Vec<Token>),
}

fn is_sign(token: Option<&Token>, sign: char) -> bool {
    token == Some(&Token::Sign(sign))
}

fn is_word(token: Option<&Token>, word: &str) -> bool {
    matches!(token, Some(Token::Word(found)) if found == word)
}

/// The tokens up to the closing bracket, without comments and characters.
fn tokens(source: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Vec<Token> {
    let mut tokens = Vec::new();
    while let Some(char) = source.next() {
        match char {
            '/' if source.peek() == Some(&'/') => while source.next().is_some_and(|char| char != '\n') {},
            '"' => tokens.push(Token::Text(text(source))),
            '(' | '[' | '{' => tokens.push(Token::Group(self::tokens(source))),
            ')' | ']' | '}' => return tokens,
            '\'' => character(source),
            _ if char.is_alphanumeric() || char == '_' => {
                let mut word = String::from(char);
                while let Some(char) = source.next_if(|char| char.is_alphanumeric() || *char == '_') {
                    word.push(char);
                }
                match source.peek() {
                    Some('#' | '"') if word == "r" => tokens.push(Token::Text(raw_text(source))),
                    _ => tokens.push(Token::Word(word)),
                }
            }
            _ if char.is_whitespace() => {}
            _ => tokens.push(Token::Sign(char)),
        }
    }
    tokens
}

fn text(source: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(char) = source.next() {
        match char {
            '"' => break,
            '\\' => match source.next() {
                Some('\n') => while source.next_if(|char| char.is_whitespace()).is_some() {},
                Some(escaped) => text.push(escaped),
                None => {}
            },
            _ => text.push(char),
        }
    }
    text
}

/// A text such as `r#"a"#`, from the first `#` or `"` on.
fn raw_text(source: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut end = String::from('"');
    while source.next_if_eq(&'#').is_some() {
        end.push('#');
    }
    source.next();
    let mut text = String::new();
    while !text.ends_with(&end) {
        text.push(source.next().unwrap());
    }
    text.truncate(text.len() - end.len());
    text
}

/// Skips a character such as `'"'`. A lifetime is left as a word.
fn character(source: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let mut ahead = source.clone();
    let is_escaped = ahead.next() == Some('\\');
    if is_escaped {
        ahead.next();
    }
    if is_escaped || ahead.next() == Some('\'') {
        *source = ahead;
        while is_escaped && source.next().is_some_and(|char| char != '\'') {}
    }
}

/// What a macro is called with, and what it becomes.
type Arm = (Vec<Token>, Vec<Token>);

/// What the sources define, by name. Macros and constants belong to their file, unless another file uses them.
#[derive(Default)]
struct Definitions {
    macros: HashMap<String, Vec<Arm>>,
    /// The columns of rows, and constant texts.
    texts: HashMap<String, Vec<Token>>,
}

impl Definitions {
    fn read(&mut self, tokens: &[Token]) {
        for (at, token) in tokens.iter().enumerate() {
            let after = tokens.get(at + 1..).unwrap_or_default();
            match (token, after) {
                (Token::Word(word), [Token::Sign('!'), Token::Word(name), Token::Group(arms), ..])
                    if word == "macro_rules" =>
                {
                    self.macros.insert(name.clone(), read_arms(arms));
                }
                (Token::Word(word), [Token::Sign('!'), Token::Group(body), ..]) if word == "row" => {
                    let at = body.iter().position(|token| is_word(Some(token), "struct")).unwrap_or_default();
                    if let Some([Token::Word(name), Token::Group(fields)]) = body.get(at + 1..at + 3) {
                        self.texts.insert(name.clone(), columns(fields));
                    }
                }
                (Token::Word(word), [Token::Word(name), ..]) if word == "const" => {
                    let value = after.split(|token| *token == Token::Sign(';')).next().unwrap_or_default();
                    if let Some(equals) = value.iter().position(|token| *token == Token::Sign('=')) {
                        self.texts.insert(name.clone(), value.get(equals + 1..).unwrap_or_default().to_vec());
                    }
                }
                (Token::Group(group), _) => self.read(group),
                _ => {}
            }
        }
    }

    /// The value of an expression that is a constant text.
    fn evaluate(&self, expression: &[Token]) -> String {
        match expression {
            [Token::Text(text)] => text.clone(),
            [Token::Word(name)] => self.evaluate(self.constant(name)),
            [Token::Word(row), Token::Sign(':'), Token::Sign(':'), Token::Word(columns)]
                if columns == "COLUMNS" =>
            {
                let columns = split(self.constant(row)).into_iter().map(|column| self.evaluate(column));
                columns.collect::<Vec<_>>().join(", ")
            }
            [path @ .., Token::Word(name), Token::Sign('!'), Token::Group(arguments)]
                if path.is_empty() || is_sign(path.last(), ':') =>
            {
                let values = || split(arguments).into_iter().map(|part| self.evaluate(part));
                match name.as_str() {
                    "concat" => values().collect(),
                    "joined" => {
                        let parts: Vec<String> = values().collect();
                        let (between, parts) = parts.split_first().unwrap();
                        parts.join(between)
                    }
                    "select" => {
                        let (row, rest) = (split(arguments)[0].to_vec(), split(arguments)[1]);
                        let columns =
                            [row, vec![Token::Sign(':'), Token::Sign(':'), Token::Word("COLUMNS".into())]];
                        format!("SELECT {} {}", self.evaluate(&columns.concat()), self.evaluate(rest))
                    }
                    _ => self.evaluate(
                        &self.expand(name, arguments).unwrap_or_else(|| panic!("{name}!({arguments:?})")),
                    ),
                }
            }
            _ => panic!("no constant text: {expression:?}"),
        }
    }

    fn constant(&self, name: &str) -> &[Token] {
        self.texts.get(name).unwrap_or_else(|| panic!("no row and no constant: {name}"))
    }

    /// What a macro becomes; nothing where it is one of another crate, or has parameters that repeat.
    fn expand(&self, name: &str, arguments: &[Token]) -> Option<Vec<Token>> {
        let arms = self.macros.get(name)?;
        arms.iter().find_map(|(pattern, body)| Some(replace(body, &bind(pattern, arguments)?)))
    }

    fn makes_texts(&self, name: &str) -> bool {
        self.macros.get(name).is_some_and(|arms| arms.iter().any(|(_, body)| names_a_row(body)))
    }

    /// The texts that an expression or an item makes.
    fn find(&self, tokens: &[Token], found: &mut Vec<String>) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match (token, tokens.get(at + 1), tokens.get(at + 2)) {
                (Token::Word(word), Some(Token::Sign('!')), Some(Token::Word(_)))
                    if word == "macro_rules" =>
                {
                    at += 3;
                }
                (Token::Word(name), Some(Token::Sign('!')), Some(Token::Group(arguments))) => {
                    match name.as_str() {
                        "select" | "joined" => found.push(self.evaluate(tokens.get(at..at + 3).unwrap())),
                        _ => match self.expand(name, arguments) {
                            Some(expanded) => self.find(&expanded, found),
                            None if self.makes_texts(name) => panic!("{name}!({arguments:?})"),
                            None => self.find(arguments, found),
                        },
                    }
                    at += 2;
                }
                (Token::Group(group), ..) => self.find(group, found),
                _ => {}
            }
            at += 1;
        }
    }
}

fn names_a_row(tokens: &[Token]) -> bool {
    let names = |token: &Token| match token {
        Token::Word(word) => ["select", "joined", "COLUMNS"].contains(&word.as_str()),
        Token::Group(group) => names_a_row(group),
        _ => false,
    };
    tokens.iter().any(names)
}

fn read_arms(tokens: &[Token]) -> Vec<Arm> {
    let arms = tokens.windows(4).filter_map(|window| match window {
        [Token::Group(pattern), Token::Sign('='), Token::Sign('>'), Token::Group(body)] => {
            Some((pattern.clone(), body.clone()))
        }
        _ => None,
    });
    arms.collect()
}

/// The columns of a row's fields, with commas between.
fn columns(fields: &[Token]) -> Vec<Token> {
    let mut columns = Vec::new();
    for field in split(fields) {
        let equals = field.iter().position(|token| *token == Token::Sign('=')).unwrap();
        columns.extend(field.get(equals + 1..).unwrap().iter().cloned().chain([Token::Sign(',')]));
    }
    columns
}

/// The parts between commas.
fn split(tokens: &[Token]) -> Vec<&[Token]> {
    // A generic type has commas too, but only before the value of a field.
    let mut parts: Vec<&[Token]> = Vec::new();
    let (mut from, mut depth) = (0, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('<') => depth += 1,
            Token::Sign('>') => depth -= 1,
            Token::Sign(',') if depth == 0 => {
                parts.push(&tokens[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[from..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// What each `$name:kind` of a pattern stands for, where it fits.
fn bind<'a>(pattern: &'a [Token], arguments: &[Token]) -> Option<HashMap<&'a str, Token>> {
    let (mut bound, mut arguments) = (HashMap::new(), arguments.iter());
    let mut pattern = pattern.iter();
    while let Some(token) = pattern.next() {
        let argument = arguments.next()?;
        match token {
            Token::Sign('$') => {
                let Some(Token::Word(name)) = pattern.next() else { return None };
                pattern.nth(1)?;
                bound.insert(name.as_str(), argument.clone());
            }
            _ if token == argument => {}
            _ => return None,
        }
    }
    arguments.next().is_none().then_some(bound)
}

fn replace(body: &[Token], bound: &HashMap<&str, Token>) -> Vec<Token> {
    let (mut replaced, mut at) = (Vec::new(), 0);
    while let Some(token) = body.get(at) {
        replaced.push(match (token, body.get(at + 1)) {
            (Token::Sign('$'), Some(Token::Word(name))) if bound.contains_key(name.as_str()) => {
                at += 1;
                bound[name.as_str()].clone()
            }
            (Token::Group(group), _) => Token::Group(replace(group, bound)),
            _ => token.clone(),
        });
        at += 1;
    }
    replaced
}

fn sources(folder: &Path, into: &mut Vec<(String, Vec<Token>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if !path.ends_with("db/row.rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            into.push((path.display().to_string(), tokens(&mut source.chars().peekable())));
        }
    }
}

/// Every text, with the file that makes it.
fn texts() -> Vec<(String, String)> {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut found = Vec::new();
    for (path, tokens) in &files {
        // What a file defines itself comes last and so takes the place of what others call the same.
        let mut definitions = Definitions::default();
        files.iter().for_each(|(_, others)| definitions.read(others));
        definitions.read(tokens);
        let mut texts = Vec::new();
        definitions.find(tokens, &mut texts);
        // Tests within the sources ask how a statement is carried out.
        texts.retain(|text| !text.starts_with("EXPLAIN"));
        found.extend(texts.into_iter().map(|text| (path.clone(), text)));
    }
    found
}

/// Lists are arrays or JSON, which each database takes apart in its own words.
fn dialect_of(text: &str) -> Option<Dialect> {
    let only = |word: &str, dialect| text.contains(word).then_some(dialect);
    only("json_each(", Dialect::Sqlite)
        .or(only("json_array_elements_text(", Dialect::Postgres))
        .or(only("= ANY($", Dialect::Postgres))
}

fn prepare(tx: &mut dyn Tx, number: usize, text: &str) -> Result<()> {
    if dialect_of(text).is_some_and(|only| only != tx.dialect()) {
        return Ok(());
    }
    match tx.dialect() {
        Dialect::Sqlite => {
            let values = (1..=40).rev().find(|n| text.contains(&format!("${n}"))).unwrap_or_default();
            let explain = Box::leak(format!("EXPLAIN {text}").into_boxed_str());
            tx.each(explain, &vec![Param::Int(None); values], &mut |_| Ok(()))
        }
        // The server finds out of which types the values are, except where it only reads that one may be missing.
        Dialect::Postgres => {
            let typed = (1..=40).fold(text.to_owned(), |text, n| {
                let known = text.replace(&format!("${n} IS NULL OR "), "");
                known.replace(&format!("${n} IS NULL"), &format!("CAST(${n} AS TEXT) IS NULL"))
            });
            let prepare = Box::leak(format!("PREPARE text_{number} AS {typed}").into_boxed_str());
            tx.run(prepare, &[]).map(|_| ())
        }
    }
}

#[test]
fn both_databases_take_every_text_that_is_made_of_a_row() {
    let texts = texts();
    assert!(texts.len() >= 100, "only {} texts were found", texts.len());
    let check = |store: &Store| {
        for (number, (path, text)) in texts.clone().into_iter().enumerate() {
            let prepared = store.write_now(move |tx| {
                let dialect = tx.dialect();
                prepare(tx, number, &text).map_err(|problem| {
                    let message =
                        format!("{dialect:?} does not take what {path} makes: {text}: {}", problem.message);
                    capsid_model::problem::Problem::new(problem.code, message)
                })
            });
            prepared.unwrap_or_else(|problem| panic!("{problem}"));
        }
    };
    let folder = tempfile::tempdir().unwrap();
    check(&Store::open(&StoreOptions::new(folder.path(), None), Time(1)).unwrap());
    let database = TestPostgres::database();
    check(&Store::open(&StoreOptions::new(folder.path(), Some(database.url.clone())), Time(1)).unwrap());
}
