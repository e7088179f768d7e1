//! Stack frames: which of them are the user's own code, and what their functions are called.

use super::pattern::Pattern;

/// A stack frame.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct StackFrame {
    pub function: Option<String>,
    pub file: String,
    pub line: Option<u32>,
}

impl StackFrame {
    pub(crate) fn place(&self) -> Option<String> {
        file_name(&self.file)
    }
}

/// The name of a file without its folders.
pub(crate) fn file_name(path: &str) -> Option<String> {
    let path = path.trim().trim_end_matches(['/', '\\']);
    let path = path.strip_prefix("file://").unwrap_or(path);
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    (!name.is_empty()).then(|| name.to_owned())
}

const FOREIGN_FILES: [&str; 38] = [
    "node:",
    "node_modules/",
    "node_modules\\",
    "site-packages/",
    "site-packages\\",
    "dist-packages/",
    "/usr/lib/",
    "/usr/lib64/",
    "/usr/local/lib/python",
    "/usr/local/go/",
    "/rustc/",
    ".cargo/registry",
    ".cargo/git",
    ".rustup/",
    "library/std/",
    "library/core/",
    "library/alloc/",
    "<frozen",
    "<internal:",
    "<anonymous>",
    "<__array_function__",
    "vendor/",
    "/gems/",
    "gems/",
    "internal/process/",
    "internal/modules/",
    "internal/timers",
    "/pkg/mod/",
    "/.pyenv/",
    "/lib/python3",
    "\\lib\\python3",
    "/lib/ruby/",
    "[native code]",
    "deno:",
    "ext:",
    "webpack/bootstrap",
    "/deps/elixir",
    "/.nvm/",
];

const FOREIGN_NAMES: [&str; 62] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "jakarta.",
    "kotlin.",
    "kotlinx.",
    "scala.",
    "groovy.",
    "org.codehaus.groovy",
    "org.junit",
    "junit.",
    "org.testng",
    "org.opentest4j",
    "org.assertj",
    "org.hamcrest",
    "org.mockito",
    "org.gradle",
    "worker.org.gradle",
    "org.springframework",
    "org.apache.",
    "org.hibernate",
    "org.eclipse.jetty",
    "io.netty",
    "reactor.",
    "io.micronaut",
    "io.quarkus",
    "com.fasterxml",
    "com.google.common",
    "com.zaxxer",
    "com.mysql",
    "org.mariadb",
    "org.postgresql",
    "org.sqlite",
    "org.h2",
    "oracle.",
    "com.microsoft.sqlserver",
    "com.mongodb",
    "redis.clients",
    "io.lettuce",
    "android.",
    "androidx.",
    "dalvik.",
    "System.",
    "Microsoft.",
    "Xunit",
    "xunit",
    "NUnit",
    "Npgsql",
    "MySqlConnector",
    "MySql.",
    "Newtonsoft",
    "testing.",
    "runtime.",
    "reflect.",
    "net/http.",
    "database/sql.",
    "std::",
    "core::",
    "alloc::",
    "__rustc",
];

/// Whether a frame is the user's own code.
pub(crate) fn is_in_app(function: &str, file: &str) -> bool {
    let function = function.trim();
    let name = function
        .split_once('/')
        .filter(|(head, _)| head.starts_with("java.") || head.starts_with("jdk."))
        .map_or(function, |(_, name)| name);
    let name = name.trim_start_matches("app//").trim_start_matches('<');
    !FOREIGN_FILES.iter().any(|part| file.contains(part))
        && !FOREIGN_NAMES.iter().any(|prefix| name.starts_with(prefix))
}

