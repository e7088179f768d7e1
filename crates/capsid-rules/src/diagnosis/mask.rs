//! Masks: a message without what differs from run to run.

use super::pattern::Pattern;

/// Marks around a symbol that a tool's rule knows to be one.
const SYMBOL_START: char = '\u{f8f0}';
const SYMBOL_END: char = '\u{f8f1}';
/// Each part that is finished is one character from here on, so that no later step changes it.
const FIRST_TOKEN: u32 = 0xf_0000;
const LAST_TOKEN: u32 = 0xf_fff0;
const MAX_MESSAGE_CHARS: usize = 2_000;
const MAX_TEXT_CHARS: usize = 500;

/// Wraps a name that the tool prints without quotes.
pub(crate) fn symbol(name: &str) -> String {
    let name = name.trim();
    if name.is_empty() { String::new() } else { format!("{SYMBOL_START}{name}{SYMBOL_END}") }
}

/// The message as people read it: symbols in backquotes.
pub(crate) fn show_symbols(message: &str) -> String {
    message.replace([SYMBOL_START, SYMBOL_END], "`")
}

/// What kind of message is masked.
#[derive(Clone, Copy, Default)]
pub(crate) struct MaskOptions {
    /// An assertion: the test identifies the problem, values do not.
    pub values: bool,
    /// A dependency error: the major number of a version stays.
    pub keep_major: bool,
}

/// A masked message.
#[derive(Default)]
pub(crate) struct MaskedText {
    pub text: String,
    pub template: String,
    pub symbols: Vec<String>,
}

/// Finished parts, as text and as template.
#[derive(Default)]
struct Tokens {
    parts: Vec<(String, String)>,
    symbols: Vec<String>,
}

impl Tokens {
    fn put(&mut self, text: impl Into<String>, template: impl Into<String>) -> String {
        let text = text.into();
        match char::from_u32(FIRST_TOKEN + self.parts.len() as u32).filter(|c| (*c as u32) < LAST_TOKEN) {
            Some(token) => {
                self.parts.push((text, template.into()));
                token.to_string()
            }
            None => text,
        }
    }

    fn put_same(&mut self, text: &str) -> String {
        self.put(text, text)
    }

    fn put_symbol(&mut self, name: &str) -> String {
        let name = mask_numbers(&self.resolve(name, false));
        if !self.symbols.contains(&name) && !name.starts_with('<') {
            self.symbols.push(name.clone());
        }
        self.put(format!("`{name}`"), "<q>")
    }

    fn resolve(&self, text: &str, template: bool) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        for c in text.chars() {
            match (c as u32).checked_sub(FIRST_TOKEN).and_then(|at| self.parts.get(at as usize)) {
                Some((text, masked)) => out.push_str(if template { masked } else { text }),
                None => out.push(c),
            }
        }
        out
    }
}

