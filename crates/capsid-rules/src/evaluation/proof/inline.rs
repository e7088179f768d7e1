//! What code within a command proves: does it look at anything outside itself, and can it fail because of that?

use super::{CONSTANT, ProofResult, Weakness, vacuous};

const PRINTS: Weakness = vacuous("Its code only prints; nothing is asserted.");
const LOADS: Weakness = vacuous("Its code only loads what is installed; nothing of the change is checked.");
/// How much code is read, in bytes.
const MAX_CODE: usize = 4 << 10;

/// Modules that come with node.
const NODE_MODULES: &[&str] = &[
    "assert",
    "buffer",
    "child_process",
    "crypto",
    "dns",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "querystring",
    "readline",
    "stream",
    "string_decoder",
    "timers",
    "tls",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "worker_threads",
    "zlib",
];

/// Names that exist in every program, and words of the language.
const JS_KNOWN: &[&str] = &[
    "Array",
    "BigInt",
    "Boolean",
    "Buffer",
    "Date",
    "Error",
    "Infinity",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Set",
    "String",
    "Symbol",
    "TypeError",
    "assert",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "console",
    "const",
    "default",
    "delete",
    "do",
    "else",
    "export",
    "false",
    "finally",
    "for",
    "from",
    "function",
    "global",
    "globalThis",
    "if",
    "import",
    "in",
    "instanceof",
    "isNaN",
    "let",
    "new",
    "null",
    "of",
    "parseFloat",
    "parseInt",
    "process",
    "require",
    "return",
    "setImmediate",
    "setInterval",
    "setTimeout",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
];

/// Calls that fail by themselves when what they look at is not there.
const JS_FAILING: &[&str] = &[
    "accessSync",
    "execFileSync",
    "execSync",
    "lstatSync",
    "openSync",
    "readFileSync",
    "readdirSync",
    "realpathSync",
    "statSync",
];

const JS_LOOKING: &[&str] = &[
    "access",
    "exec",
    "execFile",
    "existsSync",
    "fetch",
    "fork",
    "fs",
    "readFile",
    "request",
    "spawn",
    "spawnSync",
];

const JS_ASSERTING: &[&str] = &["assert", "expect", "throw", "exitCode", "abort", "should", "reject"];

/// Modules that come with Python, or that many have installed: importing one says nothing of a change.
const PY_MODULES: &[&str] = &[
    "asyncio",
    "collections",
    "datetime",
    "django",
    "flask",
    "functools",
    "io",
    "itertools",
    "json",
    "logging",
    "math",
    "numpy",
    "os",
    "pandas",
    "pathlib",
    "platform",
    "pytest",
    "random",
    "re",
    "requests",
    "scipy",
    "shutil",
    "sklearn",
    "ssl",
    "string",
    "subprocess",
    "sys",
    "tempfile",
    "tensorflow",
    "time",
    "torch",
    "typing",
    "unittest",
    "urllib",
    "yaml",
];

/// What JavaScript proves.
pub fn javascript(code: &str) -> ProofResult {
    let tokens = tokens(code, "//");
    let modules = js_modules(&tokens);
    if modules.iter().any(|module| module.starts_with(['.', '/'])) || has(&tokens, JS_FAILING) {
        return Ok(());
    }
    let foreign = |module: &&&str| {
        let name = module.strip_prefix("node:").unwrap_or(module);
        !NODE_MODULES.contains(&name.split('/').next().unwrap_or(name))
    };
    let loads = modules.iter().find(foreign).is_some();
    let asserts = has(&tokens, JS_ASSERTING) || exits_with_failure(&tokens);
    if !asserts {
        return Err(if loads { LOADS } else { PRINTS });
    }
    let looks = loads || has(&tokens, JS_LOOKING) || tokens.windows(3).any(is_unknown_name(&tokens));
    if looks { Ok(()) } else { Err(CONSTANT) }
}

/// What Python proves.
pub fn python(code: &str) -> ProofResult {
    let tokens = tokens(code, "#");
    let imported = py_modules(&tokens);
    // A module that is not known, and one named by a dot, are the change's own.
    if imported.iter().any(|module| !PY_MODULES.contains(module)) {
        return Ok(());
    }
    let looks = has(&tokens, &["open", "Path", "check_call", "check_output", "exists", "urlopen", "run"]);
    let asserts =
        has(&tokens, &["assert", "raise", "check_call", "check_output"]) || exits_with_failure(&tokens);
    match (looks, asserts) {
        (true, true) => Ok(()),
        (true, false) if has(&tokens, &["open"]) => Ok(()),
        (false, true) => Err(CONSTANT),
        _ if imported.is_empty() => Err(PRINTS),
        _ => Err(LOADS),
    }
}

