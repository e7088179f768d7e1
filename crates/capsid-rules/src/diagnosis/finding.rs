//! What a tool's rule found, before masks are applied to it.

use super::diagnostic::{Diagnostic, DiagnosticRole, ProblemClass};
use super::errno::{self, SystemError};
use super::frames::{StackFrame, file_name};
use super::lines::{Line, LineLevel};
use super::mask::{MaskOptions, mask_message, show_symbols};

/// The lines that rules read. Where lines were dropped, an empty line stands.
pub(crate) struct LogView<'l> {
    lines: &'l [Line],
}

impl<'l> LogView<'l> {
    pub(crate) fn new(lines: &'l [Line]) -> Self {
        Self { lines }
    }

    pub(crate) fn lines(&self) -> &'l [Line] {
        self.lines
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn line(&self, at: usize) -> Option<&'l Line> {
        self.lines.get(at)
    }

    /// The text of a line; empty beyond the end.
    pub(crate) fn text(&self, at: usize) -> &'l str {
        self.lines.get(at).map_or("", |line| line.text.as_str())
    }

    /// The text without a leading `[ERROR] `.
    pub(crate) fn body(&self, at: usize) -> &'l str {
        self.lines.get(at).map_or("", Line::body)
    }

    pub(crate) fn is_error(&self, at: usize) -> bool {
        self.lines.get(at).is_some_and(|line| line.level == LineLevel::Error)
    }

    /// The first of the next lines for which a rule gives something, with its index.
    pub(crate) fn find_after<T>(
        &self,
        at: usize,
        within: usize,
        rule: impl Fn(&'l str) -> Option<T>,
    ) -> Option<(usize, T)> {
        (at + 1..=(at + within).min(self.lines.len().saturating_sub(1)))
            .find_map(|index| rule(self.text(index)).map(|value| (index, value)))
    }

    /// The nearest earlier line for which a rule gives something.
    pub(crate) fn find_before<T>(
        &self,
        at: usize,
        within: usize,
        rule: impl Fn(&'l str) -> Option<T>,
    ) -> Option<(usize, T)> {
        (at.saturating_sub(within)..at)
            .rev()
            .find_map(|index| rule(self.text(index)).map(|value| (index, value)))
    }

    /// The last of the lines that follow and belong to a block.
    pub(crate) fn end_of(&self, at: usize, within: usize, belongs: impl Fn(&str) -> bool) -> usize {
        let mut last = at;
        while last < at + within && last + 1 < self.lines.len() && belongs(self.text(last + 1)) {
            last += 1;
        }
        last
    }
}

/// A diagnostic in the making.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub tool: String,
    pub family: String,
    pub code: Option<String>,
    pub class: ProblemClass,
    /// With marks around symbols.
    pub message: String,
    /// The text, where it is not the masked message.
    pub text: Option<String>,
    pub values: bool,
    pub test: Option<String>,
    pub frame: Option<String>,
    pub place: Option<String>,
    pub line: Option<u32>,
    pub role: DiagnosticRole,
    /// Indices of lines.
    pub first: usize,
    pub last: usize,
    pub plain: Option<String>,
    /// Lines that are read and say nothing is wrong.
    pub is_noise: bool,
}

impl Finding {
    pub(crate) fn new(tool: &str, family: &str, class: ProblemClass, at: usize) -> Self {
        Self {
            tool: tool.to_owned(),
            family: family.to_owned(),
            code: None,
            class,
            message: String::new(),
            text: None,
            values: false,
            test: None,
            frame: None,
            place: None,
            line: None,
            role: DiagnosticRole::Cause,
            first: at,
            last: at,
            plain: None,
            is_noise: false,
        }
    }

    /// Lines that no other rule shall read.
    pub(crate) fn noise(first: usize, last: usize) -> Self {
        let mut finding = Self::new("", "", ProblemClass::UnknownError, first);
        finding.last = last;
        finding.is_noise = true;
        finding
    }

    pub(crate) fn code(mut self, code: impl Into<String>) -> Self {
        let code = code.into();
        self.code = (!code.is_empty()).then_some(code);
        self
    }

    pub(crate) fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    pub(crate) fn values(mut self, values: bool) -> Self {
        self.values = values;
        self
    }

    pub(crate) fn test(mut self, test: impl Into<String>) -> Self {
        let test = test.into();
        self.test = (!test.is_empty()).then_some(test);
        self
    }

    pub(crate) fn file(mut self, path: &str) -> Self {
        self.place = file_name(path);
        self
    }

    pub(crate) fn position(mut self, path: &str, line: Option<u32>) -> Self {
        self.place = file_name(path);
        self.line = line;
        self
    }

    /// The topmost in-app frame.
    pub(crate) fn at_frame(mut self, frame: Option<&StackFrame>) -> Self {
        if let Some(frame) = frame {
            self.frame.clone_from(&frame.function);
            self.place = frame.place();
            self.line = frame.line;
        }
        self
    }

    pub(crate) fn role(mut self, role: DiagnosticRole) -> Self {
        self.role = role;
        self
    }

    pub(crate) fn until(mut self, last: usize) -> Self {
        self.last = last.max(self.first);
        self
    }

    /// Gives a system error its one form, whatever language it was printed by.
    pub(crate) fn or_system(mut self) -> Self {
        let kind = self.code.clone().unwrap_or_default();
        if let Some(error) = errno::classify(&kind, &self.message) {
            self.apply_system(error);
        } else if let Some(class) = class_by_words(&kind, &self.message) {
            self.class = class;
        }
        self
    }

    pub(crate) fn apply_system(&mut self, error: SystemError) {
        self.family = error.family.to_owned();
        self.code = Some(error.code);
        self.class = error.class;
        self.text = error.text;
        self.plain = None;
    }

    /// Applies the masks.
    pub(crate) fn into_diagnostic(self, lines: &[Line]) -> Diagnostic {
        let options =
            MaskOptions { values: self.values, keep_major: self.class == ProblemClass::DependencyError };
        let masked = mask_message(&self.message, options);
        let number = |index: usize| lines.get(index).map_or(index + 1, |line| line.number);
        let (text, template, symbols) = match self.text {
            Some(text) => (text.clone(), text, masked.symbols),
            None => (masked.text, masked.template, masked.symbols),
        };
        Diagnostic {
            tool: self.tool,
            family: self.family,
            code: self.code,
            class: self.class,
            message: show_symbols(self.message.trim()),
            text,
            template,
            symbols,
            test: self.test.map(|test| test.trim().to_owned()).filter(|test| !test.is_empty()),
            frame: self.frame,
            place: self.place,
            line: self.line,
            role: self.role,
            first_line: number(self.first),
            last_line: number(self.last),
            count: 1,
            plain: self.plain,
        }
    }
}

/// Exceptions whose names or words say what kind of problem they are.
pub(crate) fn class_by_words(kind: &str, message: &str) -> Option<ProblemClass> {
    let has = |words: &[&str]| words.iter().any(|word| kind.contains(word) || message.contains(word));
    if has(&[
        "OutOfMemory",
        "MemoryError",
        "heap out of memory",
        "Java heap space",
        "bad_alloc",
        "out of memory",
        "Allowed memory size",
        "NoMemoryError",
        "StackOverflowError: out",
    ]) {
        return Some(ProblemClass::OutOfMemory);
    }
    if has(&[
        "deadline exceeded",
        "DeadlineExceeded",
        "TimeoutError",
        "TimeoutException",
        "timed out",
        "Timeout exceeded",
        "ReadTimeout",
        "ConnectTimeout",
    ]) {
        return Some(ProblemClass::Timeout);
    }
    None
}