static URL: Pattern = Pattern::new(r#"(?i)\b[a-z][a-z0-9+.-]*://[^\s'"<>)\]`,;]*"#);
static EMAIL: Pattern = Pattern::new(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b");
static TIME: Pattern = Pattern::new(
    r"(?x)
    \b[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}(?:[T\ ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]+)?(?:\ ?(?:Z|UTC|GMT)\b|[+-][0-9]{2}:?[0-9]{2}\b)?)?
    | \b[0-9]{1,2}/(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)/[0-9]{4}(?::[0-9:]+(?:\ [+-][0-9]{4})?)?
    | \b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\ )?(?:[0-9]{1,2}\ )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\ (?:[0-9]{1,2},?\ )?(?:[0-9]{4}\ )?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:\ [+-][0-9]{4}|\ (?:UTC|GMT))?(?:\ [0-9]{4})?\b
    | \b[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:\ ?[AP]M)?\b",
);
static ID: Pattern = Pattern::new(
    r"(?i)\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0x[0-9a-f]+|[0-9a-f]{7,64})\b",
);
static POD: Pattern = Pattern::new(r"\b([a-z][a-z0-9-]*?)-([a-z0-9]{8,10})-([a-z0-9]{5})\b");
static IP: Pattern = Pattern::new(r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?::([0-9]{1,5}))?\b");
static IP6: Pattern = Pattern::new(
    r"(?i)(^|[\s'\x22(=@/])(\[?)((?:[0-9a-f]{1,4}:){2,7}(?::?[0-9a-f]{1,4}|:)|::1|::(?:ffff:)?)(\]?)(?::([0-9]{1,5}))?($|[\s'\x22),;/])",
);
static HOST_PORT: Pattern = Pattern::new(
    r"\b(localhost|[A-Za-z0-9](?:[\w-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}|[a-z][a-z0-9-]*):([0-9]{2,5})\b",
);
static HOST: Pattern = Pattern::new(
    r"\b(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+(?:com|org|net|io|dev|internal|local|localdomain|invalid|example|cloud|test|svc|eu|de|uk|cn|co|app|ai|gov|edu|info|lan|corp)\b",
);
static PATH: Pattern = Pattern::new(
    r#"(^|[\s'"`(=,:;\[|‘“@])((?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.@+~%#$-]+)+[/\\]?)(?::[0-9]+(?::[0-9]+)?|\([0-9]+(?:,[0-9]+)?\)|:\[[0-9]+,[0-9]+\])?"#,
);
static RELATIVE: Pattern = Pattern::new(
    r#"(^|[\s'"`(=,:;\[|‘“])((?:[\w.@+-]+[/\\])+[\w.@+-]+)(?::[0-9]+(?::[0-9]+)?|\([0-9]+(?:,[0-9]+)?\)|:\[[0-9]+,[0-9]+\])?"#,
);
static FILE_POSITION: Pattern = Pattern::new(
    r"\b([\w-]+\.(?:rs|py|pyi|js|ts|tsx|jsx|mjs|cjs|mts|go|java|kt|kts|c|cc|cpp|cxx|h|hpp|cs|fs|vb|rb|php|swift|ex|exs|erl|sql|sh|ya?ml|json|toml|xml|html|s?css|vue|svelte|scala|hs|zig|dart|lua|pl|pm|R|md|tf|gradle|txt|conf|ini|cfg|log|proto))(?::[0-9]+(?::[0-9]+)?|\([0-9]+(?:,[0-9]+)?\))",
);
static VERSION: Pattern =
    Pattern::new(r"(^|[^\w.])(v|\^|~|==|=)?([0-9]+)\.[0-9]+\.[0-9]+(?:[-+.][0-9A-Za-z.+-]*[0-9A-Za-z])?\b");
static DURATION: Pattern = Pattern::new(
    r"(^|[^\w.])(?:[0-9]+(?:\.[0-9]+)?(?:[hms][0-9]+(?:\.[0-9]+)?)*[ ]?(?:ns|µs|us|ms|msec|milliseconds?|s|secs?|seconds?|mins?|minutes?|m|hrs?|hours?|h|days?|d))\b",
);
static SIZE: Pattern = Pattern::new(r"(^|[^\w.])[0-9]+(?:\.[0-9]+)?[ ]?(?:bytes?|[KMGTkmgt]i?[Bb]|B)\b");
static KEY_VALUE: Pattern = Pattern::new(r#"\b([A-Za-z_][\w.-]*)=([^\s,;)'"\]}&]*[0-9][^\s,;)'"\]}&]*)"#);
static ANGLE: Pattern = Pattern::new(r"<[^<>]{0,400}>");

/// Masks a message.
pub(crate) fn mask_message(message: &str, options: MaskOptions) -> MaskedText {
    let mut tokens = Tokens::default();
    let message: String = message
        .chars()
        .filter(|c| !(FIRST_TOKEN..=0x10_ffff).contains(&(*c as u32)))
        .take(MAX_MESSAGE_CHARS)
        .collect();
    let mut text = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if options.values {
        text = collapse_values(&text);
    }
    text = read_symbols(&text, &mut tokens);
    text = mask_network(&text, &mut tokens);
    text = mask_paths(&text);
    text = mask_quantities(&text, options, &mut tokens);
    text = mask_quotes(&text, options, &mut tokens);
    if options.values {
        text = ANGLE.replace_all(&text, |_| tokens.put_same("<s>"));
    }
    text = HOST.replace_all(&text, |groups| tokens.put(&groups[0], "<host>"));
    let text = mask_numbers(&text);
    let text = text.trim_end_matches(['.', ':', ',', ';', ' ', '…']).trim();
    let cut = |text: String| text.chars().take(MAX_TEXT_CHARS).collect::<String>();
    MaskedText {
        text: cut(tokens.resolve(text, false)),
        template: cut(tokens.resolve(text, true)),
        symbols: tokens.symbols,
    }
}

/// Symbols that the tool's rule marked become finished parts.
fn read_symbols(text: &str, tokens: &mut Tokens) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(SYMBOL_START) {
        out.push_str(before);
        let (name, tail) = after.split_once(SYMBOL_END).unwrap_or((after, ""));
        out.push_str(&tokens.put_symbol(name));
        rest = tail;
    }
    out.push_str(rest);
    out.replace(SYMBOL_END, "")
}

