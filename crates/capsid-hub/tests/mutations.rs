//! Thousands of spoilt requests: never a 5xx or a panic, always JSON that explains a refusal, and a refused request
//! leaves nothing behind. `CAPSID_SEED=n` repeats a run, `CAPSID_SOAK=1` makes it longer.

use crate::common::economy::all_is_well;
use crate::common::mutate::{TEXTS, mutate};
use crate::common::samples::{OTHERS, fits, samples};
use crate::common::{On, TestHub};
use capsid_hub::config::{HubConfig, HubProfile, RateLimitsConfig};
use capsid_rules::rate_limit::RateLimit;
use capsid_testkit::rounds::{rounds, seeded_rng};
use fastrand::Rng;
use serde_json::Value;
use std::collections::BTreeMap;

/// How often the whole database is compared before and after a request.
const COMPARED: usize = 16;

/// Paths that answer only after a while; they are tried elsewhere.
const PATIENT: [&str; 3] = ["/a2a/events/poll", "/a2a/events/stream", "/a2a/live"];

#[test]
fn a_spoilt_request_is_refused_with_a_reason_on_sqlite() {
    spoil_many(On::Sqlite);
}

#[test]
fn a_spoilt_request_is_refused_with_a_reason_on_postgresql() {
    spoil_many(On::Postgres);
}

#[test]
fn every_sample_is_taken_as_it_is_and_every_route_has_one() {
    let hub = start(On::Sqlite, HubProfile::Private);
    let samples = samples(&hub);
    for sample in &samples {
        let answer = sample.send(&hub, sample.body.to_string().into_bytes());
        assert!(answer.status < 400, "{answer}\n{}", sample.body);
    }
    for (path, methods) in hub.description["paths"].as_object().unwrap() {
        for method in
            methods.as_object().unwrap().keys().filter(|method| ["post", "put"].contains(&&***method))
        {
            let found = samples.iter().any(|s| s.method.eq_ignore_ascii_case(method) && fits(path, &s.path));
            assert!(found || OTHERS.contains(&path.as_str()), "no sample for {method} {path}");
        }
    }
}

const PROFILES: [HubProfile; 2] = [HubProfile::Private, HubProfile::Public];

/// A hub with all settings of a profile, without its limits of calls. The samples need credits, so everybody is granted some.
fn start(on: On, profile: HubProfile) -> TestHub {
    let endless = RateLimit { count: 1_000_000_000, window_ms: 60_000 };
    TestHub::start(on, |config| {
        let (grants, credits) = ((config.node_grant, config.account_grant), config.credits.clone());
        *config = HubConfig {
            data: config.data.clone(),
            database: config.database.clone(),
            public_url: config.public_url.clone(),
            timeouts: config.timeouts,
            ..HubConfig::for_profile(profile)
        };
        (config.node_grant, config.account_grant) = grants;
        (config.credits.granted, config.credits.stake_from) = (credits.granted, credits.stake_from);
        config.limits = RateLimitsConfig {
            hello: endless,
            register: endless,
            publish: endless,
            heartbeat: endless,
            messages: endless,
            vote: endless,
            read: endless,
            other: endless,
            wrong_credentials: endless,
            graph_query: endless,
            graph_ingest: endless,
        };
        config.quotas.publish_bundles = Vec::new();
    })
}

fn spoil_many(on: On) {
    let mut rng = seeded_rng();
    for profile in PROFILES {
        let hub = start(on, profile);
        let samples = samples(&hub);
        let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
        for n in 0..rounds(250, 5_000) {
            let sample = &samples[rng.usize(0..samples.len())];
            let (body, done) = mutate(&sample.fresh(n), &mut rng);
            let before = (n % COMPARED == 0).then(|| dump_without_logins(&hub));
            let answer = sample.send(&hub, body.clone());
            let told =
                || format!("{done}\n{answer}\n{}", String::from_utf8_lossy(&body[..body.len().min(4000)]));
            assert!(answer.status < 500, "{}", told());
            assert_eq!(answer.headers["content-type"], "application/json", "{}", told());
            if answer.status >= 400 {
                answer.explains();
                assert!(
                    before.is_none_or(|before| before == dump_without_logins(&hub)),
                    "it left something behind: {}",
                    told()
                );
            }
            *statuses.entry(answer.status).or_default() += 1;
        }
        println!("{on:?}, {profile:?}: {statuses:?}");
        all_is_well(&hub);
        // Some stay good, and some fail deeper than in the envelope; otherwise nothing was tried.
        for status in [200, 400, 413] {
            assert!(statuses.contains_key(&status), "no {status}");
        }
    }
}

