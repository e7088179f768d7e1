//! The fenced blocks of a Markdown page, and the commands in those that are marked `console`.

/// A fenced block.
pub struct Block {
    /// What is behind the fence, such as `console no_run`.
    pub info: String,
    /// The number of its first line in the page, from 0; the fence is before it.
    pub start: usize,
    pub lines: Vec<String>,
}

/// A command of a `console` block, and what the page says that it does.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    /// As it is typed. It has several lines where one ends with `\` or a heredoc follows.
    pub command: String,
    /// The exit status: 0, or that of a line such as `? 1`.
    pub status: i32,
    /// The lines of the page that show the output, as numbers from 0.
    pub shown: std::ops::Range<usize>,
    pub output: Vec<String>,
}

impl Block {
    /// Whether its commands are run.
    pub fn is_console(&self) -> bool {
        self.info == "console"
    }

    /// Whether its commands are those of other programs or machines.
    pub fn is_not_run(&self) -> bool {
        self.info == "console no_run"
    }

    /// Its commands. Panics where the block does not begin with one.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let mut at = 0;
        while at < self.lines.len() {
            let line = &self.lines[at];
            if let Some(first) = line.strip_prefix("$ ") {
                let length = command_length(&self.lines[at..], first);
                let rest = &self.lines[at + 1..at + length];
                let command = std::iter::once(first).chain(rest.iter().map(String::as_str));
                at += length;
                let next = self.start + at;
                let command = command.collect::<Vec<_>>().join("\n");
                steps.push(Step { command, status: 0, shown: next..next, output: Vec::new() });
                continue;
            }
            let step = steps.last_mut().unwrap_or_else(|| panic!("no command stands before `{line}`"));
            match line.strip_prefix("? ").and_then(|status| status.parse().ok()) {
                Some(status) if step.output.is_empty() => {
                    step.status = status;
                    step.shown = self.start + at + 1..self.start + at + 1;
                }
                _ => {
                    step.output.push(line.clone());
                    step.shown.end += 1;
                }
            }
            at += 1;
        }
        steps
    }
}

/// How many lines a command has.
fn command_length(lines: &[String], first: &str) -> usize {
    let mut length = 1;
    while lines[length - 1].ends_with('\\') && length < lines.len() {
        length += 1;
    }
    let Some((_, word)) = first.split_once("<<") else { return length };
    let word: String = word.trim_start_matches('\'').chars().take_while(char::is_ascii_uppercase).collect();
    let end =
        lines.iter().position(|line| *line == word).unwrap_or_else(|| panic!("`{first}` has no {word}"));
    end + 1
}

/// The fenced blocks of a page, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                open = Some(Block { info: info.to_owned(), start: number + 1, lines: Vec::new() });
            }
            (Some(""), Some(_)) => blocks.extend(open.take()),
            (_, Some(block)) => block.lines.push(line.to_owned()),
            (_, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// Whether an output is the one that a page shows. `[..]` stands for anything in a line, a line `...` for any lines.
pub fn matches(shown: &[String], output: &[&str]) -> bool {
    match shown.split_first() {
        None => output.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=output.len()).any(|skipped| matches(rest, &output[skipped..]))
        }
        Some((first, rest)) => output
            .split_first()
            .is_some_and(|(line, others)| line_matches(first, line) && matches(rest, others)),
    }
}

fn line_matches(shown: &str, line: &str) -> bool {
    let mut parts = shown.trim_end().split("[..]");
    let Some(mut rest) = line.trim_end().strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[test]
fn a_console_block_is_read_into_commands_statuses_and_outputs() {
    let page =
        "text\n\n```console\n$ cat > a <<'END'\none\nEND\n$ false\n? 1\n$ echo a \\\n    b\na b\n```\n";
    let blocks = blocks(page);
    let steps = blocks[0].steps();
    let commands: Vec<&str> = steps.iter().map(|step| step.command.as_str()).collect();
    assert_eq!(commands, ["cat > a <<'END'\none\nEND", "false", "echo a \\\n    b"]);
    assert_eq!(steps.iter().map(|step| step.status).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!((&steps[2].output, steps[2].shown.clone()), (&vec!["a b".to_owned()], 10..11));
}

#[test]
fn an_output_matches_by_its_wildcards_and_nothing_else() {
    let shown = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert!(matches(&shown(&["run_[..] passed", "..."]), &["run_17 passed", "more", "and more"]));
    assert!(matches(&shown(&["...", "end"]), &["end"]));
    assert!(!matches(&shown(&["run_[..] passed"]), &["run_17 failed"]));
    assert!(!matches(&shown(&["a"]), &["a", "b"]) && !matches(&shown(&["a", "b"]), &["a"]));
    assert!(!line_matches("a[..]a", "a"));
}