fn mask_network(text: &str, tokens: &mut Tokens) -> String {
    let mut text = text.to_owned();
    if text.contains("://") {
        text = URL.replace_all(&text, |groups| {
            let host = host_of_url(&groups[0]);
            if host.is_empty() {
                tokens.put_same("<url>")
            } else {
                tokens.put(format!("<url {host}>"), "<url>")
            }
        });
    }
    if text.contains('@') {
        text = EMAIL.replace_all(&text, |_| tokens.put_same("<email>"));
    }
    text = TIME.replace_all(&text, |_| tokens.put_same("<t>"));
    text = POD.replace_all(&text, |groups| {
        let has_digit = groups[2].bytes().any(|b| b.is_ascii_digit());
        if has_digit { format!("{}{}", &groups[1], tokens.put_same("-<id>")) } else { groups[0].to_owned() }
    });
    text = ID.replace_all(&text, |groups| {
        let id = &groups[0];
        let is_id = id.contains('-')
            || id.starts_with("0x")
            || id.starts_with("0X")
            || (id.bytes().any(|b| b.is_ascii_digit()) && id.bytes().any(|b| b.is_ascii_alphabetic()));
        if is_id { tokens.put_same("<id>") } else { id.to_owned() }
    });
    text = IP.replace_all(&text, |groups| {
        let address = groups[0].split(':').next().unwrap_or_default();
        let host = if matches!(address, "127.0.0.1" | "0.0.0.0") { "localhost" } else { "<ip>" };
        let port = groups.get(1).map_or(String::new(), |port| format!(":{}", mask_port(port.as_str())));
        tokens.put(format!("{host}{port}"), format!("{host}{port}"))
    });
    if text.contains("::") || text.matches(':').count() > 3 {
        text = IP6.replace_all(&text, |groups| {
            let local = matches!(&groups[3], "::1" | "::");
            let port = groups.get(5).map_or(String::new(), |port| format!(":{}", mask_port(port.as_str())));
            let host = tokens.put_same(&format!("{}{port}", if local { "localhost" } else { "<ip>" }));
            format!("{}{host}{}", &groups[1], &groups[6])
        });
    }
    HOST_PORT.replace_all(&text, |groups| {
        // `main.rs:12` is a position, not a host.
        if FILE_POSITION.is_match(&groups[0]) || groups[1].bytes().all(|b| b.is_ascii_digit()) {
            return groups[0].to_owned();
        }
        if !groups[1].contains('.') && &groups[1] != "localhost" && groups[2].len() < 4 {
            return groups[0].to_owned();
        }
        let port = mask_port(&groups[2]);
        tokens.put(format!("{}:{port}", &groups[1]), format!("<host>:{port}"))
    })
}