/// Heads as programs, browsers and attackers send them, with any of the requests: never a 5xx, always JSON, and what comes
/// from another site or under an invented name leaves nothing behind.
#[test]
fn an_odd_head_is_refused_with_a_reason_on_sqlite() {
    PROFILES.into_iter().for_each(|profile| try_odd_heads(On::Sqlite, profile));
}

#[test]
fn an_odd_head_is_refused_with_a_reason_on_postgresql() {
    PROFILES.into_iter().for_each(|profile| try_odd_heads(On::Postgres, profile));
}

fn try_odd_heads(on: On, profile: HubProfile) {
    const HOSTS: [&str; 7] = ["hub.test", "127.0.0.1", "localhost:1", "evil.test", "", "[::1", "\u{7f}"];
    const ORIGINS: [&str; 5] = ["http://hub.test", "http://evil.test", "null", "", "http://hub.test:99999"];
    const SITES: [&str; 4] = ["same-origin", "cross-site", "none", "?"];
    const KINDS: [&str; 6] = [
        "application/json",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
        "\u{e9}",
    ];
    let (hub, mut rng) = (start(on, profile), seeded_rng());
    let samples = samples(&hub);
    for n in 0..rounds(80, 5_000) {
        let sample = &samples[rng.usize(0..samples.len())];
        let mut headers: Vec<(&str, &str)> = Vec::new();
        let mut add = |name, values: &[&'static str], rng: &mut Rng| {
            for _ in 0..[0, 1, 1, 1, 2][rng.usize(0..5)] {
                headers.push((name, values[rng.usize(0..values.len())]));
            }
        };
        add("host", &HOSTS, &mut rng);
        add("origin", &ORIGINS, &mut rng);
        add("sec-fetch-site", &SITES, &mut rng);
        add("content-type", &KINDS, &mut rng);
        add("x-forwarded-for", &["1.2.3.4", "x", "::1, 127.0.0.1", ""], &mut rng);
        let is_foreign = headers.iter().any(|(name, value)| {
            (*name == "origin" && *value != ORIGINS[0]) || (*name == "host" && *value == "evil.test")
        });
        let before = (is_foreign && n % COMPARED == 0).then(|| dump_without_logins(&hub));
        let mut request = axum::http::Request::builder().method(sample.method).uri(&sample.path);
        for (name, value) in &headers {
            request = request.header(*name, value.as_bytes());
        }
        let Ok(request) = request.body(axum::body::Body::from(sample.fresh(n).to_string())) else { continue };
        let answer = hub.runtime.block_on(crate::common::send(hub.router(), request));
        assert!(answer.status < 500, "{headers:?} {answer}");
        if answer.status >= 400 {
            answer.explains();
        }
        if is_foreign {
            assert!([403, 421].contains(&answer.status), "{headers:?} {answer}");
            assert!(before.is_none_or(|before| before == dump_without_logins(&hub)), "{headers:?} {answer}");
        }
    }
}

/// The database without the count of wrong passwords, which a refusal has to leave behind.
fn dump_without_logins(hub: &TestHub) -> String {
    let dump = hub.dump();
    let (before, after) = dump.split_once("login_failures:").unwrap();
    before.to_owned() + after.split_once("nodes:").unwrap().1
}

/// Every GET of the description, each of its parameters with an odd text: no 5xx, and JSON that explains a refusal.
#[test]
fn an_odd_address_is_no_trouble() {
    for on in [On::Sqlite, On::Postgres] {
        let profile = if on == On::Sqlite { HubProfile::Public } else { HubProfile::Private };
        let (hub, mut rng) = (start(on, profile), seeded_rng());
        hub.fill(4);
        let paths: Vec<_> = hub.description["paths"].as_object().unwrap().iter().collect();
        for _ in 0..rounds(250, 5_000) {
            let (path, methods) = paths[rng.usize(0..paths.len())];
            if let Some(get) = methods.get("get").filter(|_| !PATIENT.contains(&path.as_str())) {
                let answer = hub.get(&odd_address(path, get, &mut rng));
                assert!(answer.status < 500, "{answer}");
                if answer.status >= 400 {
                    answer.explains();
                }
            }
        }
    }
}

fn odd_address(path: &str, get: &Value, rng: &mut Rng) -> String {
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for parameter in get["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap();
        let text = percent(TEXTS[rng.usize(0..TEXTS.len())]);
        if parameter["in"] == "path" {
            path = path.replace(&format!("{{{name}}}"), if text.is_empty() { "x" } else { &text });
        } else if rng.bool() {
            query.push(format!("{name}={text}"));
        }
    }
    format!("{path}?{}", query.join("&"))
}

fn percent(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b':' => char::from(byte).to_string(),
            // Some that a client leaves as they are.
            b'.' | b'*' | b'\'' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}
