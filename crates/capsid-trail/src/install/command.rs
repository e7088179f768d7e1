//! The command that a tool runs: how it is written, and how ours is distinguished from others.

use super::CommandSyntax;
use capsid_transcript::Tool;

/// How the programs of the reference tool are named.
const REFERENCE: [&str; 2] = ["agent-capsule-", "claude-capsule"];

/// The command as one line for a shell.
pub(super) fn line(words: &[String], os: CommandSyntax) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote(word, os)).collect();
    quoted.join(" ")
}

/// Windows' tools run hooks with one of several shells; slashes and double quotes mean the same to all of them.
fn quote(word: &str, os: CommandSyntax) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    match os {
        CommandSyntax::Windows => {
            let word = word.replace('\\', "/");
            if !word.is_empty() && word.chars().all(plain) { word } else { format!("\"{word}\"") }
        }
        CommandSyntax::Unix if !word.is_empty() && word.chars().all(plain) => word.to_owned(),
        CommandSyntax::Unix => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// A word for PowerShell.
pub(super) fn quote_powershell(word: &str) -> String {
    format!("'{}'", word.replace('\'', "''"))
}

/// Whether a line runs our hook for the tool, wherever the program is installed and whatever follows.
pub(super) fn is_ours(line: &str, tool: Tool) -> bool {
    are_ours(&split(line), tool)
}

/// The same for a command that is already split.
pub(super) fn are_ours(words: &[String], tool: Tool) -> bool {
    call_us(words, ["trail", "hook", tool.name()])
}

/// Whether a line has us recall what is proven when the tool begins a session.
pub(super) fn is_start(line: &str, tool: Tool) -> bool {
    call_us(&split(line), ["recall", "--hook", tool.name()])
}

fn call_us(words: &[String], arguments: [&str; 3]) -> bool {
    words.windows(4).any(|words| is_program(&words[0]) && words[1..].iter().eq(arguments))
}

/// Whether a path or name is that of this program.
pub(super) fn is_program(word: &str) -> bool {
    file_name(word).eq_ignore_ascii_case("capsid")
}

/// Whether a line runs a program of the reference tool.
pub(super) fn is_reference(line: &str) -> bool {
    split(line).iter().any(|word| REFERENCE.iter().any(|name| file_name(word).starts_with(name)))
}

/// A path's last part, without Windows' ending of programs.
fn file_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let ending = name.len().saturating_sub(4);
    match name.get(ending..) {
        Some(end) if end.eq_ignore_ascii_case(".exe") => &name[..ending],
        _ => name,
    }
}

/// The words of a line. Only names are looked at, so a backslash counts as a path's and not as a shell's.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            (None | Some('"'), '\\') if matches!(chars.peek(), Some('\'' | '"')) => {
                word.get_or_insert_default().extend(chars.next());
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_written_line_reads_back_as_its_words() {
        for program in
            ["/usr/bin/capsid", "/my tools/capsid", "/it's/capsid", "/a\"b/capsid", "/$HOME;`x`/ü/capsid"]
        {
            let given = words(&[program, "trail", "hook", "cursor"]);
            let line = line(&given, CommandSyntax::Unix);
            assert_eq!(split(&line), given, "{line}");
            assert!(is_ours(&line, Tool::Cursor));
            assert!(!is_ours(&line, Tool::Cline));
        }
        let given = words(&[r"C:\My Tools\capsid.exe", "trail", "hook", "cline"]);
        assert_eq!(line(&given, CommandSyntax::Windows), r#""C:/My Tools/capsid.exe" trail hook cline"#);
        assert!(is_ours(&line(&given, CommandSyntax::Windows), Tool::Cline));
    }

    #[test]
    fn ours_is_known_by_its_name_and_not_by_its_place() {
        for line in [
            "capsid trail hook codex",
            r"C:\tools\Capsid.EXE trail hook codex",
            "FOO=1 '/a b/capsid'  trail hook codex --home /x",
        ] {
            assert!(is_ours(line, Tool::Codex), "{line}");
        }
        for line in [
            "",
            "capsid",
            "trail hook codex",
            "notcapsid trail hook codex",
            "echo 'capsid trail hook codex'",
            "capsid trail hook codexx",
        ] {
            assert!(!is_ours(line, Tool::Codex), "{line}");
        }
    }

    #[test]
    fn the_reference_tool_is_known() {
        assert!(is_reference("agent-capsule-claude-hook"));
        assert!(is_reference("/opt/x/bin/agent-capsule-cursor-hook --finalize"));
        assert!(is_reference("claude-capsule-hook"));
        assert!(!is_reference("my-agent-capsule-hook"));
    }
}
