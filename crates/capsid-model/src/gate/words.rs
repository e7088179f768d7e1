//! The tokenizer: quotes as in a POSIX shell, and no expansion of any kind.

use super::{CommandRefusal, CommandRefusalCode};
use std::iter::Peekable;
use std::str::Chars;

/// Splits a command into words; an operator outside quotes is refused even behind a backslash.
pub fn split(command: &str) -> Result<Vec<String>, CommandRefusal> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' => single_quoted(&mut chars, word.get_or_insert_default())?,
            '"' => double_quoted(&mut chars, word.get_or_insert_default())?,
            '\\' => {
                let escaped = chars.next().ok_or_else(|| unbalanced('\\'))?;
                refuse_operator(escaped)?;
                word.get_or_insert_default().push(escaped);
            }
            c => {
                refuse_operator(c)?;
                word.get_or_insert_default().push(c);
            }
        }
    }
    words.extend(word);
    Ok(words)
}

fn single_quoted(chars: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), CommandRefusal> {
    for c in chars {
        if c == '\'' {
            return Ok(());
        }
        word.push(c);
    }
    Err(unbalanced('\''))
}

fn double_quoted(chars: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), CommandRefusal> {
    while let Some(c) = chars.next() {
        match c {
            '"' => return Ok(()),
            '\\' => word.push(chars.next_if(|c| matches!(c, '"' | '\\')).unwrap_or('\\')),
            c => word.push(c),
        }
    }
    Err(unbalanced('"'))
}

fn refuse_operator(c: char) -> Result<(), CommandRefusal> {
    if !matches!(c, ';' | '&' | '|' | '>' | '<') {
        return Ok(());
    }
    Err(CommandRefusal::new(
        CommandRefusalCode::ShellOperator,
        format!("The shell operator `{c}` stands outside quotes."),
    ))
}

fn unbalanced(mark: char) -> CommandRefusal {
    CommandRefusal::new(CommandRefusalCode::UnbalancedQuote, format!("The last {mark} has no partner."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_a_shell_would_pass_without_expansion() {
        let table: [(&str, &[&str]); 8] = [
            ("a b  c", &["a", "b", "c"]),
            ("a 'b c' \"d e\"", &["a", "b c", "d e"]),
            (r#"a "x\"y\\z\n""#, &["a", r#"x"y\z\n"#]),
            (r"a b\ c \'d", &["a", "b c", "'d"]),
            ("a '' \"\"", &["a", "", ""]),
            ("a b'c'\"d\"e", &["a", "bcde"]),
            ("a '\\' $HOME *", &["a", "\\", "$HOME", "*"]),
            ("a 'x\"y' \"x'y\"", &["a", "x\"y", "x'y"]),
        ];
        for (command, expected) in table {
            assert_eq!(split(command).unwrap(), expected, "{command}");
        }
    }

    #[test]
    fn a_mark_without_partner_is_refused() {
        for command in ["a 'b", "a \"b", "a \\", "a \"b\\\"", "a 'b\\' 'c"] {
            let code = split(command).unwrap_err().code;
            assert_eq!(code, CommandRefusalCode::UnbalancedQuote, "{command}");
        }
    }
}