/// The host and a well-known port of a URL.
fn host_of_url(url: &str) -> String {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default().trim_end_matches(['.', ':', ',']);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
            (host, Some(port))
        }
        _ => (authority, None),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = match host {
        "127.0.0.1" | "0.0.0.0" | "::1" => "localhost",
        host if host.split('.').count() == 4 && host.bytes().all(|b| b.is_ascii_digit() || b == b'.') => {
            "<ip>"
        }
        host => host,
    };
    match port {
        Some(port) => format!("{host}:{}", mask_port(port)),
        None => host.to_owned(),
    }
}

/// A port that the system gave out says nothing.
fn mask_port(port: &str) -> String {
    if port.parse::<u32>().is_ok_and(|number| number < 32_768) { port.to_owned() } else { "<n>".to_owned() }
}

fn mask_paths(text: &str) -> String {
    let mut text = text.to_owned();
    if text.contains(['/', '\\']) {
        text = PATH.replace_all(&text, |groups| format!("{}{}", &groups[1], last_part(&groups[2])));
        text = RELATIVE.replace_all(&text, |groups| {
            if is_relative_path(&groups[2]) {
                format!("{}{}", &groups[1], last_part(&groups[2]))
            } else {
                groups[0].to_owned()
            }
        });
    }
    if text.contains(['(', ':']) {
        text = FILE_POSITION.replace_all(&text, |groups| groups[1].to_owned());
    }
    text
}

/// The last part of a path; `<tmp>` where that was made up for one run.
pub(crate) fn last_part(path: &str) -> String {
    let trimmed = path.trim_end_matches(['/', '\\']);
    let last = trimmed.rsplit(['/', '\\']).next().unwrap_or(trimmed);
    if is_random(last, trimmed) { "<tmp>".to_owned() } else { last.to_owned() }
}

fn is_random(last: &str, path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let temporary =
        ["/tmp/", "/var/folders/", "\\temp\\", "/temp/"].iter().any(|folder| lower.contains(folder));
    let stem = last.split('.').next().unwrap_or(last);
    let digits = stem.bytes().filter(u8::is_ascii_digit).count();
    let letters = stem.bytes().filter(u8::is_ascii_alphabetic).count();
    let upper = stem.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    if temporary {
        let made_up = stem.starts_with("tmp") || stem.starts_with("cc") || stem.starts_with("go-build");
        return stem.len() >= 6
            && letters > 0
            && ((digits > 0 && (made_up || upper || digits >= 3)) || (made_up && upper));
    }
    stem.len() >= 16 && digits >= 4 && letters >= 4 && !stem.contains(['-', '_'])
}

fn is_relative_path(path: &str) -> bool {
    if path.starts_with("./")
        || path.starts_with("../")
        || path.starts_with(".\\")
        || path.starts_with("..\\")
    {
        return true;
    }
    let last = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let has_extension = last.rsplit_once('.').is_some_and(|(stem, ext)| {
        !stem.is_empty() && (1..=8).contains(&ext.len()) && ext.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    if path.contains('\\') && !path.contains('/') {
        return has_extension;
    }
    let first = path.split('/').next().unwrap_or_default();
    let is_host = first.contains('.') && !first.starts_with('.');
    if first.starts_with('@') || (is_host && !has_extension) {
        return false;
    }
    has_extension || path.matches('/').count() >= 2
}

fn mask_quantities(text: &str, options: MaskOptions, tokens: &mut Tokens) -> String {
    let mut text = text.to_owned();
    if text.contains('=') {
        text = KEY_VALUE.replace_all(&text, |groups| {
            if groups[2].contains(|c| (c as u32) >= FIRST_TOKEN) || groups[2].starts_with('=') {
                return groups[0].to_owned();
            }
            let ends = groups[2].len() - groups[2].trim_end_matches([':', '.']).len();
            format!("{}={}{}", &groups[1], tokens.put_same("<id>"), &groups[2][groups[2].len() - ends..])
        });
    }
    text = VERSION.replace_all(&text, |groups| {
        let version = if options.keep_major { format!("{}.x", &groups[3]) } else { "<v>".to_owned() };
        format!("{}{}", &groups[1], tokens.put_same(&version))
    });
    text = SIZE.replace_all(&text, |groups| format!("{}{}", &groups[1], tokens.put_same("<size>")));
    DURATION.replace_all(&text, |groups| format!("{}{}", &groups[1], tokens.put_same("<d>")))
}

/// Quoted names become symbols, other quoted text `<s>`.
fn mask_quotes(text: &str, options: MaskOptions, tokens: &mut Tokens) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&open) = chars.get(at) {
        let before = at.checked_sub(1).and_then(|at| chars.get(at)).copied().unwrap_or(' ');
        let end = closing_quote(&chars, at, open, before);
        let Some(end) = end else {
            out.push(open);
            at += 1;
            continue;
        };
        let inner: String = chars.get(at + 1..end).unwrap_or_default().iter().collect();
        out.push_str(&mask_quoted(&inner, options, tokens));
        at = end + 1;
    }
    out
}

