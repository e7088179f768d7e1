//! What a word is compared by: its stem, after short forms, odd verbs and British spelling were set right.

use super::WordMap;
use rust_stemmers::{Algorithm, Stemmer};
use std::cell::RefCell;

/// Words whose stem would be that of a word with another meaning: `container` that of `contains`.
const OWN: &[&str] = &[
    "accessibility",
    "container",
    "customer",
    "identity",
    "important",
    "liveness",
    "production",
    "quota",
    "readiness",
];

/// How many words a thread remembers the stems of.
const REMEMBERED: usize = 65_536;
/// The longest word that is remembered.
const MAX_REMEMBERED: usize = 32;

thread_local! {
    /// The words of a thread so far: texts use the same ones.
    static STEMS: RefCell<WordMap<Box<str>, Box<str>>> = RefCell::default();
}

/// What a word is compared by. The word is in lower case.
pub(super) fn stem(word: &str) -> String {
    if word.len() > MAX_REMEMBERED {
        return compute_stem(word);
    }
    STEMS.with_borrow_mut(|known| {
        if let Some(stem) = known.get(word) {
            return stem.to_string();
        }
        if known.len() >= REMEMBERED {
            known.clear();
        }
        let stem = compute_stem(word);
        known.insert(word.into(), stem.as_str().into());
        stem
    })
}

fn compute_stem(word: &str) -> String {
    let word = usual(word);
    if word.len() < 3 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return word.to_owned();
    }
    if let Some(own) =
        OWN.iter().find(|own| word.strip_prefix(**own).is_some_and(|end| ["", "s"].contains(&end)))
    {
        return (*own).to_owned();
    }
    Stemmer::create(Algorithm::English).stem(&american(word)).into_owned()
}

/// Short forms in full, odd forms of verbs in their usual one, and every way to say no as one.
fn usual(word: &str) -> &str {
    match word {
        "cannot" | "cant" | "couldnt" | "didnt" | "doesnt" | "dont" | "hadnt" | "hasnt" | "havent"
        | "isnt" | "arent" | "wasnt" | "werent" | "wont" | "wouldnt" | "shouldnt" | "unable" => "not",
        "arg" | "args" => "argument",
        "async" => "asynchronous",
        "ate" | "eaten" => "eat",
        "auth" | "authn" => "authentication",
        "authz" => "authorization",
        "became" => "become",
        "began" | "begun" => "begin",
        "broke" | "broken" => "break",
        "brought" => "bring",
        "built" => "build",
        "came" => "come",
        "cert" | "certs" => "certificate",
        "cfg" | "conf" | "config" | "configs" | "configuration" => "configure",
        "cmd" => "command",
        "colour" => "color",
        "behaviour" => "behavior",
        "conn" | "conns" => "connection",
        "ctx" => "context",
        "db" | "dbs" => "database",
        "dep" | "deps" => "dependency",
        "dir" | "dirs" => "directory",
        "doc" | "docs" => "documentation",
        "env" => "environment",
        "err" | "errs" | "errored" => "error",
        "exc" => "exception",
        "fd" | "fds" => "descriptor",
        "fell" | "fallen" => "fall",
        "forgot" | "forgotten" => "forget",
        "found" => "find",
        "froze" | "frozen" => "freeze",
        "fn" | "func" | "funcs" => "function",
        "gave" | "given" => "give",
        "gone" | "went" => "go",
        "got" | "gotten" => "get",
        "grew" | "grown" => "grow",
        "held" => "hold",
        "hid" | "hidden" => "hide",
        "hung" => "hang",
        "img" | "imgs" => "image",
        "init" => "initialize",
        "js" => "javascript",
        "k8s" => "kubernetes",
        "kept" => "keep",
        "left" => "leave",
        "lib" | "libs" => "library",
        "lost" => "lose",
        "meant" => "mean",
        "met" => "meet",
        "mem" => "memory",
        "mgmt" => "management",
        "msg" | "msgs" => "message",
        "param" | "params" => "parameter",
        "perf" => "performance",
        "pg" | "postgres" => "postgresql",
        "pkg" | "pkgs" => "package",
        "prod" => "production",
        "pw" | "pwd" => "password",
        "ran" => "run",
        "regexp" => "regex",
        "repo" | "repos" => "repository",
        "req" | "reqs" => "request",
        "resp" => "response",
        "rose" | "risen" => "rise",
        "said" => "say",
        "sent" => "send",
        "shown" => "show",
        "shrank" | "shrunk" => "shrink",
        "slept" => "sleep",
        "spoke" | "spoken" => "speak",
        "spun" => "spin",
        "stood" => "stand",
        "stuck" => "stick",
        "swung" => "swing",
        "taught" => "teach",
        "threw" | "thrown" => "throw",
        "tmp" | "temp" => "temporary",
        "took" | "taken" => "take",
        "ts" => "typescript",
        "woke" | "woken" => "wake",
        "wrote" | "written" => "write",
        other => other,
    }
}

/// A word with `z` where British spelling has `s`. Words that are wrongly changed are so everywhere.
fn american(word: &str) -> String {
    const ENDS: [&str; 8] = ["ise", "ised", "ises", "ising", "iser", "isers", "isation", "isations"];
    for end in ENDS {
        if let Some(front) = word.strip_suffix(end).filter(|front| front.len() >= 4) {
            return format!("{front}iz{}", end.trim_start_matches("is"));
        }
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one() {
        for (one, other) in [
            ("retries", "retrying"),
            ("serialise", "serialization"),
            ("froze", "freezing"),
            ("can't".replace('\'', "").as_str(), "unable"),
            ("config", "configured"),
            ("db", "databases"),
            ("sent", "sending"),
            ("colour", "colors"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} and {other}");
        }
        for (one, other) in
            [("cache", "catch"), ("container", "contains"), ("production", "product"), ("customer", "custom")]
        {
            assert_ne!(stem(one), stem(other), "{one} and {other}");
        }
        assert_eq!(stem("containers"), stem("container"));
        assert_eq!(stem("ts2322"), "ts2322");
    }
}
