//! Names and numbers that no rule has seen.

use fastrand::Rng;

const STEMS: [&str; 40] = [
    "amber", "basin", "cedar", "delta", "ember", "fable", "grove", "haven", "inlet", "jolly", "kayak",
    "lemon", "maple", "noble", "ocean", "pearl", "quilt", "raven", "sable", "tulip", "umber", "vivid",
    "walnut", "yonder", "zephyr", "anchor", "beacon", "canyon", "drift", "eagle", "falcon", "garnet",
    "harbor", "island", "jasmine", "kestrel", "lagoon", "meadow", "nectar", "orchid",
];
const FOLDERS: [&str; 10] = [
    "src",
    "lib",
    "app",
    "src/core",
    "pkg/api",
    "services/billing",
    "src/db",
    "internal",
    "modules/cart",
    "cmd/tool",
];
const ROOTS: [&str; 8] = [
    "/home/runner/work/shop/shop",
    "/builds/team/shop",
    "/Users/ana/code/shop",
    "/workspace",
    "/srv/shop",
    "/usr/src/app",
    "/var/lib/jenkins/workspace/shop-main",
    "/opt/build/repo",
];

fn stem(rng: &mut Rng) -> &'static str {
    STEMS[rng.usize(..STEMS.len())]
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
}

/// `maple_harbor`.
pub fn snake_name(rng: &mut Rng) -> String {
    format!("{}_{}", stem(rng), stem(rng))
}

/// `mapleHarbor`.
pub fn camel_name(rng: &mut Rng) -> String {
    format!("{}{}", stem(rng), capital(stem(rng)))
}

/// `MapleHarbor`.
pub fn type_name(rng: &mut Rng) -> String {
    format!("{}{}", capital(stem(rng)), capital(stem(rng)))
}

/// A folder of the kind that holds sources.
pub fn folder(rng: &mut Rng) -> &'static str {
    FOLDERS[rng.usize(..FOLDERS.len())]
}

/// Where a checkout lies.
pub fn root(rng: &mut Rng) -> &'static str {
    ROOTS[rng.usize(..ROOTS.len())]
}

/// The value of a slot in a printed log. A slot is part of the message, or differs from run to run.
pub fn fill_slot(slot: &str, rng: &mut Rng) -> Option<String> {
    let number = |rng: &mut Rng, from: u32, to: u32| rng.u32(from..to).to_string();
    Some(match slot {
        "ident" | "ident2" | "fn_snake" | "test_id" | "file" => snake_name(rng),
        "camel" | "camel2" | "fn" => camel_name(rng),
        "type" | "type2" | "cls" => type_name(rng),
        "pkg" => format!("{}-{}", stem(rng), stem(rng)),
        "host" => format!("{}.{}.internal", stem(rng), stem(rng)),
        "port" => number(rng, 1_100, 9_900),
        "test" => format!("{} is {}", stem(rng), stem(rng)),
        "root" => root(rng).to_owned(),
        "dir" => folder(rng).to_owned(),
        "line" => number(rng, 10, 99),
        "col" => number(rng, 2, 60),
        "digit" => number(rng, 1, 9),
        "sec" => number(rng, 10, 59),
        "n" => number(rng, 2, 90),
        "n2" => number(rng, 100, 999),
        "pid" => number(rng, 1_000, 60_000),
        "millis" => number(rng, 100_000_000, 999_999_999),
        "dur" => format!("{}.{}", rng.u32(0..20), rng.u32(10..99)),
        "hex" => format!("{:06x}", rng.u32(..0xff_ffff)),
        "date" => format!("2026-{:02}-{:02}", rng.u32(1..13), rng.u32(1..29)),
        "ver" => format!("{}.{}.{}", rng.u32(0..9), rng.u32(0..20), rng.u32(0..20)),
        "nodever" => format!("{}.{}.{}", rng.u32(18..25), rng.u32(0..20), rng.u32(0..9)),
        "pyver" => format!("3.{}.{}", rng.u32(9..15), rng.u32(0..12)),
        _ => return None,
    })
}

/// Slots that are part of the message.
pub const KEY_SLOTS: [&str; 9] =
    ["ident", "ident2", "camel", "camel2", "type", "type2", "pkg", "host", "port"];