static PYTHON: Pattern = Pattern::new(r#"^\s*File "([^"]+)", line ([0-9]+)(?:, in (.+))?$"#);

pub(crate) fn parse_python(text: &str) -> Option<StackFrame> {
    if !text.contains("File \"") {
        return None;
    }
    let groups = PYTHON.captures(text)?;
    let function = groups.get(3).trim();
    let function = match function {
        "" | "<module>" => None,
        name => Some(name.rsplit(['.']).next().unwrap_or(name).to_owned()),
    };
    Some(StackFrame { function, file: groups.get(1).to_owned(), line: groups.number(2) })
}

/// Whether a Python frame is a comprehension or a lambda, which have no name of their own.
pub(crate) fn is_comprehension(text: &str) -> bool {
    ["in <listcomp>", "in <genexpr>", "in <dictcomp>", "in <setcomp>", "in <lambda>"]
        .iter()
        .any(|name| text.ends_with(name))
}

static JS_NAMED: Pattern =
    Pattern::new(r"^\s*at (?:async )?(.+?) \((.+?)(?::([0-9]+))?(?::[0-9]+)?\)(?: \{)?$");
static JS_BARE: Pattern = Pattern::new(r"^\s*at (?:async )?([^\s()]+?):([0-9]+)(?::[0-9]+)?(?: \{)?$");
static JS_GECKO: Pattern = Pattern::new(r"^\s*([\w$.<>/]*)@(\S+?):([0-9]+):[0-9]+$");

/// A frame as V8 and Bun print it, or as Firefox and Safari do.
pub(crate) fn parse_js(text: &str) -> Option<StackFrame> {
    let trimmed = text.trim_start();
    if trimmed.starts_with("at ") {
        if let Some(groups) = JS_NAMED.captures(text) {
            let file = groups.get(2);
            // `Type.method (native)` and the like.
            return Some(StackFrame {
                function: js_function(groups.get(1)),
                file: file.to_owned(),
                line: groups.number(3),
            });
        }
        let groups = JS_BARE.captures(text)?;
        return Some(StackFrame { function: None, file: groups.get(1).to_owned(), line: groups.number(2) });
    }
    if !trimmed.contains('@') {
        return None;
    }
    let groups = JS_GECKO.captures(text)?;
    Some(StackFrame {
        function: js_function(groups.get(1)),
        file: groups.get(2).to_owned(),
        line: groups.number(3),
    })
}

/// Names of matchers say nothing about the user's code.
const MATCHERS: [&str; 18] = [
    "to",
    "toBe",
    "toEqual",
    "strictEqual",
    "deepEqual",
    "equal",
    "assert",
    "ok",
    "throws",
    "test",
    "it",
    "describe",
    "require",
    "beforeEach",
    "beforeAll",
    "afterEach",
    "afterAll",
    "expect",
];

fn js_function(name: &str) -> Option<String> {
    let name = name.split(" [as ").next().unwrap_or(name).trim();
    let name = name.strip_prefix("async ").unwrap_or(name);
    let name = name.strip_prefix("new ").unwrap_or(name);
    let name = name.strip_prefix("Object.").or_else(|| name.strip_prefix("exports.")).unwrap_or(name);
    let name = name.strip_prefix("module.exports.").unwrap_or(name);
    let last = name.rsplit('.').next().unwrap_or(name);
    if last.is_empty()
        || name.contains("<anonymous>")
        || name.contains("anonymous")
        || MATCHERS.contains(&last)
        || (last.starts_with("to") && last.chars().nth(2).is_some_and(char::is_uppercase))
        || name == "eval"
        || name == "module code"
        || name == "global code"
    {
        return None;
    }
    Some(name.trim_end_matches("/<").to_owned())
}

pub(crate) fn is_js_in_app(frame: &StackFrame) -> bool {
    !frame.file.is_empty()
        && is_in_app("", &frame.file)
        && frame.file != "native"
        && frame.file != "<anonymous>"
        && (frame.line.is_some() || frame.file.contains(['/', '.']))
}

static JAVA: Pattern =
    Pattern::new(r"^\s*at (?:[\w.@-]+//?)?((?:[\w$-]+\.)*[\w$<>-][\w$<> ,'-]*)\(([^()]*)\)");

/// A frame of the JVM with its whole function name.
pub(crate) fn parse_java(text: &str) -> Option<(String, StackFrame)> {
    let trimmed = text.trim_start();
    if !trimmed.starts_with("at ") {
        return None;
    }
    let groups = JAVA.captures(text)?;
    let whole = groups.get(1).to_owned();
    let (file, line) = groups.get(2).rsplit_once(':').unwrap_or((groups.get(2), ""));
    let file = if matches!(file, "Native Method" | "Unknown Source") { "" } else { file };
    Some((
        whole.clone(),
        StackFrame { function: Some(java_function(&whole)), file: file.to_owned(), line: line.parse().ok() },
    ))
}

static LAMBDA: Pattern = Pattern::new(r"lambda\$([\w<>]+)\$[0-9]+");
static NUMBERED: Pattern = Pattern::new(r"(?:\$\$[\w$]*|\$[0-9]+)+");

fn java_function(whole: &str) -> String {
    let name = LAMBDA.replace_all(whole, |groups| groups[1].to_owned());
    let name = NUMBERED.replace_all(&name, |_| String::new());
    let parts: Vec<&str> = name.rsplitn(3, '.').collect();
    match parts.as_slice() {
        [method, class, ..] => format!("{class}.{method}"),
        _ => name,
    }
}

static DOTNET: Pattern = Pattern::new(r"^\s*at (.+?)(?:\(.*\))?(?: in (.+?):line ([0-9]+))?$");
static ASYNC_STATE: Pattern =
    Pattern::new(r"\.?<>?c?[\w_]*\.?<(\w+)>[bdg]__[\w|]+(?:\.MoveNext)?|<(\w+)>[bdg]__[\w|]+(?:\.MoveNext)?");

/// A frame of .NET with its whole function name.
pub(crate) fn parse_dotnet(text: &str) -> Option<(String, StackFrame)> {
    if !text.trim_start().starts_with("at ") {
        return None;
    }
    let groups = DOTNET.captures(text)?;
    let whole = groups.get(1).split('(').next().unwrap_or_default().to_owned();
    let name = ASYNC_STATE.replace_all(&whole, |groups| {
        let name = groups.get(1).or_else(|| groups.get(2)).map_or("", |name| name.as_str());
        format!(".{name}")
    });
    let name = name.replace("..", ".").replace("<Main>$", "Main");
    let name = name.split(['`', '[']).next().unwrap_or_default();
    let parts: Vec<&str> = name.rsplitn(3, '.').collect();
    let function = match parts.as_slice() {
        [method, class, ..] => format!("{class}.{method}"),
        _ => name.to_owned(),
    };
    Some((
        whole,
        StackFrame { function: Some(function), file: groups.get(2).to_owned(), line: groups.number(3) },
    ))
}

static GO_FUNCTION: Pattern =
    Pattern::new(r"^[\w./%~-]+\.(?:\(\*?[\w\[\].…]+\)\.)?[\w.\[\]…-]+$|^main\.\w+$");
static GO_FILE: Pattern = Pattern::new(r"^\s+(\S+\.go):([0-9]+)(?: \+0x[0-9a-f]+)?$");

/// The function line of a goroutine's frame: the whole name and the short one.
pub(crate) fn parse_go_function(text: &str) -> Option<(String, String)> {
    if text.starts_with([' ', '\t']) || !text.ends_with(')') {
        return None;
    }
    let whole = text.get(..text.rfind('(')?)?.to_owned();
    if !GO_FUNCTION.is_match(&whole) {
        return None;
    }
    let short = whole.rsplit('/').next().unwrap_or(&whole).replace("(*", "").replace(['(', ')'], "");
    let short = short.split(".func").next().unwrap_or(&short).replace("[...]", "");
    Some((whole, short))
}

pub(crate) fn parse_go_file(text: &str) -> Option<(String, Option<u32>)> {
    if !text.contains(".go:") {
        return None;
    }
    let groups = GO_FILE.captures(text)?;
    Some((groups.get(1).to_owned(), groups.number(2)))
}

static RUBY: Pattern = Pattern::new(r"^\s*(?:from |# )?(\S.*?):([0-9]+)(?::in [`'](.+?)')?(?:$|: )");

pub(crate) fn parse_ruby(text: &str) -> Option<StackFrame> {
    let groups = RUBY.captures(text)?;
    Some(StackFrame {
        function: ruby_function(groups.get(3)),
        file: groups.get(1).to_owned(),
        line: groups.number(2),
    })
}

pub(crate) fn ruby_function(name: &str) -> Option<String> {
    let name = name.rsplit(" in ").next().unwrap_or(name);
    let name = name.strip_prefix("Object#").or_else(|| name.strip_prefix("Kernel#")).unwrap_or(name);
    let name = name.rsplit(['#']).next().unwrap_or(name);
    (!name.is_empty() && !name.starts_with('<')).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(frame: Option<StackFrame>) -> (Option<String>, Option<String>) {
        let frame = frame.unwrap();
        (frame.function.clone(), frame.place())
    }

    #[test]
    fn frames_of_each_language_are_read() {
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(named(parse_js("    at greet (/srv/a/user.js:7:24)")), (some("greet"), some("user.js")));
        assert_eq!(
            named(parse_js("    at async Pool.open (file:///srv/a/pool.mjs:7:24) {")),
            (some("Pool.open"), some("pool.mjs"))
        );
        assert_eq!(
            named(parse_js("    at Server.listen [as x] (/srv/s.js:1:2)")),
            (some("Server.listen"), some("s.js"))
        );
        assert_eq!(named(parse_js("      at Object.toBe (cart.test.js:5:27)")), (None, some("cart.test.js")));
        assert_eq!(named(parse_js("    at /srv/a/main.js:3:1")), (None, some("main.js")));
        assert_eq!(named(parse_python("  File \"/a/b.py\", line 3, in <module>")), (None, some("b.py")));
        let (_, frame) = parse_java("\tat org.example.App$Inner.lambda$run$0(App.java:6)").unwrap();
        assert_eq!(named(Some(frame)), (some("App$Inner.run"), some("App.java")));
        let (_, frame) =
            parse_dotnet("   at Shop.Store.<LoadAsync>d__5.MoveNext() in /src/Store.cs:line 22").unwrap();
        assert_eq!(named(Some(frame)), (some("Store.LoadAsync"), some("Store.cs")));
        let (_, short) = parse_go_function("example.org/depot/stock.(*Shelf).Count(...)").unwrap();
        assert_eq!(short, "stock.Shelf.Count");
        assert_eq!(
            named(parse_ruby("\tfrom /a/order.rb:11:in 'Order#label'")),
            (some("label"), some("order.rb"))
        );
    }

    #[test]
    fn frames_of_libraries_are_not_the_users() {
        assert!(!is_in_app("java.lang.reflect.Method.invoke", "Method.java"));
        assert!(!is_in_app("", "/srv/app/node_modules/x/index.js"));
        assert!(!is_in_app("", "/usr/local/go/src/testing/testing.go"));
        assert!(is_in_app("org.example.App.main", "App.java"));
    }
}