/// Where the quote that opens at a position ends.
fn closing_quote(chars: &[char], at: usize, open: char, before: char) -> Option<usize> {
    let closes: &[char] = match open {
        '"' => &['"'],
        '\'' => &['\''],
        '`' => &['`', '\''],
        '“' | '„' => &['”', '“'],
        '‘' => &['’'],
        '«' => &['»'],
        _ => return None,
    };
    if matches!(open, '\'' | '"') && before.is_alphanumeric() {
        return None;
    }
    let mut position = at + 1;
    while let Some(&c) = chars.get(position) {
        let after = chars.get(position + 1).copied().unwrap_or(' ');
        let escaped = chars.get(position - 1) == Some(&'\\') && position > at + 1;
        if closes.contains(&c) && !escaped && (c == '`' || c == '"' || !after.is_alphanumeric()) {
            return Some(position);
        }
        position += 1;
    }
    None
}

fn mask_quoted(inner: &str, options: MaskOptions, tokens: &mut Tokens) -> String {
    let is_token = |c: char| (c as u32) >= FIRST_TOKEN;
    let readable = inner.contains(|c: char| c.is_alphabetic() || is_token(c));
    let short = inner.chars().count() <= 80 && inner.matches(' ').count() <= 4;
    if options.values || !readable || !short {
        return tokens.put_same("<s>");
    }
    tokens.put_symbol(inner.trim())
}

/// Numbers that stand alone become `<n>`. Numbers in identifiers stay.
pub(crate) fn mask_numbers(text: &str) -> String {
    if !text.bytes().any(|b| b.is_ascii_digit()) {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len()
            && (bytes[at].is_ascii_digit()
                || (matches!(bytes[at], b'.' | b',') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)))
        {
            at += 1;
        }
        let before = start.checked_sub(1).map(|i| bytes[i]);
        let after = bytes.get(at).copied();
        let joined = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
        if joined(before)
            || (joined(after) && !is_exponent(&bytes[at..]))
            || before == Some(b'.') && start >= 2 && joined(Some(bytes[start - 2]))
        {
            continue;
        }
        let mut from = start;
        if before == Some(b'-') {
            let word_start =
                bytes[..start - 1].iter().rposition(|b| !b.is_ascii_alphanumeric()).map_or(0, |i| i + 1);
            let word = &text[word_start..start - 1];
            if word.is_empty() {
                from = start - 1;
            } else if is_named_number(word) {
                continue;
            }
        }
        while is_exponent(&bytes[at..]) {
            at += 1;
            while at < bytes.len() && (bytes[at].is_ascii_digit() || matches!(bytes[at], b'-' | b'+')) {
                at += 1;
            }
        }
        out.push_str(&text[copied..from]);
        out.push_str("<n>");
        copied = at;
    }
    out.push_str(&text[copied..]);
    out
}

fn is_exponent(rest: &[u8]) -> bool {
    matches!(rest, [b'e' | b'E', b'0'..=b'9', ..] | [b'e' | b'E', b'-' | b'+', b'0'..=b'9', ..])
}

/// Words that a number belongs to: `utf-8`, `sha-256`.
fn is_named_number(word: &str) -> bool {
    [
        "utf", "ucs", "sha", "iso", "aes", "rsa", "md", "base", "latin", "cp", "windows", "arm", "x86",
        "ascii", "ipv",
    ]
    .contains(&word.to_ascii_lowercase().as_str())
}

