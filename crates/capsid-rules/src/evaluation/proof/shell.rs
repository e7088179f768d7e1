//! A command line taken apart, as far as one must to see what it runs. Tolerant: this judges, it runs nothing.

use std::iter::Peekable;
use std::str::Chars;

/// How a step follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepJoin {
    /// In a new line, or after `;` or `&`.
    Then,
    /// After `&&`.
    And,
    /// After `||`.
    Or,
    /// After `|`.
    Pipe,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellStep {
    pub join: StepJoin,
    /// Its words without quotes and redirections.
    pub words: Vec<String>,
}

impl ShellStep {
    fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Whether it belongs to a loop or a condition, which are not looked into.
    pub fn is_control_flow(&self) -> bool {
        const WORDS: [&str; 14] = [
            "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "!",
            "{",
        ];
        WORDS.contains(&self.program()) || self.program().starts_with('(')
    }

    /// Whether it makes the shell stop at the first error.
    pub fn stops_at_errors(&self) -> bool {
        self.program() == "set" && self.words.iter().any(|word| word.starts_with("-e") || word == "errexit")
    }

    /// Whether it ends with a result from before, as `exit $?` does.
    pub fn passes_status(&self) -> bool {
        self.program() == "exit" && self.words.get(1).is_some_and(|code| code.starts_with('$'))
    }

    /// Whether it passes whatever happens.
    pub fn always_passes(&self) -> bool {
        match self.program() {
            "echo" | "printf" | "true" | ":" | "yes" => true,
            "exit" => self.words.get(1).is_none_or(|code| code == "0"),
            _ => false,
        }
    }
}

/// The steps of a command line.
pub fn split(command: &str) -> Vec<ShellStep> {
    let mut reader =
        ShellReader { steps: Vec::new(), join: StepJoin::Then, words: Vec::new(), word: None, skip: false };
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        reader.consume(c, &mut chars);
    }
    reader.end_step(StepJoin::Then);
    reader.steps
}

struct ShellReader {
    steps: Vec<ShellStep>,
    join: StepJoin,
    words: Vec<String>,
    word: Option<String>,
    /// The next word is where output goes or input comes from.
    skip: bool,
}

impl ShellReader {
    fn consume(&mut self, c: char, chars: &mut Peekable<Chars<'_>>) {
        match c {
            '\'' => self.word().extend(chars.by_ref().take_while(|c| *c != '\'')),
            '"' => self.double_quoted(chars),
            '\\' => {
                if let Some(escaped) = chars.next().filter(|c| *c != '\n') {
                    self.word().push(escaped);
                }
            }
            '#' if self.word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
            '>' | '<' => {
                self.word.take_if(|word| word.chars().all(|c| c.is_ascii_digit() || c == '&'));
                self.end_word();
                while chars.next_if(|c| matches!(c, '>' | '<' | '&')).is_some() {}
                self.skip = true;
            }
            '&' if chars.next_if_eq(&'&').is_some() => self.end_step(StepJoin::And),
            '|' if chars.next_if_eq(&'|').is_some() => self.end_step(StepJoin::Or),
            '|' => self.end_step(StepJoin::Pipe),
            ';' | '\n' => self.end_step(StepJoin::Then),
            '&' if chars.peek() != Some(&'>') => self.end_step(StepJoin::Then),
            c if c.is_whitespace() => self.end_word(),
            c => self.word().push(c),
        }
    }

    fn double_quoted(&mut self, chars: &mut Peekable<Chars<'_>>) {
        self.word();
        while let Some(c) = chars.next() {
            match c {
                '"' => return,
                '\\' if chars.peek().is_some_and(|c| matches!(c, '"' | '\\' | '$' | '`')) => {
                    let escaped = chars.next();
                    self.word().extend(escaped);
                }
                c => self.word().push(c),
            }
        }
    }

    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            if self.skip {
                self.skip = false;
            } else {
                self.words.push(word);
            }
        }
    }

    fn end_step(&mut self, next: StepJoin) {
        self.end_word();
        self.skip = false;
        if !self.words.is_empty() {
            self.steps.push(ShellStep { join: self.join, words: std::mem::take(&mut self.words) });
        }
        self.join = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(command: &str) -> Vec<(StepJoin, String)> {
        split(command).into_iter().map(|step| (step.join, step.words.join("·"))).collect()
    }

    #[test]
    fn quotes_operators_redirections_and_comments() {
        use StepJoin::{And, Or, Pipe, Then};
        let expect = |list: &[(StepJoin, &str)]| {
            list.iter().map(|(join, words)| (*join, (*words).to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(
            steps("node -e \"a('b;c') && \\\"d\\\"\""),
            expect(&[(Then, "node·-e·a('b;c') && \"d\"")])
        );
        assert_eq!(
            steps("a && b || c; d | e # f"),
            expect(&[(Then, "a"), (And, "b"), (Or, "c"), (Then, "d"), (Pipe, "e")])
        );
        assert_eq!(steps("a b > /dev/null 2>&1 && c"), expect(&[(Then, "a·b"), (And, "c")]));
        assert_eq!(steps("a 'unclosed"), expect(&[(Then, "a·unclosed")]));
        assert_eq!(steps(" # nothing"), expect(&[]));
    }
}
