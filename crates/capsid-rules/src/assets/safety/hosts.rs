//! Addresses that look like those of known hosts and are not.

use super::marks::WARNING;
use super::{SafetyKind, SafetyMatch};

/// Hosts that code is fetched from, and that somebody would imitate.
const KNOWN: [&str; 22] = [
    "github.com",
    "githubusercontent.com",
    "gitlab.com",
    "bitbucket.org",
    "npmjs.com",
    "npmjs.org",
    "nodejs.org",
    "pypi.org",
    "pythonhosted.org",
    "python.org",
    "crates.io",
    "rust-lang.org",
    "docker.com",
    "docker.io",
    "google.com",
    "googleapis.com",
    "microsoft.com",
    "cloudflare.com",
    "amazonaws.com",
    "openai.com",
    "anthropic.com",
    "jsdelivr.net",
];
/// Names shorter than this differ from each other by a letter anyway.
const LONG_ENOUGH: usize = 8;

/// Tells the first address that imitates a known host.
pub(super) fn lookalikes(text: &str, found: &mut SafetyMatch<'_>) {
    let hosts = text.match_indices("://").filter_map(|(at, mark)| host_of(text.get(at + mark.len()..)?));
    for host in hosts {
        if imitates(&host) {
            let text = format!(
                "The address `{}` looks like that of another host.",
                capsid_model::text::cut(&host, 80)
            );
            found(SafetyKind::LookalikeHost, WARNING, text);
            return;
        }
    }
}

/// The host of what comes after `://`, in lower case.
fn host_of(rest: &str) -> Option<String> {
    let end = |c: char| c.is_whitespace() || "/?#\"'`<>)]},\\".contains(c);
    let authority = rest.split(end).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?;
    (host.contains('.') && !host.starts_with('[')).then(|| host.trim_end_matches('.').to_lowercase())
}

fn imitates(host: &str) -> bool {
    if !host.is_ascii() || host.split('.').any(|label| label.starts_with("xn--")) {
        return KNOWN.iter().any(|known| is_near(&skeleton(site(host)), known)) || mixes_scripts(host);
    }
    let site = site(host);
    if KNOWN.contains(&site) {
        return false;
    }
    // `github.com.example.net` holds the name of the host that it is not.
    let holds = KNOWN.iter().any(|known| format!(".{host}").contains(&format!(".{known}.")));
    holds || KNOWN.iter().any(|known| is_near(&skeleton(site), known))
}

/// The name that somebody registers: the last two parts.
fn site(host: &str) -> &str {
    let dots: Vec<usize> = host.match_indices('.').map(|(at, _)| at).collect();
    match dots.len() {
        0 | 1 => host,
        count => dots.get(count - 2).and_then(|at| host.get(at + 1..)).unwrap_or(host),
    }
}

/// A name with letters that look alike written as one of them.
fn skeleton(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| match c {
            '0' | '\u{43e}' | '\u{3bf}' => 'o',
            '1' | '\u{456}' | '\u{131}' => 'i',
            '3' | '\u{435}' => 'e',
            '5' | '\u{455}' => 's',
            '\u{430}' => 'a',
            '\u{440}' => 'p',
            '\u{441}' => 'c',
            '\u{443}' => 'y',
            '\u{445}' => 'x',
            c => c,
        })
        .collect();
    plain.replace("rn", "m").replace("vv", "w")
}

/// Whether a name is a known one, or one letter away from it.
fn is_near(name: &str, known: &str) -> bool {
    let same_ending = name.rsplit('.').next() == known.rsplit('.').next();
    skeleton(known) == name
        || (known.len() >= LONG_ENOUGH && same_ending && differs_by_one(name, &skeleton(known)))
}

/// Whether one letter was changed, added, left out, or swapped with the next.
fn differs_by_one(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a == b || a.len().abs_diff(b.len()) > 1 {
        return a == b;
    }
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let longer = a.len().max(b.len());
    if start + end + 1 >= longer {
        return true;
    }
    a.len() == b.len() && start + end + 2 == longer && {
        let (x, y) = (a.get(start..start + 2), b.get(start..start + 2));
        matches!((x, y), (Some([p, q]), Some([r, s])) if p == s && q == r)
    }
}

/// Whether a label holds letters of the Latin alphabet and of another one.
fn mixes_scripts(host: &str) -> bool {
    host.split('.').any(|label| {
        label.chars().any(|c| c.is_ascii_alphabetic())
            && label.chars().any(|c| matches!(c, '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{52f}'))
    })
}

#[cfg(test)]
mod tests {
    use super::{host_of, imitates};

    #[test]
    fn hosts_that_imitate_known_ones_are_found() {
        for host in [
            "githib.com",
            "gihtub.com",
            "raw.githubusercontent.com.example.net",
            "npmjss.com",
            "g1thub.com",
            "nodejs0.org",
            "gооgle.com",
            "pypl.org",
            "rnicrosoft.com",
        ] {
            assert!(imitates(host), "{host}");
        }
    }

    #[test]
    fn known_and_other_hosts_are_not() {
        for host in [
            "github.com",
            "api.github.com",
            "registry.npmjs.org",
            "example.com",
            "localhost.localdomain",
            "docs.rs",
            "files.pythonhosted.org",
            "hub.example.org",
            "münchen.de",
            "gitlab.example.com",
            "google.de",
            "jsdelivr.met",
            "crates.io",
        ] {
            assert!(!imitates(host), "{host}");
        }
        assert_eq!(host_of("user:pw@GitHub.com:443/x").as_deref(), Some("github.com"));
        assert_eq!(host_of("localhost:80/").as_deref(), None);
    }
}
