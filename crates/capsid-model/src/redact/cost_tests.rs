//! What redaction costs: linear in the text, and little more than the patterns alone.

use super::*;
use std::time::{Duration, Instant};

/// What transcripts hold: code, JSON, logs, diffs, numbered and coloured lines.
const PIECES: [&str; 8] = [
    "    let price = cart.items.iter().map(|item| item.price * item.count).sum::<u64>();\n    if price > limit {\n        return Err(Error::Limit { price, limit });\n    }\n",
    "{\"type\":\"tool_use\",\"id\":\"toolu_5f0c1b9e7a52\",\"name\":\"Bash\",\"input\":{\"command\":\"cargo test -p shop\",\"timeout\":60000}}\n",
    "2026-05-04T03:02:01.123Z INFO shop::cart request{method=GET path=/cart status=200} finished in 14 ms\n",
    "diff --git a/src/cart.rs b/src/cart.rs\nindex 8cdc571..0e015cb 100644\n@@ -10,4 +10,5 @@ fn total\n-    let total = 0;\n+    let total: u64 = items.len();\n     total\n",
    "    12→export const key = (item: Item) => `${item.id}:${item.count}`;\n    13→const session = new Session({ url: config.url, code: 200 });\n",
    "\u{1b}[1m\u{1b}[32m   Compiling\u{1b}[0m shop v0.4.2 (crates/shop)\n\u{1b}[33mwarning\u{1b}[0m: unused variable: `price`\n",
    "{\"stdout\":\"ok 1 - adds an item\\nok 2 - removes it\\n# pass 2\\n\",\"stderr\":\"\",\"interrupted\":false}\n",
    "The tests pass now. I changed how the total is computed, so that the price is rounded once and not per item.\n",
];

fn mixed(size: usize) -> String {
    PIECES
        .iter()
        .cycle()
        .scan(0, |length, piece| {
            *length += piece.len();
            (*length <= size).then_some(*piece)
        })
        .collect()
}

/// The least processor time of some runs: a busy machine makes none of them longer. Where that is not told, the time.
fn least_time(rounds: usize, mut run: impl FnMut()) -> Duration {
    let begun = Instant::now();
    let now = || {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let used = told.and_then(|told| told.split(' ').next()?.parse().ok());
        used.map_or_else(|| begun.elapsed(), Duration::from_nanos)
    };
    let times = (0..rounds).map(|_| {
        let start = now();
        run();
        now().saturating_sub(start)
    });
    times.min().unwrap()
}

/// How much text, how many rounds, and how much longer it may take than the patterns alone. A program that is built with
/// checks takes longer for what is no pattern; there the test finds only what became several times slower.
const MEASUREMENT: (usize, usize, f64) =
    if cfg!(debug_assertions) { (8 << 20, 5, 10.0) } else { (8 << 20, 5, 1.5) };

#[test]
fn the_cost_of_redaction_is_bounded_by_that_of_its_patterns() {
    let (size, rounds, limit) = MEASUREMENT;
    let text = mixed(size);
    let mut found = Vec::new();
    SECRET_RULES.find(&text, &mut found);
    let patterns = least_time(rounds, || SECRET_RULES.find(&text, &mut Vec::new()));
    let all = least_time(rounds, || drop(find_secrets(&text)));
    let ratio = all.as_secs_f64() / patterns.as_secs_f64();
    println!("patterns {patterns:?}, all {all:?}, ratio {ratio:.2}");
    for (part, run) in [
        ("plain view", &(|| drop(TextView::plain(&text))) as &dyn Fn()),
        ("structure", &|| structure::find(&TextView::plain(&text).text, &mut Vec::new())),
        ("unescaped view", &|| drop(TextView::unescaped(&text))),
    ] {
        println!("{part}: {:?}", least_time(3, run));
    }
    assert!(ratio <= limit, "{ratio}");
}

#[test]
fn redaction_takes_linear_time_on_hostile_text() {
    let deep = "{\"a\":".repeat(50);
    for piece in [
        "x",
        "\"",
        "=",
        "\\",
        "\\\\\\\"",
        "'\"`",
        "password=",
        "password='",
        "token: \"a",
        "password: |\n  a\n",
        "key=key:",
        "-p ",
        "curl -u ",
        "redis-cli -a 'b ",
        "echo a | sudo -S ",
        "machine a login b ",
        "kind: Secret\ndata:\n  a: b\n",
        "a\tTRUE\t/\t",
        "zoo ",
        "zoo wrong ",
        "\u{1b}[1m",
        "\u{1b}]8;;",
        "12: ",
        "a.b:1:",
        "otpauth://",
        "jdbc:oracle:thin:a/b",
        "name: password\nvalue: ",
        "getenv(\"password\", ",
        "| password | ",
        deep.as_str(),
    ] {
        let text = |size: usize| piece.repeat(size / piece.len());
        let (short, long) = (text(32 << 10), text(256 << 10));
        drop(find_secrets(&short));
        let apart = least_time(2, || (0..8).for_each(|_| drop(find_secrets(&short))));
        let whole = least_time(2, || drop(find_secrets(&long)));
        // As much text in one piece as in eight: quadratic time would be eight times as long. The clock ticks seldom.
        let limit = apart * 3 + Duration::from_millis(20);
        assert!(whole <= limit, "{piece:?}: {apart:?} in eight pieces, {whole:?} in one");
    }
}