/// Lists and objects of an assertion hold values only.
fn collapse_values(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let close = match c {
            '[' => ']',
            '{' => '}',
            _ => {
                out.push(c);
                at += 1;
                continue;
            }
        };
        let mut depth = 0;
        let mut end = None;
        for (position, &inner) in chars.iter().enumerate().skip(at) {
            if inner == c {
                depth += 1;
            } else if inner == close {
                depth -= 1;
                if depth == 0 {
                    end = Some(position);
                    break;
                }
            }
        }
        out.push(c);
        match end {
            Some(end) if end > at + 1 => {
                out.push('…');
                out.push(close);
                at = end + 1;
            }
            // A list that is cut off has no other part that counts.
            None if chars.len() - at > 1 => {
                out.push('…');
                out.push(close);
                at = chars.len();
            }
            _ => at += 1,
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(message: &str) -> String {
        mask_message(message, MaskOptions::default()).text
    }

    #[test]
    fn what_differs_from_run_to_run_is_masked() {
        for (message, masked) in [
            ("GET https://api.example.org/v1/orders?page=3 failed", "GET <url api.example.org> failed"),
            ("mail to ann@example.org bounced", "mail to <email> bounced"),
            ("at 2026-11-02T10:02:11.120Z and 10:02:11", "at <t> and <t>"),
            (
                "run 8c1d2f7a-5a8e-4f0b-9f2e-0d6f1c0a7b11 at 0xdeadbeef in 5f0c1d7be2",
                "run <id> at <id> in <id>",
            ),
            ("pod web-7d9f8b6c5-x2x9k died", "pod web-<id> died"),
            ("127.0.0.1:5432 and 10.0.3.17:6379", "localhost:5432 and <ip>:6379"),
            ("db.internal:5432 or db.internal:50123", "db.internal:5432 or db.internal:<n>"),
            ("cannot read /srv/app/v12/config.json", "cannot read config.json"),
            ("foo at /srv/app/index.js:120:7", "foo at index.js"),
            ("in C:\\Users\\me\\app\\main.cs:12", "in main.cs"),
            ("see src/app/main.rs:7:3", "see main.rs"),
            ("read/write of application/json", "read/write of application/json"),
            ("needs 1.2.3 within 30s or 12.5 MB", "needs <v> within <d> or <size>"),
            ("sync failed run=8f1c: x", "sync failed run=<id>: x"),
            ("Table 'shop.invoices' doesn't exist", "Table `shop.invoices` doesn't exist"),
            ("got -99900, want 90.", "got <n>, want <n>"),
            ("u16 is not utf-8, item-9 is", "u16 is not utf-8, item-<n> is"),
            ("undefined method `strip' for nil", "undefined method `strip` for nil"),
            ("expecting \"]\"", "expecting <s>"),
            ("重试 3 次后放弃", "重试 <n> 次后放弃"),
        ] {
            assert_eq!(text(message), masked);
        }
    }

    #[test]
    fn an_assertion_keeps_no_value() {
        let values = MaskOptions { values: true, keep_major: false };
        assert_eq!(mask_message("expected: <101> but was: <100>", values).text, "expected: <s> but was: <s>");
        assert_eq!(mask_message("expected 'A' to be 'AL'", values).text, "expected <s> to be <s>");
        assert_eq!(mask_message("assert [1, 2] == [1, 2, 3]", values).text, "assert […] == […]");
    }

    #[test]
    fn the_template_masks_symbols_and_hosts() {
        let masked = mask_message(&format!("undefined: {}", symbol("limit")), MaskOptions::default());
        assert_eq!(
            (masked.text.as_str(), masked.template.as_str()),
            ("undefined: `limit`", "undefined: <q>")
        );
        assert_eq!(masked.symbols, ["limit"]);
        assert_eq!(
            mask_message("no answer from api.example.org", MaskOptions::default()).template,
            "no answer from <host>"
        );
    }
}