/// A piece of code.
#[derive(Debug, Clone, Copy, PartialEq)]
enum CodeToken<'c> {
    Name(&'c str),
    Text(&'c str),
    Number(&'c str),
    Sign(char),
}

fn has(tokens: &[CodeToken<'_>], names: &[&str]) -> bool {
    tokens.iter().any(|token| matches!(token, CodeToken::Name(name) if names.contains(name)))
}

/// What is required or imported.
fn js_modules<'c>(tokens: &[CodeToken<'c>]) -> Vec<&'c str> {
    let direct = tokens.windows(2).filter_map(|pair| match pair {
        [CodeToken::Name("from" | "import"), CodeToken::Text(module)] => Some(*module),
        _ => None,
    });
    let called = tokens.windows(3).filter_map(|three| match three {
        [
            CodeToken::Name("require" | "import" | "resolve"),
            CodeToken::Sign('('),
            CodeToken::Text(module),
        ] => Some(*module),
        _ => None,
    });
    direct.chain(called).collect()
}

/// What is imported: `a` in `import a` and in `from a import b`, and `.` for a neighbour.
fn py_modules<'c>(tokens: &[CodeToken<'c>]) -> Vec<&'c str> {
    let mut modules = Vec::new();
    let mut from = false;
    for pair in tokens.windows(2) {
        match pair {
            [CodeToken::Name("from"), next] => {
                modules.push(if let CodeToken::Name(module) = next { module } else { "." });
                from = true;
            }
            [CodeToken::Name("import"), CodeToken::Name(module)] if !from => modules.push(module),
            [CodeToken::Name("import"), _] => from = false,
            _ => {}
        }
    }
    modules
}

/// Whether the code can exit with something else than zero.
fn exits_with_failure(tokens: &[CodeToken<'_>]) -> bool {
    tokens.windows(3).any(|three| match three {
        [CodeToken::Name("exit"), CodeToken::Sign('('), what] => {
            !matches!(what, CodeToken::Number("0") | CodeToken::Sign(')'))
        }
        _ => false,
    })
}

/// Whether the middle one of three tokens names something from outside the code.
fn is_unknown_name<'t>(tokens: &'t [CodeToken<'_>]) -> impl Fn(&[CodeToken<'_>]) -> bool + 't {
    let declared = |name: &str| {
        tokens.windows(2).any(|pair| match pair {
            [CodeToken::Name("const" | "let" | "var" | "function" | "class"), CodeToken::Name(known)] => {
                *known == name
            }
            _ => false,
        })
    };
    move |three| match three {
        [before, CodeToken::Name(name), after] => {
            let member = *before == CodeToken::Sign('.');
            let key = *after == CodeToken::Sign(':') && matches!(before, CodeToken::Sign('{' | ','));
            !member && !key && !JS_KNOWN.contains(name) && !declared(name)
        }
        _ => false,
    }
}

/// Code as tokens. A template is text, and its expressions are tokens of their own.
fn tokens<'c>(code: &'c str, comment: &str) -> Vec<CodeToken<'c>> {
    let mut rest = &code[..code.floor_char_boundary(MAX_CODE)];
    let mut tokens = Vec::new();
    while let Some(c) = rest.chars().next() {
        if let Some(behind) = rest.strip_prefix(comment) {
            rest = behind.find('\n').map_or("", |end| &behind[end..]);
        } else if let Some(behind) = rest.strip_prefix("/*") {
            rest = behind.split_once("*/").map_or("", |(_, after)| after);
        } else if matches!(c, '\'' | '"' | '`') {
            let (text, after) = quoted(&rest[1..], c);
            tokens.push(CodeToken::Text(text));
            if c == '`' {
                tokens.extend(expressions(text).flat_map(|inner| self::tokens(inner, comment)));
            }
            rest = after;
        } else if c.is_alphabetic() || matches!(c, '_' | '$') {
            let (name, after) = run(rest, |c| c.is_alphanumeric() || matches!(c, '_' | '$'));
            tokens.push(CodeToken::Name(name));
            rest = after;
        } else if c.is_ascii_digit() {
            let (number, after) = run(rest, |c| c.is_alphanumeric() || c == '.');
            tokens.push(CodeToken::Number(number));
            rest = after;
        } else {
            if !c.is_whitespace() {
                tokens.push(CodeToken::Sign(c));
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    tokens
}

/// The expressions in a template that hold no template themselves.
fn expressions(template: &str) -> impl Iterator<Item = &str> {
    template
        .split("${")
        .skip(1)
        .filter_map(|part| part.split('}').next())
        .filter(|inner| !inner.contains('`'))
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// What stands before the closing quote, and what follows it.
fn quoted(text: &str, quote: char) -> (&str, &str) {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !escaped {
            return (&text[..at], &text[at + 1..]);
        }
        escaped = c == '\\' && !escaped;
    }
    (text, "")
}
