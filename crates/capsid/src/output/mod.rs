//! How things are printed: data on stdout, talk on stderr, colour on a terminal only.

pub mod progress;

use anstyle::{AnsiColor, Style};
use capsid_model::text::{inert, is_invisible};
use capsid_model::{Code, Problem, Result, Value, json};
use clap::ValueEnum;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Something that went well.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Something that did not.
pub const BAD: Style = AnsiColor::Red.on_default();
/// Something to look at.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// A name.
pub const NAME: Style = AnsiColor::Cyan.on_default();
/// A heading.
pub const HEAD: Style = Style::new().bold();
/// Something of less weight.
pub const DIM: Style = Style::new().dimmed();

/// When to use colour.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Makes the choice hold for everything printed.
    pub fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// Whether results are printed as JSON. Like the colour it is decided once, by the command line.
static JSON: AtomicBool = AtomicBool::new(false);

/// Makes the choice of JSON hold for everything printed.
pub fn set_json(is_json: bool) {
    JSON.store(is_json, Ordering::Relaxed);
}

/// Whether results are printed as JSON for programs.
pub fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// A text in a style; the stream drops the style where there is no terminal.
pub fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints data. A reader that went away is no error.
pub fn print(text: &str) {
    write_out(anstream::stdout().lock(), text);
}

fn write_out(mut stream: impl Write, text: &str) {
    let written = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            talk(format_args!(
                "{}: The output could not be written: {error}.",
                paint(BAD.bold(), "error[io_error]")
            ));
            std::process::exit(2);
        }
    }
}

/// Prints a line of data.
pub fn line(text: impl Display) {
    print(&format!("{text}\n"));
}

/// Prints a JSON document: on one line for a program, indented for a person.
pub fn document(value: &Value) {
    let text = if std::io::stdout().is_terminal() {
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    };
    json_line(&text.unwrap_or_default());
}

/// Prints a JSON text: to the byte for a program, unable to act for a terminal.
pub fn json_line(text: &str) {
    // Not the stream for talk, which drops characters that could be part of a style.
    let stream = std::io::stdout();
    let text = if stream.is_terminal() { inert_json(text) } else { text.to_owned() };
    write_out(stream.lock(), &format!("{text}\n"));
}

/// Prints a text to the byte, with nothing after it, so that it can be hashed; on a terminal it cannot act.
pub fn exact(text: &str) {
    let stream = std::io::stdout();
    let text = if stream.is_terminal() { format!("{}\n", inert_json(text)) } else { text.to_owned() };
    write_out(stream.lock(), &text);
}

/// Prints lines to the byte; on a terminal they cannot act, and end as lines do there.
pub fn lines(text: &str) {
    let stream = std::io::stdout();
    let text = if stream.is_terminal() { inert_json(&text.replace("\r\n", "\n")) } else { text.to_owned() };
    write_out(stream.lock(), &text);
}

/// A JSON text with every character escaped that would act on a terminal or hide; it still says the same.
pub fn inert_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' && (c.is_control() || is_invisible(c)) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Says something to the person at the terminal.
pub fn talk(text: impl Display) {
    // Nobody listening is no reason to stop.
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// The path of an output file, which is given by its place or by `--out`.
pub fn named_path<'a>(file: Option<&'a Path>, out: Option<&'a Path>) -> Result<&'a Path> {
    file.or(out).ok_or_else(|| {
        Problem::new(Code::UsageError, "No file to write was named.").fix("Name it, or give `--out PATH`.")
    })
}

/// Asks the person at the terminal a question. `what` is what needs the answer: where nobody can be asked, it is refused.
pub fn confirm(question: &str, what: &str) -> Result<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Problem::new(
            Code::UsageError,
            format!("{what} needs an answer, and nobody can be asked here."),
        )
        .fix("Add `--yes` if it is meant."));
    }
    talk(format_args!("{question} [y/N]"));
    let mut answer = String::new();
    std::io::BufRead::read_line(&mut stdin.lock(), &mut answer)
        .map_err(|error| Problem::new(Code::IoError, format!("The answer could not be read: {error}.")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Prints a problem and gives its exit status.
pub fn problem(problem: &Problem) -> ExitCode {
    if is_json() {
        document(&json!({"ok": false, "error": problem.to_json()}));
    }
    complain(problem);
    ExitCode::from(problem.code.exit_status())
}

/// Prints a problem for the person at the terminal.
pub fn complain(problem: &Problem) {
    let code = paint(BAD.bold(), format_args!("error[{}]", problem.code));
    talk(format_args!("{code}: {}", inert(&problem.message)));
    print_fix(problem);
}

/// Prints a problem that stops nothing.
pub fn caution(what: &str, problem: &Problem) {
    talk(format_args!("{} {}", paint(WARN, format_args!("{what}:")), inert(&problem.message)));
    print_fix(problem);
}

/// Prints what to do about a problem.
pub fn print_fix(problem: &Problem) {
    if let Some(fix) = &problem.fix {
        talk(format_args!("  {} {}", paint(NAME, "fix:"), inert(fix)));
    }
}

/// Prints help or a usage error as the argument parser worded it.
pub fn usage(error: &clap::Error) -> ExitCode {
    // Printing fails only when nobody reads it.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

/// Rows in columns as wide as their content; the last column is left to run.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns)
        .map(|at| rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max().unwrap_or_default())
        .collect();
    let mut out = String::new();
    for row in rows {
        let mut text = String::new();
        for (at, cell) in row.iter().enumerate() {
            text.push_str(cell);
            if at + 1 < row.len() {
                text.push_str(&" ".repeat(widths[at].saturating_sub(width(cell)) + 2));
            }
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

/// Lines that are no longer than the terminal is wide; as they are where there is none.
pub fn fit_terminal(text: &str) -> String {
    let size = if std::io::stdout().is_terminal() { terminal_size::terminal_size() } else { None };
    match size {
        Some((columns, _)) => {
            text.split_inclusive('\n').map(|line| fit_line(line, usize::from(columns.0))).collect()
        }
        None => text.to_owned(),
    }
}

/// Cuts a line to so many columns. Styles take none, and end with the line.
fn fit_line(line: &str, columns: usize) -> String {
    let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
    if width(text) <= columns {
        return line.to_owned();
    }
    let (mut out, mut used, mut in_style) = (String::new(), 1, false);
    for c in text.chars() {
        if c == '\x1b' || in_style {
            in_style = c != 'm';
        } else {
            used += if is_wide(c) { 2 } else { 1 };
            if used > columns {
                break;
            }
        }
        out.push(c);
    }
    format!("{out}…\x1b[0m{end}")
}

/// The columns a text takes on a terminal: styles take none, wide characters two.
fn width(text: &str) -> usize {
    let plain = anstream::adapter::strip_str(text).to_string();
    plain.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_to_the_columns_there_are() {
        assert_eq!(fit_line("short\n", 5), "short\n");
        assert_eq!(fit_line("a longer line\n", 8), "a longe…\x1b[0m\n");
        let styled = format!("{} after", paint(NAME, "name"));
        assert_eq!(fit_line(&styled, 10), styled);
        assert_eq!(width(&fit_line(&styled, 6)), 6);
        assert_eq!(width(&fit_line("購物車總價", 6)), 5, "half a wide character is none");
    }
}
